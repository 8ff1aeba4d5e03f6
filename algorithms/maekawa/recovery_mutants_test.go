package maekawa_test

import (
	"testing"

	"dmebench/dme/conformance"
)

// TestRecoveryMutantsAreCaught takes one rule of the recovery out at a time: the
// searches with crashes find it.
func TestRecoveryMutantsAreCaught(t *testing.T) {
	const (
		stall  = "stalled: "
		unsafe = "in the critical section"
		panics = " panics: " // a node that is not in its own quorum any more hears from itself
	)
	in := func(file, name, old, new, caught string) conformance.Mutant {
		return conformance.Mutant{Name: name, File: file, Old: old, New: new, Caught: caught, Args: []string{"-short"}}
	}
	change := func(name, old, new, caught string) conformance.Mutant {
		return in("recovery.go", name, old, new, caught)
	}
	conformance.TestMutants(t, "^(TestEveryCrash|TestRandomCrashes)$",
		change("R5: the failed node keeps its place in the queue",
			"\tn.waiting.Remove(p)\n", "", stall),
		change("R5: the failed node keeps the lock",
			"\theld := n.locking.Node == p\n", "\theld := false\n", stall),
		change("R5: the lock of a failed member counts",
			"\t\tn.locked.Remove(k)\n", "", unsafe),
		change("nobody takes the place of a failed member",
			"\tif n.numbered {\n\t\treturn\n\t}\n\tq, ok", "\tif true {\n\t\treturn\n\t}\n\tq, ok", stall),
		change("no other quorum is sought for a new request",
			"\tif !n.numbered && !n.failures.NoneOf(n.own) {\n", "\tif false {\n", stall),
		change("R6: members that are no longer asked are not told",
			"\t\t\tn.send(j, dme.Message{Kind: kindWithdraw}, out)\n\t\t\tn.failures.Withdraw(j)\n", "", panics),
		change("R6: an answer that has crossed a WITHDRAW counts",
			"return !n.numbered && m.Num < n.failures.Withdrawn(from)", "return false", panics),
		change("R6: a lock that is withdrawn is not given to the next",
			"\t\tn.relock(out)\n\t\treturn\n\t}\n\tn.waiting.Remove(j)\n", "\t\treturn\n\t}\n\tn.waiting.Remove(j)\n", stall),
		change("R7: no grace period", "{ n.failures.Restart(n.sets.Nodes(), n.ID) }", "{}", unsafe),
		change("R7: nobody in its critical section reclaims", "\t\tm.Req = n.request\n", "", unsafe),
		in("../quorum/failures.go", "R7: the grace period does not wait for the last one",
			"return len(f.unheard) > 0 }", "return len(f.unheard) > 1 }", unsafe),
		change("R7: a failed node is waited for", "\tcase over:\n\t\tn.endGrace(out)\n", "\tcase over:\n", stall),
		change("R7: REQUESTs of the grace period get no FAILED",
			"\tn.inquiring = !n.locking.IsZero()\n\tfor _, r := range waiting {\n\t\tn.receiveRequest(r, out)\n\t}\n",
			"\tn.waiting = waiting\n\tif n.locking.IsZero() {\n\t\tn.relock(out)\n\t}\n", stall),
		in("arbiter.go", "R7, numbered: a RELEASE that overtakes its RECLAIM",
			"\t\tn.receiveReclaim(from, dme.Stamp{}, out)\n\t\treturn\n", "\t\treturn\n", stall),
		change("a member that comes back is not asked again",
			"\t\t\tn.askFor(p, out)\n", "", stall),
		change("a node comes back, and no quorum is sought",
			"\t\tif !n.failures.NoneOf(n.Members) {\n\t\t\tn.changeMembers(out)\n\t\t}\n", "", stall),
	)
}
