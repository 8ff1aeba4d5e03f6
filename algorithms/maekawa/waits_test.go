package maekawa_test

import (
	"slices"
	"testing"

	"dmebench/algorithms/maekawa"
	"dmebench/dme"
	"dmebench/dme/conformance"
)

func waits(net *conformance.Net, id dme.NodeID) []dme.Wait {
	return net.Algorithm.Waits(net.Host(id).Node())
}

// cycle follows, from a node, the first thing that each node waits for, until a node
// comes up again, and returns the nodes of the cycle; nil where somebody waits for
// nobody.
func cycle(net *conformance.Net, id dme.NodeID) (path []dme.NodeID) {
	for !slices.Contains(path, id) {
		path = append(path, id)
		w := waits(net, id)
		if len(w) == 0 {
			return nil
		}
		id = w[0].For
	}
	return path[slices.Index(path, id):]
}

// The deadlock of testdata/maekawapublished/deadlock.txt: node 2 waits for node 3,
// 3 for 4, and 4 for node 5, which is locked for 2; nobody else waits.
func TestDeadlockIsACycle(t *testing.T) {
	deadlock := func(a *dme.Algorithm) *conformance.Net {
		net := conformance.Make(t, a, 7, nil)
		for _, id := range []dme.NodeID{5, 2, 4, 3} {
			net.Request(id)
		}
		for _, link := range [][2]dme.NodeID{{4, 5}, {2, 5}, {5, 1}, {5, 6}, {1, 5}, {6, 5}} {
			net.Deliver(link[0], link[1], 0)
		}
		net.Release(5)
		net.Settle()
		return net
	}
	net := deadlock(maekawa.AsPublished())
	if in := net.Inside(); len(in) > 0 {
		t.Fatalf("%v are in: this is no deadlock", in)
	}
	if got, want := cycle(net, 2), []dme.NodeID{2, 3, 4, 5}; !slices.Equal(got, want) {
		t.Errorf("the cycle is %v, want %v", got, want)
	}
	for id, want := range map[dme.NodeID][]dme.Wait{
		1: nil,
		2: {{For: 3, What: "LOCKED"}},
		3: {{For: 4, What: "LOCKED, or FAILED to answer an INQUIRE"}},
		4: {{For: 5, What: "LOCKED, or FAILED to answer an INQUIRE"}},
		5: {{For: 2, What: "RELEASE of its lock"}},
		6: nil, 7: nil,
	} {
		if got := waits(net, id); !slices.Equal(got, want) {
			t.Errorf("node %d waits for %v, want %v", id, got, want)
		}
	}

	net = deadlock(maekawa.Algorithm())
	if order := net.Drain(); len(order) != 3 {
		t.Errorf("repaired: of the nodes 2, 3 and 4, %v enter", order)
	}
	for id := dme.NodeID(1); id <= 7; id++ {
		if w := waits(net, id); w != nil {
			t.Errorf("repaired: at the end node %d waits for %v", id, w)
		}
	}
}

// Two sites of the textbook's version, of which each has locked itself.
func TestTextbookDeadlockIsACycle(t *testing.T) {
	net := conformance.Make(t, maekawa.TextbookAsPublished(), 2, nil)
	net.Request(1)
	net.Request(2)
	net.Settle()
	if got, want := cycle(net, 1), []dme.NodeID{1, 2}; !slices.Equal(got, want) || len(net.Inside()) > 0 {
		t.Errorf("the cycle is %v, want %v; %v are in", got, want, net.Inside())
	}
}

// A request that has no other quorum waits for the failed member, and the member,
// once it is back, for word of all the others.
func TestWaitingForAFailedMember(t *testing.T) {
	net := conformance.Make(t, maekawa.Algorithm(), 3, map[string]string{"quorum": "singleton"})
	net.Crash(1)
	net.Request(2)
	net.Settle()
	if got, want := waits(net, 2), []dme.Wait{{For: 1, What: "LOCKED"}}; !slices.Equal(got, want) {
		t.Errorf("node 2 waits for %v, want %v", got, want)
	}
	net.Restart(1)
	const word = "RECLAIM, or word that it holds no lock"
	if got, want := waits(net, 1), []dme.Wait{{For: 2, What: word}, {For: 3, What: word}}; !slices.Equal(got, want) {
		t.Errorf("node 1 waits for %v, want %v", got, want)
	}
}

// The arbiter of all, locked for one of two that have asked, waits for its RELEASE; if the
// other goes before, it has inquired, and the lock may come back.
func TestArbiterWaits(t *testing.T) {
	for _, a := range []*dme.Algorithm{maekawa.Algorithm(), maekawa.AsPublished()} {
		for first, want := range map[dme.NodeID]string{2: "RELEASE of its lock", 3: "RELINQUISH or RELEASE of its lock"} {
			net := conformance.Make(t, a, 3, map[string]string{"quorum": "singleton"})
			net.Request(2)
			net.Request(3)
			net.Deliver(first, 1, 0)
			if w := waits(net, 1); w != nil {
				t.Errorf("%s: node 1 waits for %v, and nobody else has asked", a.Name, w)
			}
			net.Deliver(5-first, 1, 0)
			if got, want := waits(net, 1), []dme.Wait{{For: first, What: want}}; !slices.Equal(got, want) {
				t.Errorf("%s: node 1 waits for %v, want %v", a.Name, got, want)
			}
		}
	}
}
