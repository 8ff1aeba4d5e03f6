package carvalhoroucairol

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
			Invariant: "one permission", Nodes: 3, Says: "nodes 1 and 3 have each other's permission, counting 0 REPLYs",
			Fault: func(n *conformance.Net) { at(n, 1).lacking.Remove(3); at(n, 3).lacking.Remove(1) },
		},
		conformance.Breach{
			Invariant: "one permission", Nodes: 3, Says: "nodes 1 and 2 have each other's permission, counting 1 REPLYs",
			Fault: func(n *conformance.Net) { n.Request(2); n.Deliver(2, 1, 0); at(n, 1).lacking.Remove(2) },
		},
		conformance.Breach{
			Invariant: "one answer", Nodes: 3, Says: "node 2 awaits 0 REPLYs of node 1, which has deferred 0, with 1 REQUESTs",
			Fault: func(n *conformance.Net) { n.Request(2); at(n, 2).lacking.Remove(1) },
		},
		conformance.Breach{
			Invariant: "one answer", Nodes: 3, Says: "node 2 awaits 0 REPLYs of node 1, which has deferred 1",
			Fault: func(n *conformance.Net) { at(n, 1).replyDeferred.Add(dme.Stamp{Clock: 1, Node: 2}) },
		},
	)
}
