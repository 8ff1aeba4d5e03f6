package vnet

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dmebench/dme"
)

// A mishap is one that links allow: a loss as long as messages may be lost, a copy of
// what has not been copied, of the two any; and of nothing but an arrival.
func TestMishaps(t *testing.T) {
	for _, x := range []struct {
		duplicate bool
		lose      int
		mishap    float64
		want      []StepKind
	}{
		{false, 0, 1, []StepKind{Deliver}}, {false, 1, 1, []StepKind{Lose}}, {false, 2, 1, []StepKind{Lose}}, {true, 0, 1, []StepKind{Copy}},
		{true, 1, 1, []StepKind{Copy, Lose}}, {true, 1, 0, []StepKind{Deliver}}, {true, 1, 0.5, []StepKind{Deliver, Copy, Lose}},
	} {
		n := newDiaries(t, Config{Nodes: 2, Duplicate: x.duplicate, Lose: x.lose})
		s := &Schedule{Network: n, Rand: rand.New(rand.NewPCG(5, 6)), Mishap: x.mishap}
		do(t, n, Step{Kind: Ask, Node: 1})
		arrival := Step{Kind: Deliver, From: 1, Node: 2}
		drawn := func(x Step) (kinds []StepKind) {
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
		if got := drawn(Step{Kind: Leave, Node: 1}); !slices.Equal(got, []StepKind{Leave}) {
			t.Errorf("%+v: an exit becomes %v", x, got)
		}
		if x.duplicate {
			n.Do(Step{Kind: Copy, From: 1, Node: 2})
			if got := drawn(arrival); !slices.Equal(got, []StepKind{Deliver}) {
				t.Errorf("%+v: what has arrived once becomes %v", x, got)
			}
		}
	}
}

// Nodes that distinguish readers ask as such as often as the schedule says.
func TestReadersOfASchedule(t *testing.T) {
	for _, shares := range []bool{false, true} {
		for readers, want := range map[float64]StepKind{0: Ask, 1: AskShared} {
			m := openDoors(t, 2, dme.None, Config{})
			m.Shares = shares
			s := &Schedule{Network: New(m), Rand: rand.New(rand.NewPCG(7, 8)), Readers: readers}
			if !shares {
				want = Ask
			}
			for id := range m.IDs() {
				if got := s.ask(id); got != (Step{Kind: want, Node: id}) {
					t.Errorf("readers are told apart: %v, and %v of all: %v", shares, readers, got)
				}
			}
		}
	}
	m := openDoors(t, 2, dme.None, Config{})
	s := &Schedule{Network: New(m), Rand: rand.New(rand.NewPCG(7, 8)), Readers: 0.5}
	kinds := map[StepKind]int{}
	for range 100 {
		kinds[s.ask(1).Kind]++
	}
	if kinds[Ask] < 25 || kinds[AskShared] < 25 {
		t.Errorf("of requests of which half are readers' there are %v", kinds)
	}
}

// A step of which nothing is told keeps nothing of what nodes do.
func TestWhatIsNotToldIsNotKept(t *testing.T) {
	for _, c := range media {
		m := c.withCouriers(t)
		n, rng := New(m), rand.New(rand.NewPCG(3, 4))
		for range 200 {
			steps := n.Enabled(nil)
			if len(steps) == 0 {
				break
			}
			x := steps[rng.IntN(len(steps))]
			n.Take(x)
			if kept := len(n.event.Effects); kept > len(n.Started) {
				t.Fatalf("%v: %d effects are kept after %v", c, kept, x)
			}
		}
	}
}

// speaker broadcasts a vector at its start, and spoils what it receives.
type speaker struct{ id int }

func (s *speaker) Start(out *dme.Outbox) {
	out.Broadcast(dme.Message{Kind: 1, Vec: []uint64{uint64(s.id)}})
}

func (s *speaker) Request(*dme.Outbox) {}
func (s *speaker) Release(*dme.Outbox) {}
func (s *speaker) Receive(_ dme.NodeID, m dme.Message, _ *dme.Outbox) {
	m.Vec[0] = 99
}

func (s *speaker) Join(*dme.Outbox)      {}
func (s *speaker) Leave(out *dme.Outbox) { out.Left() }
func (s *speaker) State(v *dme.Visitor)  {}
func speakers(n Config) (*Network, error) {
	n.Algorithm = &dme.Algorithm{
		Name: "speaker", Title: "speaker", Citation: "none", Class: dme.Permission, Kinds: []string{"WORD"},
		Needs:   dme.Always(dme.Needs{}),
		Prepare: dme.Unshared(func(_ int, id dme.NodeID) dme.Node { return &speaker{int(id)} }),
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
	n.Do(Step{Kind: Deliver, From: 1, Node: 2})
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

// Of two timers that were set one after the other the first fires first, unless
// it was set to more.
func TestTimersKeepTheirOrder(t *testing.T) {
	m := &Model{Config: Config{Bounded: true}}
	for _, c := range []struct {
		delays []time.Duration
		first  []bool
	}{
		{[]time.Duration{1, 2}, []bool{true, false}},
		{[]time.Duration{2, 2}, []bool{true, false}},
		{[]time.Duration{2, 1}, []bool{true, true}},
		{[]time.Duration{3, 1, 2}, []bool{true, true, false}},
	} {
		var timers []Timer
		for i, d := range c.delays {
			timers = append(timers, Timer{Node: 1, ID: dme.TimerID(i), Delay: d})
		}
		for i, want := range c.first {
			if got := m.first(timers, i); got != want {
				t.Errorf("%v: timer %d may be first: %v", c.delays, i, got)
			}
		}
		m := &Model{}
		for i := range timers {
			if !m.first(timers, i) {
				t.Errorf("without bounded delay timer %d must wait", i)
			}
		}
	}
}

// An algorithm that asks for a bound is told the one by which its timers are
// judged.
func TestBound(t *testing.T) {
	model := func(opt dme.Options, bounded bool) (m *Model, told time.Duration) {
		a := &dme.Algorithm{Kinds: []string{"A"}, Prepare: func(c dme.Config) (dme.System, error) {
			told = c.Bound
			return noSystem{}, nil
		}}
		m, err := NewModel(Config{Algorithm: a, Nodes: 2, Options: opt, Bounded: bounded})
		if err != nil {
			t.Fatal(err)
		}
		return m, told
	}
	for value, want := range map[string]time.Duration{"": unknownBound, "30ms": 30 * time.Millisecond} {
		if m, told := model(dme.Options{"bound": value}, true); told != want || m.reach(5*want/2) != 2 {
			t.Errorf("bound=%q: told %v, want %v", value, told, want)
		}
	}
	if m, told := model(nil, true); told != 0 || m.reach(time.Hour) != 1 {
		t.Errorf("without the option: told %v", told)
	}
	if m, _ := model(nil, false); m.reach(time.Hour) != 0 {
		t.Error("a timer waits for messages though no bound is relied on")
	}
}

// noSystem is a system without nodes.
type noSystem struct{}

func (noSystem) Node(dme.NodeID) dme.Node { return nil }
