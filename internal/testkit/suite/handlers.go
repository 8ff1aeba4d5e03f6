package suite

import (
	"testing"

	"dmebench/dme"
	"dmebench/dme/claim"
)

const handlersOf = 64

// mill lets all nodes of a system enter by turns, without a network.
type mill struct{ *claim.Rehearsal }

func newMill(t testing.TB, a *dme.Algorithm) mill {
	t.Helper()
	sys, err := a.New(handlersOf, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := mill{claim.Rehearse(dme.Setting{Nodes: handlersOf, System: sys})}
	m.round(t) // lists grow to their length
	return m
}

// round lets each node ask, enter and leave once.
func (m mill) round(t testing.TB) {
	m.Entered = dme.None
	for id := range dme.NodeID(handlersOf) {
		m.Do(id+1, dme.Node.Request)
	}
	for served := range handlersOf {
		m.Settle()
		id := m.Entered
		if m.Entered = dme.None; id == dme.None {
			t.Fatalf("%d of %d nodes are served, and nothing moves", served, handlersOf)
		}
		m.Do(id, dme.Node.Release)
	}
}

func allocatesNothing(t *testing.T, a *dme.Algorithm) {
	m := newMill(t, a)
	m.round(t)
	if got := testing.AllocsPerRun(10, func() { m.round(t) }); got != 0 {
		t.Errorf("%v allocations for %d entries", got, handlersOf)
	}
}

// Benchmark measures the handlers of an algorithm, with nothing but a queue between them,
// per message received.
func Benchmark(b *testing.B, a *dme.Algorithm) {
	m := newMill(b, a)
	m.Received = 0
	for b.Loop() {
		m.round(b)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(m.Received), "ns/message")
}
