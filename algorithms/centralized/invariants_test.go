package centralized

import (
	"testing"

	"dmebench/dme/conformance"
)

// The invariant can be broken: each of these states breaks it.
func TestInvariants(t *testing.T) {
	holder := func(n *conformance.Net) *server { return n.Host(coordinator).Made().(*server) }
	conformance.TestInvariants(t, Algorithm(),
		conformance.Breach{
			Invariant: "one grant", Nodes: 3, Says: "the resource is granted to node 2, and node 2 has 0 GRANTs and 0 RELEASEs",
			Fault: func(n *conformance.Net) { holder(n).holder = 2 },
		},
		conformance.Breach{
			Invariant: "one grant", Nodes: 3, Says: "the resource is granted to node –, and node 2 has 0 GRANTs and 1 RELEASEs",
			Fault: func(n *conformance.Net) { n.Request(2); n.Settle(); n.Release(2); holder(n).holder = 0 },
		},
		conformance.Breach{
			Invariant: "one place in line", Nodes: 3, Says: "node 3 waits, granted=false, with 1 REQUESTs on their way and 1 places",
			Fault: func(n *conformance.Net) { n.Request(2); n.Settle(); n.Request(3); holder(n).queue.Push(3) },
		},
		conformance.Breach{
			Invariant: "one place in line", Nodes: 3, Says: "node 3 waits, granted=false, with 0 REQUESTs on their way and 0 places",
			Fault: func(n *conformance.Net) { n.Request(2); n.Request(3); n.Settle(); holder(n).queue.Pop() },
		},
		conformance.Breach{
			Invariant: "one grant", Nodes: 3, Says: "node 1 has 0 GRANTs and 0 RELEASEs on their way, and is in the critical section",
			Fault: func(n *conformance.Net) { n.Request(1); holder(n).holder = 0 },
		},
	)
}
