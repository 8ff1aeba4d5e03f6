package vnet

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dmebench/dme"
)

// greeter broadcasts a vector at its start, and spoils what it receives.
type greeter struct{ id int }

func (s *greeter) Start(out *dme.Outbox) {
	out.Broadcast(dme.Message{Kind: 1, Vec: []uint64{uint64(s.id)}})
}

func (s *greeter) Request(*dme.Outbox) {}
func (s *greeter) Release(*dme.Outbox) {}
func (s *greeter) Receive(_ dme.NodeID, m dme.Message, _ *dme.Outbox) {
	m.Vec[0] = 99
}

func (s *greeter) Join(*dme.Outbox)       {}
func (s *greeter) Depart(out *dme.Outbox) { out.Left() }
func (s *greeter) State(v *dme.Visitor)   {}
func speakers(n Config) (*Network, error) {
	n.Algorithm = &dme.Algorithm{
		Name: "speaker", Title: "speaker", Citation: "none", Class: dme.Permission, Kinds: []string{"WORD"},
		Needs:   dme.Always(dme.Needs{}),
		Prepare: dme.Unshared(func(_ int, id dme.NodeID) dme.Node { return &greeter{int(id)} }),
	}
	m, err := NewModel(n)
	if err != nil {
		return nil, err
	}
	return New(m), nil
}

// Everybody receives a vector of his own.
func TestVectorsAreNotShared(t *testing.T) {
	n, err := speakers(Config{Nodes: 3})
	if err != nil {
		t.Fatal(err)
	}
	n.Do(Step{Kind: dme.Receive, From: 1, Node: 2})
	if got := n.OnTheWay(1, 3)[0].Vec; !slices.Equal(got, []uint64{1}) {
		t.Errorf("node 3 will receive %v, which node 2 has changed", got)
	}
}

// Who is absent does not start.
func TestWhoIsAbsentDoesNotStart(t *testing.T) {
	n, err := speakers(Config{Nodes: 3, Absent: []dme.NodeID{2}})
	if err != nil {
		t.Fatal(err)
	}
	var started []dme.NodeID
	for _, e := range n.Started {
		started = append(started, e.Node)
	}
	if !slices.Equal(started, []dme.NodeID{1, 3}) || len(n.OnTheWay(2, 1))+len(n.OnTheWay(2, 3)) > 0 {
		t.Errorf("%v have started, and %d messages are on their way from node 2", started, len(n.OnTheWay(2, 1)))
	}
}

// An algorithm that asks for a bound is told the one by which its timers are
// judged.
func TestBound(t *testing.T) {
	model := func(opt dme.Options, bounded bool) (m *Model, bound time.Duration) {
		a := &dme.Algorithm{Kinds: []string{"A"}, Prepare: func(c dme.Config) (dme.System, error) {
			bound = c.Bound
			return noSystem{}, nil
		}}
		m, err := NewModel(Config{Algorithm: a, Nodes: 2, Options: opt, Bounded: bounded})
		if err != nil {
			t.Fatal(err)
		}
		return m, bound
	}
	for value, want := range map[string]time.Duration{"": unknownBound, "30ms": 30 * time.Millisecond} {
		if m, bound := model(dme.Options{"bound": value}, true); bound != want || m.reach(5*want/2) != 2 {
			t.Errorf("bound=%q: told %v, want %v", value, bound, want)
		}
	}
	if m, bound := model(nil, true); bound != 0 || m.reach(time.Hour) != 1 {
		t.Errorf("without the option: told %v", bound)
	}
	if m, _ := model(nil, false); m.reach(time.Hour) != 0 {
		t.Error("a timer waits for messages though no bound is relied on")
	}
}

// noSystem is a system without nodes.
type noSystem struct{}

func (noSystem) Node(dme.NodeID) dme.Node { return nil }

// A mishap is one that links allow: a loss as long as messages may be lost, a copy of
// what has not been copied, of the two any; and of nothing but an arrival.
func TestMishaps(t *testing.T) {
	for _, x := range []struct {
		duplicate bool
		lose      int
		mishap    float64
		want      []dme.EventKind
	}{
		{false, 0, 1, []dme.EventKind{dme.Receive}},
		{false, 1, 1, []dme.EventKind{dme.Lose}},
		{false, 2, 1, []dme.EventKind{dme.Lose}},
		{true, 0, 1, []dme.EventKind{dme.Copy}},
		{true, 1, 1, []dme.EventKind{dme.Copy, dme.Lose}},
		{true, 1, 0, []dme.EventKind{dme.Receive}},
		{true, 1, 0.5, []dme.EventKind{dme.Receive, dme.Copy, dme.Lose}},
	} {
		n := newDiaries(t, Config{Nodes: 2, Duplicate: x.duplicate, Lose: x.lose})
		s := &Schedule{Network: n, Rand: rand.New(rand.NewPCG(5, 6)), Mishap: x.mishap}
		do(t, n, Step{Kind: dme.Request, Node: 1})
		arrival := Step{Kind: dme.Receive, From: 1, Node: 2}
		drawn := func(x Step) (kinds []dme.EventKind) {
			for range 60 {
				y := s.mishaps(x)
				kinds = append(kinds, y.Kind)
				if y.Kind = x.Kind; y != x {
					t.Errorf("a mishap of %v is one of another step, %v", x, y)
				}
			}
			slices.Sort(kinds)
			return slices.Compact(kinds)
		}
		if got := drawn(arrival); !slices.Equal(got, x.want) {
			t.Errorf("%+v: %v", x, got)
		}
		if got := drawn(Step{Kind: dme.Exit, Node: 1}); !slices.Equal(got, []dme.EventKind{dme.Exit}) {
			t.Errorf("%+v: an exit becomes %v", x, got)
		}
		if x.duplicate {
			n.Do(Step{Kind: dme.Copy, From: 1, Node: 2})
			if got := drawn(arrival); !slices.Equal(got, []dme.EventKind{dme.Receive}) {
				t.Errorf("%+v: what has arrived once becomes %v", x, got)
			}
		}
	}
}
