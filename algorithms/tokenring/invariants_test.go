package tokenring

import (
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// The invariants can be broken: each of these states breaks one.
func TestInvariants(t *testing.T) {
	onDemand := map[string]string{optMode: "demand"}
	at := func(n *conformance.Net, id dme.NodeID) *demand { return n.Host(id).Made().(*demand) }
	conformance.TestInvariants(t, Algorithm(),
		conformance.Breach{
			Invariant: "one token", Nodes: 3, Says: "at node 3, on its way from node 1 to node 2",
			Fault: func(n *conformance.Net) { n.Host(3).Made().(*perpetual).token = true },
		},
		conformance.Breach{
			Invariant: "one token", Nodes: 3, Set: onDemand, Says: "no node has the token",
			Fault: func(n *conformance.Net) { at(n, 1).token = false },
		},
		conformance.Breach{
			Invariant: "asked once", Nodes: 3, Set: onDemand, Says: "node 2, asked=false, and node 1, owed=true",
			Fault: func(n *conformance.Net) { at(n, 1).owed = true },
		},
		conformance.Breach{
			Invariant: "asked once", Nodes: 3, Set: onDemand, Says: "node 2, asked=true, and node 1, owed=true, with 1 REQUESTs",
			Fault: func(n *conformance.Net) { n.Request(2); at(n, 1).owed = true },
		},
	)
}
