package vnet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/suzukikasami"
	"dmebench/dme"
)

// counter counts its entries, for which it needs nobody, and shows the number as a
// logical clock.
type counter struct{ entries uint64 }

func (c *counter) Request(out *dme.Outbox) {
	c.entries++
	out.Enter(dme.Stamp{})
}

func (c *counter) Release(*dme.Outbox) {}

func (c *counter) Receive(_ dme.NodeID, _ dme.Message, out *dme.Outbox) { out.Refuse("no message") }

func (c *counter) State(v *dme.Visitor) { v.Clock("entries", &c.entries) }

// counters returns a space of three counters without end, and the state of one after
// so many entries of each, and one more entry of node last that has not left.
func counters(t *testing.T) (*Space, func(entries [3]int, last dme.NodeID) []uint32) {
	t.Helper()
	m, err := NewModel(Config{
		Algorithm: &dme.Algorithm{
			Name: "counter", Title: "counter", Citation: "none", Class: dme.Permission, Kinds: []string{"NONE"},
			Needs: dme.Always(dme.Needs{}), Clocks: dme.ClockInMessages,
			Prepare: dme.Unshared(func(int, dme.NodeID) dme.Node { return new(counter) }),
		},
		Nodes: 3, Watch: WatchNothing, Recover: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	s := NewSpace(m)
	return s, func(entries [3]int, last dme.NodeID) []uint32 {
		n := New(m)
		for i, times := range entries {
			for range times {
				do(t, n, Step{Kind: dme.Request, Node: dme.NodeID(i + 1)}, Step{Kind: dme.Exit, Node: dme.NodeID(i + 1)})
			}
		}
		if last != dme.None {
			do(t, n, Step{Kind: dme.Request, Node: last})
		}
		v, _ := s.Of(n)
		return slices.Clone(v)
	}
}

// Two states are of one class where each clock is as far from each other, 2 and more
// being as good as 2. A step leads from a class to exactly the classes to which it leads
// from any of its states, whichever class was looked at before.
func TestClassesAreOfStatesWithTheSameDifferences(t *testing.T) {
	space, state := counters(t)
	classes, walker := space.NewClasses(), space.NewWalker()
	near := func(e [3]int, last dme.NodeID) string {
		if last != dme.None {
			e[last-1]++
		}
		clamp := func(x int) int { return max(-2, min(x, 2)) }
		return fmt.Sprint(last, clamp(e[0]-e[1]), clamp(e[1]-e[2]), clamp(e[0]-e[2]))
	}
	type move struct {
		from string
		node dme.NodeID
	}
	reps := map[string][]uint32{}       // of the classes, by differences
	leads := map[move]map[string]bool{} // to which classes
	var order []string
	const most = 6 // so that the three may be two wide differences apart, and a step wider
	for k := range (most + 1) * (most + 1) * (most + 1) {
		e := [3]int{k % (most + 1), k / (most + 1) % (most + 1), k / (most + 1) / (most + 1)}
		for last := dme.None; last <= 3; last++ {
			key, rep := near(e, last), slices.Clone(classes.Of(state(e, last)))
			if before, known := reps[key]; !known {
				reps[key] = rep
			} else if !slices.Equal(before, rep) {
				t.Fatalf("%v, then node %d: another class than states with the same differences", e, last)
			}
			from := move{near(e, dme.None), last}
			if leads[from] == nil {
				leads[from] = map[string]bool{}
				if last == dme.None {
					order = append(order, from.from)
				}
			}
			leads[from][key] = true
		}
	}
	for a, x := range reps {
		for b, y := range reps {
			if a != b && slices.Equal(x, y) {
				t.Fatalf("%s and %s are one class", a, b)
			}
		}
	}
	several := 0
	for _, from := range order {
		for node := dme.NodeID(1); node <= 3; node++ {
			rep := reps[from]
			var got [][]uint32
			classes.Step(walker, rep, Step{Kind: dme.Request, Node: node}, func(v []uint32) { got = append(got, slices.Clone(v)) })
			want := leads[move{from, node}]
			for key := range want {
				if !slices.ContainsFunc(got, func(v []uint32) bool { return slices.Equal(v, reps[key]) }) {
					t.Errorf("node %d asks in %s: %s is missing", node, from, key)
				}
			}
			if len(got) != len(want) {
				t.Errorf("node %d asks in %s: leads to %d classes, want %d", node, from, len(got), len(want))
			}
			if len(want) > 1 {
				several++
			}
		}
	}
	if several == 0 {
		t.Error("no step leads to several classes")
	}
}

// Saving alike leaves nodes and messages alone, also those whose clocks are a vector, and
// what is saved alike is of one class.
func TestSavingAlikeChangesNothing(t *testing.T) {
	for _, a := range []*dme.Algorithm{suzukikasami.Algorithm(), ricartagrawala.Algorithm()} {
		opt, err := a.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewModel(Config{Algorithm: a, Nodes: 3, Options: opt, Unordered: true})
		if err != nil {
			t.Fatal(err)
		}
		space := NewSpace(m)
		classes := space.NewClasses()
		of := make(map[string]string)
		again, clocks := 0, 0
		for seed := range uint64(5) {
			n := New(m)
			rng := rand.New(rand.NewPCG(seed, 7))
			for range 200 {
				steps := n.Enabled(nil)
				n.Take(steps[rng.IntN(len(steps))])
				before := n.Save(nil)
				alike := string(n.SaveAlike(nil))
				if !bytes.Equal(n.Save(nil), before) {
					t.Fatalf("%s: saving has changed the network", a.Name)
				}
				if alike != string(before) {
					clocks++
				}
				v, _ := space.Of(n)
				class := fmt.Sprint(classes.Of(v))
				was, ok := of[alike]
				if ok && was != class {
					t.Fatalf("%s: states of two classes are saved alike", a.Name)
				} else if ok {
					again++
				}
				of[alike] = class
			}
		}
		if again < 20 || clocks < 100 {
			t.Errorf("%s: %d states came again, and %d are not as low as can be: that shows little", a.Name, again, clocks)
		}
	}
}

// Where nodes are down and somebody waits, the system stands still unless one of them may
// come back, or the algorithm says that it does not survive that.
func TestWhoMustGoOnWithoutOthers(t *testing.T) {
	for _, x := range []struct {
		restarts bool
		survives func(dme.Setting, []dme.NodeID) bool
		stuck    bool
	}{
		{false, nil, true}, {true, nil, false}, {false, dme.SurvivesAny, true}, {true, dme.SurvivesAny, true},
		{false, func(dme.Setting, []dme.NodeID) bool { return false }, false},
		{false, func(_ dme.Setting, down []dme.NodeID) bool { return len(down) == 1 && down[0] == 2 }, true},
		{false, func(s dme.Setting, _ []dme.NodeID) bool { return s.Nodes != 3 }, false},
	} {
		a := diaries()
		a.Survives = x.survives
		m, err := NewModel(Config{Algorithm: a, Nodes: 3, Crashes: 2, Restarts: x.restarts, Lose: 9})
		if err != nil {
			t.Fatal(err)
		}
		n := New(m)
		n.Do(Step{Kind: dme.Request, Node: 1})
		for first, ok := n.Oldest(); ok; first, ok = n.Oldest() {
			n.Do(Step{Kind: dme.Lose, From: first.From, Node: first.Node})
		}
		n.Do(Step{Kind: dme.Timeout, Node: 1, Timer: 1})
		if !n.Stuck() {
			t.Errorf("all are up, all messages are lost, and nothing stands still")
		}
		n.Do(Step{Kind: dme.Crash, Node: 2})
		for first, ok := n.Oldest(); ok; first, ok = n.Oldest() {
			if n.Stuck() {
				t.Error("it stands still before the news has arrived")
			}
			n.Do(first)
		}
		if n.Stuck() != x.stuck {
			t.Errorf("restarts %v, survives %v: it stands still: %v", x.restarts, x.survives != nil, n.Stuck())
		}
	}
}
