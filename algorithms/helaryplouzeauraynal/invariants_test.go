package helaryplouzeauraynal

import (
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// The invariants can be broken: each of these states breaks one.
func TestInvariants(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *process { return n.Host(id).Made().(*process) }
	conformance.TestInvariants(t, Algorithm(),
		conformance.Breach{
			Invariant: "one token", Nodes: 3, Says: "no node has the token",
			Fault: func(n *conformance.Net) { at(n, 1).lud = nil },
		},
		conformance.Breach{
			Invariant: "way back", Nodes: 3, Says: "node 3 knows of node 2's request, and via leads from it to node 1",
			Fault: func(n *conformance.Net) { n.Request(2); n.Deliver(2, 3, 0); at(n, 3).via[1] = 1 },
		},
	)
}
