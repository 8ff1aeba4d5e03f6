package singhal

import (
	"testing"

	"dmebench/dme/conformance"
)

// later makes a step of what follows the timer.
func later(body string) [2]string {
	const state = "func (s *site) State(v *dme.Visitor) {"
	return [2]string{state, "func (s *site) Timeout(_ dme.TimerID, out *dme.Outbox) {\n" + body + "\n}\n\n" + state}
}

const (
	ask      = "func (s *site) ask(j dme.NodeID, out *dme.Outbox) {\n"
	enter    = "\t\ts.requesting, s.executing = false, true // S2: together\n\t\tout.Enter(s.request)\n"
	priority = "return s.request.Precedes(r)"
	stamp    = "Clock: s.request.Clock}) // S4: not C_i"
)

// TestMutantsAreCaught shows that TestConformance and TestExercise98 can fail:
// they must, for every repair, and every rule of the text, taken out.
func TestMutantsAreCaught(t *testing.T) {
	// Invariants that are broken before two sites are inside, or all wait.
	const structure, answer = "information structure: ", "one answer: "
	mutant := func(name, caught string, edits ...[2]string) conformance.Mutant {
		return conformance.Mutant{
			Name: name, File: "singhal.go", Old: edits[0][0], New: edits[0][1], More: edits[1:], Caught: caught,
		}
	}
	conformance.TestMutants(t, "^TestConformance$",
		mutant("S1", conformance.Stalled,
			[2]string{"j < id; j++ { // S1", "j <= id; j++ { // S1"},
			[2]string{ask, ask + "\tif j == s.i {\n\t\treturn\n\t}\n"}),
		mutant("S2", conformance.Unsafe,
			[2]string{enter, "\t\ts.requesting = false\n\t\tout.SetTimer(0, 0)\n"},
			later("s.executing = true\nout.Enter(s.request)")),
		mutant("S3", answer,
			[2]string{enter, "\t\tout.SetTimer(0, 0)\n"},
			later("if s.requesting {\ns.requesting, s.executing = false, true\nout.Enter(s.request)\n}")),
		mutant("S4 in My_priority", structure, [2]string{priority, "return dme.Stamp{Clock: s.c, Node: s.i}.Precedes(r)"}),
		mutant("S4 in the second REQUEST", answer, [2]string{stamp, "Clock: s.c})"}),
		mutant("the second REQUEST", structure, [2]string{"\t\t\ts.r.Add(r.Node)\n\t\t\ts.ask(r.Node, out)\n", ""}),
		mutant("who leaves must ask next time", structure,
			[2]string{"\t\ts.reply(k, out)\n\t\ts.r.Add(k.Node)\n", "\t\ts.reply(k, out)\n"}),
	)
	conformance.TestMutants(t, "^TestExercise98$",
		mutant("who replies at rest must ask next time", structure,
			[2]string{"\tdefault:\n\t\ts.r.Add(r.Node)\n", "\tdefault:\n"}),
	)
}
