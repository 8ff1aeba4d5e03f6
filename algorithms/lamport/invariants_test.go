package lamport

import (
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// The invariants can be broken: each of these states breaks one.
func TestInvariants(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *site { return n.Host(id).Made().(*site) }
	for _, a := range []*dme.Algorithm{Algorithm(), Optimized()} {
		conformance.TestInvariants(t, a,
			conformance.Breach{
				Invariant: "request queues", Nodes: 3, Says: "the request of node 2 is (1,2), and the queue of node 3 holds []",
				Fault: func(n *conformance.Net) { n.Request(2); n.Deliver(2, 3, 0); at(n, 3).requestQueue.Remove(2) },
			},
			conformance.Breach{
				Invariant: "request queues", Nodes: 3, Says: "the request of node 2 is none, and the queue of node 3 holds [(1,2)]",
				Fault: func(n *conformance.Net) { at(n, 3).requestQueue.Insert(dme.Stamp{Clock: 1, Node: 2}) },
			},
			conformance.Breach{
				Invariant: "nothing earlier on its way", Nodes: 3, Says: "node 2, whose request is (1,2), awaits nothing of node 1 any more, " +
					"and the REQUEST (1,1)",
				Fault: func(n *conformance.Net) { n.Request(1); n.Request(2); at(n, 2).awaiting.Remove(1) },
			},
		)
	}
}
