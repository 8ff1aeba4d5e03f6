package suzukikasami

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
			Invariant: "one token", Nodes: 3, Says: "at node 1, at node 2",
			Fault: func(n *conformance.Net) { at(n, 2).token = newToken(3) },
		},
		conformance.Breach{
			Invariant: "request numbers", Nodes: 3, Says: "RN_3[2] is 1, and RN_2[2] only 0",
			Fault: func(n *conformance.Net) { at(n, 3).rn[1] = 1 },
		},
		conformance.Breach{
			Invariant: "request numbers", Nodes: 3, Says: "RN_2[2] is 0 and LN[2] of the token 1",
			Fault: func(n *conformance.Net) { at(n, 1).token.setLN(2, 1) },
		},
		conformance.Breach{
			Invariant: "request numbers", Nodes: 3, Says: "a REQUEST of node 2 has the number 1, and RN_2[2] is 0",
			Fault: func(n *conformance.Net) { n.Request(2); at(n, 2).rn[1] = 0 },
		},
		conformance.Breach{
			Invariant: "token queue", Nodes: 3, Says: "node 3 stands in the queue [3] of the token, and is idle",
			Fault: func(n *conformance.Net) { s := at(n, 1); s.token = append(s.token, 3) },
		},
		conformance.Breach{ // on its way
			Invariant: "token queue", Nodes: 3, Says: "node 2 stands in the queue [2 2] of the token",
			Fault: func(n *conformance.Net) {
				s := at(n, 1)
				s.token = append(s.token, 2, 2)
				n.Request(2)
				n.Deliver(2, 1, 0)
			},
		},
	)
}
