package agrawalelabbadi

import (
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// The invariant can be broken: each of these states breaks it.
func TestInvariants(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *node { return n.Host(id).Made().(*node) }
	conformance.TestInvariants(t, Algorithm(),
		conformance.Breach{
			Invariant: "one Request", Nodes: 3, Says: "the Request (1,2) is 1 times on its way to site 1 and 1 times in its queue",
			Fault: func(n *conformance.Net) { n.Request(2); at(n, 1).waiting.Insert(dme.Stamp{Clock: 1, Node: 2}) },
		},
		conformance.Breach{
			Invariant: "one permission", Nodes: 3, Says: "site 1 has granted (1,3); node 2 has its permission: false",
			Fault: func(n *conformance.Net) {
				n.Request(2)
				n.Deliver(2, 1, 0)
				at(n, 1).granted = dme.Stamp{Clock: 1, Node: 3}
			},
		},
		conformance.Breach{
			Invariant: "one permission", Nodes: 3, Says: "site 1 has granted (1,2); node 2 has its permission: false, " +
				"and with messages between the two there are 0 permissions, not 1",
			Fault: func(n *conformance.Net) {
				n.Request(2)
				n.Deliver(2, 1, 0)
				n.Deliver(1, 2, 0)
				x := at(n, 2)
				x.replied.Remove(x.MemberIndex(1))
			},
		},
	)
}
