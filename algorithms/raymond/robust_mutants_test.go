package raymond

import (
	"testing"

	"dmebench/dme/conformance"
)

// TestRecoveryMutantsAreCaught shows that each rule of the recovery is needed.
func TestRecoveryMutantsAreCaught(t *testing.T) {
	const (
		two = "2 privileges"

		// What invariants say, long before two nodes are inside or all wait.
		tokens  = "one token: there are 2 tokens"
		request = "one REQUEST: "
	)
	var mutants []conformance.Mutant
	mutant := func(name, from, to, caught string) {
		mutants = append(mutants, conformance.Mutant{Name: name, File: "robust.go", Old: from, New: to, Caught: caught})
	}
	mutant("a neighbour that is down is waited for",
		"func (n *robust) Down(dme.NodeID, *dme.Outbox) {}",
		"func (n *robust) Down(peer dme.NodeID, out *dme.Outbox) {\n"+
			"if i, found := slices.BinarySearch(n.near, peer); found && n.recovering { n.awaited.Remove(i); n.proceed(out) } }", two)
	mutant("a neighbour that comes back is asked again",
		"found && n.recovering && n.awaited.Has(i) {", "found && n.recovering && n.awaited.Has(i) && n.using {", conformance.Stalled)
	mutant("HOLDER is the neighbour that has the privilege on its side",
		"n.holder, n.asked = holder, asked", "n.asked = asked", tokens)
	mutant("ASKED is what stands in the neighbour's REQUEST_Q",
		"slices.Contains(m.Vec, uint64(n.self))", "false", request)
	mutant("a neighbour that has ASKED belongs in REQUEST_Q",
		"m.Flags&flagAsked != 0", "m.Flags&flagAsked > flagAsked", request)
	mutant("REQUEST is as good as ADVISE",
		"n.awaited.Remove(i)\n	n.requestQ.Push(from)", "n.requestQ.Push(from)", request)
	mutant("a node that recovers answers once HOLDER is known",
		"n.owed.Add(i)\n", "if !n.recovering { n.owed.Add(i) }\n", conformance.Stalled)
	mutant("a node gives way to a parent that is recovering alone",
		"|| !n.owed.Has(i)", "", request)
	mutant("of two that recover one gives way",
		"i, found := slices.BinarySearch(n.near, n.parent)\n		if !found || !n.awaited.Has(i) || !n.owed.Has(i) {\n			return\n		}",
		"i := 0\n		for !n.awaited.Has(i) { i++ }\n		if !n.owed.Has(i) {\n			return\n		}", two)
	mutant("somebody gives way", "if !found || ", "if true || !found || ", conformance.Stalled)
	mutant("RESTART from the parent serves as INITIALIZE",
		"n.holder == dme.None && !n.recovering && from == n.parent {", "false {", conformance.Stalled)
	conformance.TestMutants(t, "^TestRecovery(AtRandom|Exhaustively)$", mutants...)
}
