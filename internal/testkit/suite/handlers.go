package suite

import (
	"testing"

	"dmebench/dme"
)

const handlersOf = 64

// mill lets all nodes of a system enter by turns, without a network: messages arrive in
// the order in which they were sent.
type mill struct {
	nodes    []dme.Node // from 1
	out      dme.Outbox
	onWay    []flight
	inside   dme.NodeID
	served   int
	received int
}

type flight struct {
	from, to dme.NodeID
	m        dme.Message
}

func newMill(t testing.TB, a *dme.Algorithm) *mill {
	t.Helper()
	sys, err := a.New(handlersOf, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &mill{nodes: make([]dme.Node, handlersOf+1)}
	for id := range dme.NodeID(handlersOf) {
		m.nodes[id+1] = sys.Node(id + 1)
	}
	m.round(t) // lists grow to their length
	return m
}

func (m *mill) round(t testing.TB) {
	m.served = 0
	for id := range dme.NodeID(handlersOf) {
		m.nodes[id+1].Request(&m.out)
		m.note(id + 1)
	}
	for m.served < handlersOf {
		for at := 0; at < len(m.onWay); at++ {
			f := m.onWay[at]
			m.nodes[f.to].Receive(f.from, f.m, &m.out)
			m.received++
			m.note(f.to)
		}
		m.onWay = m.onWay[:0]
		id := m.inside
		if m.inside = dme.None; id == dme.None {
			t.Fatalf("%d of %d nodes are served, and nothing moves", m.served, handlersOf)
		}
		m.served++
		m.nodes[id].Release(&m.out)
		m.note(id)
	}
}

func (m *mill) note(id dme.NodeID) {
	for _, e := range m.out.Effects() {
		switch e.Kind {
		case dme.Enter:
			m.inside = id
		case dme.Send:
			m.onWay = append(m.onWay, flight{id, e.To, e.Msg})
		case dme.Broadcast:
			for to := range dme.Others(handlersOf, id) {
				m.onWay = append(m.onWay, flight{id, to, e.Msg})
			}
		}
	}
	m.out.Reset()
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
	m.received = 0
	for b.Loop() {
		m.round(b)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(m.received), "ns/message")
}
