package quorum

import (
	"slices"
	"testing"

	"dmebench/dme"
)

// TestSite: a node finds its members and whom it serves, and nobody else.
func TestSite(t *testing.T) {
	for _, name := range rules() {
		for _, n := range []int{1, 2, 7, 10, 31} {
			s := mustNew(t, name, n)
			for id := dme.NodeID(1); int(id) <= n; id++ {
				site := s.Site(id)
				for other := dme.NodeID(0); int(other) <= n+1; other++ {
					if got, want := site.MemberIndex(other), slices.Index(site.Members, other); got != want {
						t.Errorf("%s of %d: %d is member %d of S_%d = %v, want %d", name, n, other, got, id, site.Members, want)
					}
					if got, want := site.Serves(other), slices.Contains(site.Served, other); got != want {
						t.Errorf("%s of %d: %d serves %d: %v", name, n, id, other, got)
					}
				}
			}
		}
	}
}

// TestLocalMessages: what a node says to itself is handled in order, and so is
// what it says to itself meanwhile.
func TestLocalMessages(t *testing.T) {
	site := mustNew(t, "plane", 7).Site(3)
	for round := range 2 {
		site.TellSelf(&dme.Message{Num: 1})
		site.TellSelf(&dme.Message{Num: 2})
		var got []uint64
		site.HandleLocal(func(from dme.NodeID, m dme.Message, _ *dme.Outbox) {
			if from != 3 {
				t.Errorf("from node %d", from)
			}
			if got = append(got, m.Num); m.Num == 1 {
				site.TellSelf(&dme.Message{Num: 3})
			}
		}, nil)
		if want := []uint64{1, 2, 3}; !slices.Equal(got, want) {
			t.Errorf("round %d: handled %v, want %v", round, got, want)
		}
	}
}
