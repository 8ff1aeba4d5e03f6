package agrawalelabbadi

import (
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// Of testdata/yield.txt, before node 7 has received the Inquire: it waits for node
// 3, the root for it, and node 2 for the root and for node 5.
func TestWaits(t *testing.T) {
	for _, a := range []*dme.Algorithm{Algorithm(), AsPublished()} {
		net := conformance.Make(t, a, 7, nil)
		net.Request(7)
		net.Request(2)
		net.Deliver(7, 1, 0)
		net.Deliver(1, 7, 0) // Reply
		want := map[dme.NodeID][]dme.Wait{
			2: {{For: 1, What: "Reply"}, {For: 5, What: "Reply"}},
			3: nil,
			7: {{For: 3, What: "Reply"}},
		}
		if !a.AsPublished {
			net.Deliver(2, 1, 0) // by the text, node 2 is granted at once
			want[1] = []dme.Wait{{For: 7, What: "Yield or Relinquish"}}
		}
		for id, want := range want {
			if got := net.Host(id).Node().(dme.Waiter).Waits(); !slices.Equal(got, want) {
				t.Errorf("%s: node %d waits for %v, want %v", a.Name, id, got, want)
			}
		}
	}
}

// A request for which no quorum is left waits for those that are down; a node that
// is back, for word of all the others.
func TestWaitingForAFailedNode(t *testing.T) {
	net := crashed(t, "self", 1, 2, 4, 8)
	net.Request(9) // asks 1, 2, 4 and 9
	var down []dme.NodeID
	for _, w := range net.Host(9).Node().(*node).Waits() {
		down = append(down, w.For)
	}
	if want := []dme.NodeID{1, 2, 4}; !slices.Equal(down, want) {
		t.Errorf("node 9 waits for %v, want %v", down, want)
	}
	net.Restart(8)
	net.Settle()
	if in := net.Inside(); !slices.Equal(in, []dme.NodeID{9}) {
		t.Errorf("%v are in, and there is a quorum", in)
	}
}
