package agrawalelabbadi

import (
	"testing"

	"dmebench/dme/conformance"
)

// TestRecoveryMutantsAreCaught takes one rule of the recovery out at a time: the
// searches with crashes find it.
func TestRecoveryMutantsAreCaught(t *testing.T) {
	const (
		stall   = "stalled: "
		unsafe  = "in the critical section"
		refused = " messages refused: "
	)
	change := func(name, old, new, caught string) conformance.Mutant {
		return conformance.Mutant{Name: name, File: "recovery.go", Old: old, New: new, Caught: caught, Args: []string{"-short"}}
	}
	conformance.TestMutants(t, "^(TestEveryCrash|TestRandomCrashes)$",
		change("A6: the failed node keeps its place in the queue", "\tn.waiting.Remove(p)\n", "", stall),
		change("A6: the failed node keeps the permission",
			"\tcase n.granted.Node == p:\n\t\tn.grant(out)\n", "", stall),
		conformance.Mutant{ // rare: not in the short search
			Name: "A6: a permission of the failed site counts", File: "recovery.go",
			Old: "\t\tn.replied.Remove(k) // it has forgotten\n", New: "", Caught: refused,
		},
		change("nobody takes the place of a failed node",
			"\t\tn.replied.Remove(k) // it has forgotten\n\t\tn.changeQuorum(out)\n", "\t\tn.replied.Remove(k)\n", stall),
		change("A7: sites that are no longer asked are not told",
			"\t\t\tn.send(j, kindWithdraw, out)\n\t\t\tn.failures.Withdraw(j)\n", "", stall),
		change("A7: a Reply that has crossed a Withdraw counts",
			"return m.Num < n.failures.Withdrawn(j) }", "return false }", refused),
		change("A8: no grace period", "{ n.failures.Restart(n.nodes(), n.ID) }", "{}", unsafe),
		change("A8: nobody in its critical section reclaims", "\t\tm.Req = n.request\n", "", unsafe),
		conformance.Mutant{
			Name: "A8: the grace period does not wait for the last one", File: "../quorum/failures.go",
			Old: "return len(f.unheard) > 0 }", New: "return len(f.unheard) > 1 }", Caught: unsafe,
			Args: []string{"-short"},
		},
		change("A8: a failed node is waited for", "\tcase over:\n\t\tn.endGrace(out)\n", "\tcase over:\n", stall),
		change("a site that comes back is not asked again",
			"\t\t\tn.askFor(p, out)\n", "", stall),
		change("a node comes back, and its quorum is not looked for",
			"\t\tif !n.failures.NoneOf(n.Members) {\n\t\t\tn.changeQuorum(out)\n\t\t}\n", "", stall),
	)
}
