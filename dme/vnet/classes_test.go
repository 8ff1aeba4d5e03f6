package vnet

import (
	"fmt"
	"slices"
	"testing"

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
				do(t, n, Step{Kind: Ask, Node: dme.NodeID(i + 1)}, Step{Kind: Leave, Node: dme.NodeID(i + 1)})
			}
		}
		if last != dme.None {
			do(t, n, Step{Kind: Ask, Node: last})
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
			classes.Step(walker, rep, Step{Kind: Ask, Node: node}, func(v []uint32) { got = append(got, slices.Clone(v)) })
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
