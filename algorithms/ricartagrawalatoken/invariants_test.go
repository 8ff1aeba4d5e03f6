package ricartagrawalatoken

import (
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// The invariants can be broken: each of these states breaks one.
func TestInvariants(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *node { return n.Host(id).Made().(*node) }
	conformance.TestInvariants(t, Algorithm(),
		conformance.Breach{
			Invariant: "one token", Nodes: 3, Says: "at node 1, at node 2",
			Fault: func(n *conformance.Net) { at(n, 2).token = make([]uint64, 3) },
		},
		conformance.Breach{
			Invariant: "request numbers", Nodes: 3, Says: "request of node 3 has the number 1 for node 2, whose last request is 0",
			Fault: func(n *conformance.Net) { at(n, 3).request[1] = 1 },
		},
		conformance.Breach{
			Invariant: "request numbers", Nodes: 3, Says: "the token has the number 2 for node 2",
			Fault: func(n *conformance.Net) { at(n, 1).token[1] = 2 },
		},
		conformance.Breach{
			Invariant: "request numbers", Nodes: 3, Says: "the token has the number 2 for node 3",
			Fault: func(n *conformance.Net) { at(n, 1).token[2] = 2; n.Request(2); n.Deliver(2, 1, 0) },
		},
	)
}
