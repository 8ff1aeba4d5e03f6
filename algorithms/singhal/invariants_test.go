package singhal

import (
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// The invariants can be broken: each of these states breaks one.
func TestInvariants(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *site { return n.Host(id).Made().(*site) }
	conformance.TestInvariants(t, Algorithm(),
		conformance.Breach{
			Invariant: "information structure", Nodes: 3, Says: "node 3 is not in R of node 1, nor node 1 in that of node 3",
			Fault: func(n *conformance.Net) { at(n, 3).r.Remove(1) },
		},
		conformance.Breach{
			Invariant: "one answer", Nodes: 3, Says: "node 3 awaits 0 REPLYs of node 1, in whose I it stands 0 times, with 1 REQUESTs",
			Fault: func(n *conformance.Net) { n.Request(3); at(n, 3).r.Remove(1) },
		},
		conformance.Breach{
			Invariant: "one answer", Nodes: 3, Says: "node 2 awaits 1 REPLYs of node 1, in whose I it stands 1 times, with 1 REQUESTs",
			Fault: func(n *conformance.Net) { n.Request(2); at(n, 1).inform.Add(dme.Stamp{Clock: 1, Node: 2}) },
		},
	)
}
