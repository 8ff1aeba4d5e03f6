package ricartagrawala

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// A REPLY lists two numbers for each other node, and no more than a message holds.
func TestMostNodesOfABroadcastReply(t *testing.T) {
	const most = dme.MaxVec/2 + 1
	for form, limited := range map[string]bool{"listed": true, "sequenced": false} {
		opt, err := Broadcast().Resolve(map[string]string{"form": form})
		if err != nil {
			t.Fatal(err)
		}
		if err := Broadcast().CheckNodes(most, opt); err != nil {
			t.Error(err)
		}
		err = Broadcast().CheckNodes(most+1, opt)
		if (err != nil) != limited || limited && !strings.Contains(err.Error(), fmt.Sprintf("room for %d; want at most %d", most-1, most)) {
			t.Errorf("%s, %d nodes: %v", form, most+1, err)
		}
	}
}

// The example of footnote 2: node 1 leaves and broadcasts the REPLY that it owes
// node 3. Node 2, whose REQUEST has not arrived there, must not think that it
// applies to it: what node 1 does next does not depend on node 2's REQUEST.
func TestReplyIsForTheListed(t *testing.T) {
	net := conformance.Make(t, Broadcast(), 3, map[string]string{"form": "listed"})
	net.Request(1)
	net.Deliver(1, 2, 0)
	net.Deliver(1, 3, 0)
	net.Deliver(2, 1, 0)
	net.Deliver(3, 1, 0)
	net.WantInside(t, 1)
	net.Request(3)
	net.Deliver(3, 1, 0) // deferred
	net.Request(2)       // with number 2, like node 3
	net.Deliver(2, 3, 0) // node 3 replies: node 2 wins the tie
	net.Deliver(3, 2, 1)
	net.Release(1)
	reply := net.InFlight(1, 2)
	if len(reply) != 1 || !slices.Equal(reply[0].Vec, []uint64{3, 2}) {
		t.Fatalf("node 1 broadcasts %+v, want a REPLY to request 2 of node 3", reply)
	}
	net.Deliver(1, 2, 0)
	if len(net.Inside()) != 0 {
		t.Fatalf("node 2 takes it for its own\n%s", net.States())
	}
	net.Request(1)
	net.Settle()
	if !slices.Equal(net.Inside(), []dme.NodeID{2}) || net.Err() != nil || net.Refused() != 0 {
		t.Errorf("%v are in the critical section, want node 2; %v\n%s", net.Inside(), net.Err(), net.States())
	}
}

// Section 6.2.1, as a schedule: requests are served in the order in which they
// were transmitted, whoever hears of them first.
func TestMediumDecides(t *testing.T) {
	net := conformance.Make(t, Broadcast(), 3, map[string]string{"form": "sequenced"})
	net.Request(3)
	net.Request(1)
	net.Deliver(3, 1, 0)
	net.Deliver(1, 1, 0) // node 1 hears its own, behind node 3's
	if len(net.Inside()) != 0 {
		t.Fatalf("node 1 enters behind node 3's back\n%s", net.States())
	}
	net.Deliver(3, 3, 0)
	net.WantInside(t, 3)
	net.Release(3)
	net.Request(3) // its old entry is gone
	net.Settle()
	net.WantInside(t, 1)
	net.Release(1)
	net.Settle()
	net.Release(3)
	net.Settle()
	var order []uint64
	for _, e := range net.Entries {
		order = append(order, e.Stamp.Clock)
	}
	if !slices.Equal(order, []uint64{1, 2, 3}) || net.Err() != nil || net.Transmissions() != 6 {
		t.Errorf("entries %+v in %d transmissions; %v", net.Entries, net.Transmissions(), net.Err())
	}
}
