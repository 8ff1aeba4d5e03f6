package agrawalelabbadi

import (
	"testing"

	"dmebench/dme/conformance"
)

// TestMutantsAreCaught takes one repair out at a time: the conformance suite, or
// for A2 the test of it, finds what the repair is against.
func TestMutantsAreCaught(t *testing.T) {
	const permission = "one permission: " // the invariant
	change := func(name, old, new, caught string) conformance.Mutant {
		return conformance.Mutant{Name: name, File: "node.go", Old: old, New: new, Caught: caught}
	}
	conformance.TestMutants(t, "^(TestConformance|TestOneInquire)$",
		change("A1: a newcomer that precedes the holder is granted",
			"\tif n.granted.IsZero() {\n", "\tif n.granted.IsZero() || r.Precedes(n.granted) {\n", permission),
		change("A2: an Inquire for every newcomer",
			"r.Precedes(n.granted) && !n.inquired {", "r.Precedes(n.granted) {", "Inquires for one grant"),
		change("A3: a Yield in the critical section",
			"if n.pending() && n.holds(j) {", "if n.holds(j) {", conformance.Stalled), // on three nodes two would be in
		change("A3: a Yield of what is not held",
			"if n.pending() && n.holds(j) {", "if n.pending() {", permission),
		change("A4: the permission goes to another than the most preceding request",
			"\tn.waiting.Insert(n.granted)\n",
			`	at := 0
	for at+1 < len(n.waiting) && n.waiting[at+1].Precedes(n.granted) {
		at++
	}
	r := n.waiting[at]
	n.waiting = append(dme.RequestQueue{r}, append(n.waiting[:at], n.waiting[at+1:]...)...)
	n.waiting.Insert(n.granted)
`, conformance.Stalled),
		change("A5: nobody is granted after a Relinquish",
			"func (n *node) receiveRelinquish(out *dme.Outbox) {\n\tn.grant(out)\n",
			"func (n *node) receiveRelinquish(out *dme.Outbox) {\n\tn.granted, n.inquired = dme.Stamp{}, false\n", conformance.Stalled),
		change("nobody inquires",
			"\t\tn.answer(n.granted.Node, kindInquire, out)\n", "", conformance.Stalled),
	)
}
