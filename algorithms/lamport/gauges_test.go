package lamport

import (
	"testing"

	"dmebench/dme"
)

// While site 1 executes, the queues of the others are counted that have no request or
// another one at the top, and in silence only what is seen with no message on its way.
func TestQueuesWithAnotherRequestAtTheTop(t *testing.T) {
	for _, g := range gauges() {
		if g.Quantity != NotAtTop && g.Quantity != NotAtTopInSilence {
			continue
		}
		m := g.Begin(dme.Setting{Nodes: 3})
		note := func(id dme.NodeID, executing bool, onTheWay int, top ...dme.Stamp) {
			m.Note(dme.Moment{ID: id, OnTheWay: onTheWay, Node: &site{executing: executing, requestQueue: top}})
		}
		first, second := dme.Stamp{Clock: 1, Node: 1}, dme.Stamp{Clock: 1, Node: 2}
		note(2, false, 1, second, first)
		if x, ok := m.Value(); ok {
			t.Errorf("%s: %v, and nobody executes", g.Quantity, x)
		}
		note(1, true, 1, first)          // site 2 has its own at the top, site 3 nothing
		note(2, false, 1, first, second) // site 3 alone
		note(3, false, 0, second)
		want := 2.0
		if g.Quantity == NotAtTopInSilence {
			want = 1
		}
		if x, ok := m.Value(); x != want || !ok {
			t.Errorf("%s: %v, %v; want %v", g.Quantity, x, ok, want)
		}
		if g.Begin(dme.Setting{Nodes: mostFollowed + 1}) != nil || g.Begin(dme.Setting{Nodes: mostFollowed}) == nil {
			t.Errorf("%s is followed on other numbers of sites than up to %d", g.Quantity, mostFollowed)
		}
	}
}
