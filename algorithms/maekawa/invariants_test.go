package maekawa

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
			Invariant: "one lock", Nodes: 3, Says: "member 1 is locked for (0,0); node 2 holds its lock: true",
			Fault: func(n *conformance.Net) { x := at(n, 2); x.locked.Add(x.MemberIndex(1)) },
			Set:   map[string]string{"quorum": "singleton"},
		},
		conformance.Breach{
			Invariant: "one lock", Nodes: 3, Says: "there are 1 locks, not 0",
			Set: map[string]string{"quorum": "singleton"},
			Fault: func(n *conformance.Net) {
				n.Request(2)
				n.Deliver(2, 1, 0)
				at(n, 1).locking = dme.Stamp{Clock: 1, Node: 3}
			},
		},
		conformance.Breach{
			Invariant: "one REQUEST", Nodes: 3, Says: "the REQUEST (1,2) is 1 times on its way to member 1 and 1 times in its WAITING QUEUE",
			Set:   map[string]string{"quorum": "singleton"},
			Fault: func(n *conformance.Net) { n.Request(2); at(n, 1).waiting.Insert(dme.Stamp{Clock: 1, Node: 2}) },
		},
		conformance.Breach{
			Invariant: "one INQUIRE", Nodes: 3, Says: "1 INQUIREs are on their way from member 1 to node 3",
			Set: map[string]string{"quorum": "singleton"},
			Fault: func(n *conformance.Net) {
				n.Request(3)
				n.Request(2)
				n.Deliver(3, 1, 0)
				n.Deliver(2, 1, 0)
				at(n, 1).inquiring = false
			},
		},
	)
}
