package raymond

import (
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// The invariants can be broken: each of these states breaks one.
func TestInvariants(t *testing.T) {
	conformance.TestInvariants(t, Algorithm(),
		conformance.Breach{
			Invariant: "one token", Nodes: 3, Says: "there are 2 tokens: at node 1, at node 3",
			Fault: func(n *conformance.Net) { made(n, 3).holder = 3 },
		},
		conformance.Breach{
			Invariant: "one token", Nodes: 3, Says: "there are 2 tokens: at node 1, on its way from node 1 to node 2",
			Fault: func(n *conformance.Net) { n.Request(2); n.Deliver(2, 1, 0); made(n, 1).holder = 1 },
		},
		conformance.Breach{
			Invariant: "one token", Nodes: 3, Says: "no node has the token",
			Fault: func(n *conformance.Net) { made(n, 1).holder = 2 },
		},
		conformance.Breach{
			Invariant: "HOLDER path", Nodes: 3, Says: "HOLDER is 2 at node 2 and 1 at its neighbour 1, with 0 PRIVILEGEs",
			Fault: func(n *conformance.Net) { made(n, 2).holder = 2 },
		},
		conformance.Breach{
			Invariant: "HOLDER path", Nodes: 3, Says: "HOLDER is 1 at node 2 and 1 at its neighbour 1, with 1 PRIVILEGEs",
			Fault: func(n *conformance.Net) { n.Request(2); n.Deliver(2, 1, 0); made(n, 1).holder = 1 },
		},
		conformance.Breach{
			Invariant: "one REQUEST", Nodes: 3, Says: "node 2, HOLDER 1 and ASKED false, has 1 REQUESTs on their way",
			Fault: func(n *conformance.Net) { n.Request(2); made(n, 2).asked = false },
		},
		conformance.Breach{
			Invariant: "one REQUEST", Nodes: 3, Says: "node 2, HOLDER 1 and ASKED true, has 0 REQUESTs",
			Fault: func(n *conformance.Net) { made(n, 2).asked = true },
		},
	)
}

func TestInvariantsOfRecovery(t *testing.T) {
	at := func(n *conformance.Net) *robust { n.Settle(); return n.Host(2).Made().(*robust) }
	conformance.TestInvariants(t, Robust(),
		conformance.Breach{
			Invariant: "one token", Nodes: 3, Says: "there are 2 tokens", Fault: func(n *conformance.Net) { at(n).holder = 2 },
		},
		conformance.Breach{
			Invariant: "HOLDER path", Nodes: 3, Says: "HOLDER is 2 at node 2", Fault: func(n *conformance.Net) { at(n).holder = 2 },
		},
		conformance.Breach{
			Invariant: "HOLDER path", Nodes: 3, Says: "HOLDER is 2 at node 2",
			Fault: func(n *conformance.Net) { n.Settle(); n.Crash(3); at(n).holder = 2 },
		},
		conformance.Breach{
			Invariant: "one REQUEST", Nodes: 3, Says: "stands 0 times", Fault: func(n *conformance.Net) { at(n).asked = true },
		},
	)
}

func made(n *conformance.Net, id dme.NodeID) *node { return n.Host(id).Made().(*node) }
