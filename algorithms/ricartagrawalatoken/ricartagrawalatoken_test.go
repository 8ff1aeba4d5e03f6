package ricartagrawalatoken

import (
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

func TestConformance(t *testing.T) { conformance.Test(t, Algorithm()) }

// No message where the node has the token, else N.
func TestZeroOrNMessages(t *testing.T) {
	conformance.TestZeroOrN(t, Algorithm(), 1, 2, 3, 8, 16)
}

// Step 3: from node 3, the token goes to 4, 5, 1 and 2, however early they
// asked.
func TestTokenGoesRound(t *testing.T) {
	net := conformance.Make(t, Algorithm(), 5, nil)
	if _, err := net.Serve(3); err != nil {
		t.Fatal(err)
	}
	net.Request(3)
	for _, id := range []dme.NodeID{2, 1, 5, 4} {
		net.Request(id)
		net.Settle()
	}
	order := net.Drain()
	if want := []dme.NodeID{3, 4, 5, 1, 2}; !slices.Equal(order, want) || net.Err() != nil {
		t.Errorf("order %v, want %v; %v", order, want, net.Err())
	}
}

// A REQUEST that arrives after it has been served does not attract the token.
func TestOutdatedRequest(t *testing.T) { conformance.TestOutdatedRequest(t, Algorithm()) }

func TestRefusals(t *testing.T) {
	token := func(vec ...uint64) dme.Message { return dme.Message{Kind: kindToken, Vec: vec} }
	for _, c := range []struct {
		name string
		m    dme.Message
	}{
		{"no array", token()},
		{"short array", token(0, 0)},
		{"long array", token(0, 0, 0, 0)},
		{"a token that has served the request", token(0, 1, 0)},
		{"REQUEST without a number", dme.Message{Kind: kindRequest}},
	} {
		net := conformance.Make(t, Algorithm(), 3, nil)
		net.Request(2)
		net.Host(2).Receive(1, &c.m)
		if net.Refused() != 1 || len(net.Inside()) != 0 {
			t.Errorf("%s: not refused", c.name)
		}
	}
	net := conformance.Make(t, Algorithm(), 3, nil)
	for _, id := range []dme.NodeID{1, 2} {
		m := token(0, 0, 0)
		net.Host(id).Receive(3, &m)
	}
	if net.Refused() != 2 {
		t.Error("a token to who has it, or did not ask: not refused")
	}
}

func TestTooManyNodes(t *testing.T) {
	if err := Algorithm().CheckNodes(dme.MaxVec+1, nil); err == nil {
		t.Error("a token longer than a message is accepted")
	}
}

func TestState(t *testing.T) {
	net := conformance.Make(t, Algorithm(), 3, nil)
	net.Request(1)
	net.Request(3)
	net.Settle()
	net.WantStates(t, map[dme.NodeID]string{
		1: "clock=0 request=[0 0 1] token=[0 0 0] token_held=true waiting=false",
		3: "clock=1 request=[0 0 0] token=[] token_held=false waiting=true",
	})
}

func TestNoAllocationPerEvent(t *testing.T) {
	conformance.TestHandOverAllocatesNothing(t, newNode(64, 1), newNode(64, 2))
}

// The invariants can be broken: each of these states breaks one.
func TestInvariants(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *node { return n.Host(id).Made().(*node) }
	conformance.TestInvariants(t, Algorithm(),
		conformance.Breach{
			Invariant: "one token", Nodes: 3, Says: "at node 1, at node 2",
			Fault: func(n *conformance.Net) { at(n, 2).token = make([]uint64, 3) },
		},
		conformance.Breach{
			Invariant: "request numbers", Nodes: 3, Says: "node 3 has heard of request 1 of node 2, whose last request is 0",
			Fault: func(n *conformance.Net) { at(n, 3).request[1] = 1 },
		},
		conformance.Breach{
			Invariant: "executed requests", Nodes: 3, Says: "the token has the number 2 for node 2",
			Fault: func(n *conformance.Net) { at(n, 1).token[1] = 2 },
		},
		conformance.Breach{
			Invariant: "executed requests", Nodes: 3, Says: "the token has the number 2 for node 3",
			Fault: func(n *conformance.Net) { at(n, 1).token[2] = 2; n.Request(2); n.Deliver(2, 1, 0) },
		},
	)
}
