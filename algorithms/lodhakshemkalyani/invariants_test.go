package lodhakshemkalyani

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
			Invariant: "nothing done is pending", Nodes: 3, Says: "node 3 takes all up to (1,2) for satisfied, and the request (1,2) is pending",
			Fault: func(n *conformance.Net) { n.Request(2); at(n, 3).done = dme.Stamp{Clock: 1, Node: 2} },
		},
		conformance.Breach{
			Invariant: "nothing done is pending", Nodes: 3, Says: "a message of node 3 says that all up to (4,2) are satisfied",
			Fault: func(n *conformance.Net) {
				at(n, 3).done = dme.Stamp{Clock: 4, Node: 2}
				n.Request(2)
				n.Request(3)
				at(n, 3).done = dme.Stamp{}
			},
		},
		conformance.Breach{
			Invariant: "concurrent requests", Nodes: 3, Says: "LRQ of node 3, [(1,3)], lacks the request (1,2), which goes first",
			Fault: func(n *conformance.Net) {
				n.Request(2)
				n.Request(3)
				n.Deliver(2, 3, 0)
				n.Deliver(3, 2, 0)
				at(n, 3).lrq.Remove(2)
			},
		},
		conformance.Breach{
			Invariant: "one answer", Nodes: 3, Says: "node 2 waits for node 3, which has not got its REQUEST",
			Fault: func(n *conformance.Net) { n.Request(2); n.Deliver(2, 3, 0); n.Deliver(3, 2, 0); at(n, 2).rv.Remove(3) },
		},
	)
}
