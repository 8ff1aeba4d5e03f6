package quorum

import (
	"math/rand/v2"
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

func TestQueue(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var q Queue
		var twin []dme.Stamp
		for range rng.IntN(12) {
			r := dme.Stamp{Clock: 1 + rng.Uint64N(4), Node: dme.NodeID(1 + rng.IntN(50))}
			if q.Index(r.Node) >= 0 {
				continue // a node has one request
			}
			q.Add(r)
			twin = append(twin, r)
		}
		slices.SortFunc(twin, func(a, b dme.Stamp) int {
			if a.Precedes(b) {
				return -1
			}
			return 1
		})
		for i, r := range twin {
			if got := q.Index(r.Node); got != 0 {
				t.Fatalf("the request of node %d is at %d of %v, after %d were taken", r.Node, got, q, i)
			}
			if got := q.Pop(); got != r {
				t.Fatalf("%v comes before %v", got, r)
			}
		}
		if r := q.Pop(); !r.IsZero() {
			t.Fatalf("%v is left", r)
		}
	}
}
