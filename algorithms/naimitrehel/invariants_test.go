package naimitrehel

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
			Invariant: "one token", Nodes: 3, Says: "no node has the token",
			Fault: func(n *conformance.Net) { at(n, 1).tokenPresent = false },
		},
		conformance.Breach{
			Invariant: "father trees", Nodes: 3, Says: "they lead from node 2 to no root",
			Fault: func(n *conformance.Net) { at(n, 2).father, at(n, 3).father = 3, 2 },
		},
		conformance.Breach{
			Invariant: "father trees", Nodes: 3, Says: "there are 2 roots, and 0 REQUESTs",
			Fault: func(n *conformance.Net) { at(n, 3).father = dme.None },
		},
		conformance.Breach{
			Invariant: "one place in the queue", Nodes: 3, Says: "node 2 is requesting: 1 REQUESTs for it and 0 TOKENs to it are on their way, " +
				"and it is the next of 1 nodes",
			Fault: func(n *conformance.Net) { n.Request(2); at(n, 3).next = 2 },
		},
		conformance.Breach{
			Invariant: "one place in the queue", Nodes: 3, Says: "node 3 is idle",
			Fault: func(n *conformance.Net) { at(n, 1).next = 3 },
		},
	)
}
