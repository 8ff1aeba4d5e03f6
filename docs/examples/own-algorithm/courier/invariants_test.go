package courier

import (
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// The invariant holds in thousands of schedules, and notices a second key.
func TestOneKey(t *testing.T) {
	a := Algorithm()
	a.Invariants = []dme.Invariant{oneKey()}
	conformance.Test(t, a)
	conformance.TestInvariants(t, a, conformance.Breach{
		Invariant: "one key", Nodes: 3, Says: "there are 2 keys",
		Fault: func(n *conformance.Net) {
			n.Request(1)
			n.Settle()
			n.Host(3).Made().(*node).here = true
		},
	})
}
