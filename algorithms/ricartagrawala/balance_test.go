package ricartagrawala

import (
	"testing"

	"dmebench/dme"
)

// A reply and the news of its deferral may come in either order, and then nothing is owed;
// a second one of either is no news. What one request was owed does not count for the next.
func TestBalance(t *testing.T) {
	const j = 2
	for order, first := range map[string]bool{"news first": true, "reply first": false} {
		b := makeBalance(3)
		for round := range 2 {
			step := func(news, want bool) {
				t.Helper()
				if got := map[bool]func(dme.NodeID) bool{true: b.deferred, false: b.replied}[news](j); got != want {
					t.Errorf("%s, round %d: news %v is taken: %v", order, round, news, got)
				}
			}
			step(first, true)
			step(first, false)
			if b.settled() == first {
				t.Errorf("%s, round %d: settled %v after one", order, round, b.settled())
			}
			step(!first, true)
			if !b.settled() {
				t.Errorf("%s, round %d: not settled after both", order, round)
			}
		}
		b.replied(j)
		b.clear()
		if !b.deferred(j) || b.settled() {
			t.Errorf("%s: a reply to the last request settles this one", order)
		}
	}
}

// A newcomer is taken on by a part of the group that stays.
func TestWhoSponsors(t *testing.T) {
	for _, admitted := range []bool{false, true} {
		for _, leaving := range []bool{false, true} {
			n := &robustNode{admitted: admitted, leaving: leaving, newcomers: dme.MakeNodeSet(3)}
			want := admitted && !leaving
			if got := n.sponsors(2); got != want || n.newcomers.Has(2) != want {
				t.Errorf("admitted %v, leaving %v: sponsors %v, has taken it on %v", admitted, leaving, got, n.newcomers.Has(2))
			}
		}
	}
}
