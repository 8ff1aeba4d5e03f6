package vnet

import (
	"fmt"
	"slices"
	"testing"

	"dmebench/dme"
)

// door is a node that lets its process in at once. One that is closed waits for a
// key, which node 3 sends whenever it leaves.
type door struct {
	id, closed dme.NodeID
	waits      bool
}

func (d *door) Request(out *dme.Outbox) {
	if d.id != d.closed {
		out.Enter(dme.Stamp{})
		return
	}
	d.waits = true
}

func (d *door) RequestShared(out *dme.Outbox) { d.Request(out) }

func (d *door) Release(out *dme.Outbox) {
	if d.id == 3 && d.closed != dme.None {
		out.Send(d.closed, dme.Message{Kind: 1})
	}
}

func (d *door) Receive(_ dme.NodeID, _ dme.Message, out *dme.Outbox) {
	if d.waits {
		d.waits = false
		out.Enter(dme.Stamp{})
	}
}

func (d *door) State(v *dme.Visitor) { v.Bool("waits", &d.waits) }

type doors struct{ closed dme.NodeID }

func (s doors) Node(id dme.NodeID) dme.Node { return &door{id: id, closed: s.closed} }

// openDoors is a system of nodes that enter as they like, but for one.
func openDoors(t *testing.T, nodes int, closed dme.NodeID, c Config) *Model {
	t.Helper()
	c.Nodes, c.Algorithm = nodes, &dme.Algorithm{
		Name: "doors", Kinds: []string{"KEY"}, Prepare: func(dme.Config) (dme.System, error) { return doors{closed}, nil },
	}
	m, err := NewModel(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// inBothForms takes steps in a network of nodes and between vectors, and returns
// what the last of them breaks; before it nothing may be broken.
func inBothForms(t *testing.T, m *Model, steps ...Step) (inNetwork, inSpace *Violation) {
	t.Helper()
	n, space := New(m), NewSpace(m)
	walker := space.NewWalker()
	v, h := space.Of(n)
	for _, x := range steps {
		if inNetwork != nil || inSpace != nil {
			t.Fatalf("broken before %v: %v, %v", x, inNetwork, inSpace)
		}
		inSpace = walker.Do(v, h, x)
		copy(v, walker.Next)
		h = walker.Hash
		n.Take(x)
		inNetwork = n.Violation
	}
	return inNetwork, inSpace
}

// Readers may be inside together; a writer is alone, whoever came first, and
// however many readers there are.
func TestWhoMayBeInsideTogether(t *testing.T) {
	m := openDoors(t, 3, dme.None, Config{})
	ask := func(id dme.NodeID, reads bool) Step {
		if reads {
			return Step{Kind: dme.RequestShared, Node: id}
		}
		return Step{Kind: dme.Request, Node: id}
	}
	as := map[bool]string{true: " (reading)"}
	for _, firstReads := range []bool{false, true} {
		for _, secondReads := range []bool{false, true} {
			for _, order := range [][2]dme.NodeID{{1, 2}, {2, 1}, {1, 3}} {
				first, second := order[0], order[1]
				inNetwork, inSpace := inBothForms(t, m, ask(first, firstReads), ask(second, secondReads))
				want := ""
				if !firstReads || !secondReads {
					readers := map[dme.NodeID]bool{first: firstReads, second: secondReads}
					low, high := min(first, second), max(first, second)
					want = fmt.Sprintf("two nodes are in the critical section: %d%s and %d%s", low, as[readers[low]], high, as[readers[high]])
				}
				for form, v := range map[string]*Violation{"network": inNetwork, "space": inSpace} {
					switch {
					case want == "" && v != nil:
						t.Errorf("%s: two readers: %v", form, v)
					case want != "" && (v == nil || v.Property != Exclusion || v.Verdict != want ||
						!slices.Equal(v.Nodes, []dme.NodeID{min(first, second), max(first, second)})):
						t.Errorf("%s: %+v, want %q", form, v, want)
					}
				}
			}
		}
	}
	// The writer comes last, and is judged by both readers that are inside.
	inNetwork, inSpace := inBothForms(t, m, ask(1, true), ask(3, true), ask(2, false))
	for form, v := range map[string]*Violation{"network": inNetwork, "space": inSpace} {
		if v == nil || v.Property != Exclusion || !slices.Contains(v.Nodes, 2) {
			t.Errorf("%s: two readers and a writer: %+v", form, v)
		}
	}
	// What a node did when it was inside last does not count.
	inNetwork, inSpace = inBothForms(t, m, ask(1, true), Step{Kind: dme.Exit, Node: 1}, ask(1, false), Step{Kind: dme.Exit, Node: 1},
		ask(2, false), Step{Kind: dme.Exit, Node: 2}, ask(2, true), ask(1, true))
	if inNetwork != nil || inSpace != nil {
		t.Errorf("a writer who has left: %v, %v", inNetwork, inSpace)
	}
}

// A bound on overtaking allows as many entries of others as it says, of one or of
// several, and not one more. An entry of one's own begins the count anew.
func TestBypassIsCountedExactly(t *testing.T) {
	in := func(id dme.NodeID) []Step { return []Step{{Kind: dme.Request, Node: id}, {Kind: dme.Exit, Node: id}} }
	for bound := 1; bound <= 4; bound++ {
		m := openDoors(t, 3, 1, Config{Bypass: bound})
		steps := append(in(2), Step{Kind: dme.Request, Node: 1}) // an entry before the request is none that overtakes it
		for k := range bound {
			steps = append(steps, in(dme.NodeID(2+k%2))...)
		}
		if inNetwork, inSpace := inBothForms(t, m, steps...); inNetwork != nil || inSpace != nil {
			t.Errorf("bound %d, as many entries: %v, %v", bound, inNetwork, inSpace)
		}
		inNetwork, inSpace := inBothForms(t, m, append(steps, Step{Kind: dme.Request, Node: 3})...)
		want := fmt.Sprintf("node 1 is overtaken: %d entries of others since it asked, more than %d", bound+1, bound)
		for form, v := range map[string]*Violation{"network": inNetwork, "space": inSpace} {
			if v == nil || v.Property != Overtaking || v.Verdict != want || !slices.Equal(v.Nodes, []dme.NodeID{1}) {
				t.Errorf("%s: bound %d, one entry more: %+v, want %q", form, bound, v, want)
			}
		}
		var again []Step // let in and overtaken once more, as often as before
		for range 2 {
			again = append(again, Step{Kind: dme.Request, Node: 1})
			for range bound - 1 {
				again = append(again, in(2)...)
			}
			again = append(append(again, in(3)...), Step{Kind: dme.Receive, From: 3, Node: 1}, Step{Kind: dme.Exit, Node: 1})
		}
		if inNetwork, inSpace := inBothForms(t, m, again...); inNetwork != nil || inSpace != nil {
			t.Errorf("bound %d, twice as many entries in two waits: %v, %v", bound, inNetwork, inSpace)
		}
		open := openDoors(t, 2, dme.None, Config{Bypass: bound})
		var turns []Step
		for range bound + 2 {
			turns = append(append(turns, in(1)...), in(2)...)
		}
		if inNetwork, inSpace := inBothForms(t, open, turns...); inNetwork != nil || inSpace != nil {
			t.Errorf("bound %d, nobody waits: %v, %v", bound, inNetwork, inSpace)
		}
	}
}

// pusher tells node 2 as it is asked, and enters as it is told.
type pusher struct{}

func (pusher) Request(out *dme.Outbox)                            { out.Send(2, dme.Message{Kind: 1}) }
func (pusher) Release(*dme.Outbox)                                {}
func (pusher) Receive(_ dme.NodeID, _ dme.Message, o *dme.Outbox) { o.Enter(dme.Stamp{}) }
func (pusher) State(*dme.Visitor)                                 {}

// Who has not asked must not enter, though nobody else is inside.
func TestNobodyEntersUnasked(t *testing.T) {
	m, err := NewModel(Config{Nodes: 2, Algorithm: &dme.Algorithm{
		Name: "pusher", Kinds: []string{"PUSH"},
		Prepare: dme.Unshared(func(int, dme.NodeID) dme.Node { return pusher{} }),
	}})
	if err != nil {
		t.Fatal(err)
	}
	inNetwork, inSpace := inBothForms(t, m, Step{Kind: dme.Request, Node: 1}, Step{Kind: dme.Receive, From: 1, Node: 2})
	for form, v := range map[string]*Violation{"network": inNetwork, "space": inSpace} {
		if v == nil || v.Property != Asked || !slices.Equal(v.Nodes, []dme.NodeID{2}) {
			t.Errorf("%s: %+v", form, v)
		}
	}
}
