package singhal

import (
	"testing"

	"dmebench/dme/conformance"
)

// mutant is the algorithm with one repair, or one rule of the text, taken out.
type mutant struct {
	name   string
	edits  [][2]string // of singhal.go: what stands there, and what instead
	caught string      // the fault that the search is to find
}

// later makes a step of what follows the timer.
func later(body string) [2]string {
	const state = "func (s *site) State(v *dme.Visitor) {"
	return [2]string{state, "func (s *site) Timeout(_ dme.TimerID, out *dme.Outbox) {\n" + body + "\n}\n\n" + state}
}

const (
	enter    = "\t\ts.requesting, s.executing = false, true // S2: together\n\t\tout.Enter(s.request)\n"
	priority = "return s.request.Precedes(r)"
	stamp    = "Clock: s.request.Clock}) // S4: not C_i"
)

var mutants = []mutant{
	{"S1", [][2]string{
		{"j < id; j++ { // S1", "j <= id; j++ { // S1"},
		{"func (s *site) ask(j dme.NodeID, out *dme.Outbox) {\n", "func (s *site) ask(j dme.NodeID, out *dme.Outbox) {\n\tif j == s.i {\n\t\treturn\n\t}\n"},
	}, stall},
	{"S2", [][2]string{
		{enter, "\t\ts.requesting = false\n\t\tout.SetTimer(0, 0)\n"},
		later("s.executing = true\nout.Enter(s.request)"),
	}, unsafe},
	{"S3", [][2]string{
		{enter, "\t\tout.SetTimer(0, 0)\n"},
		later("if s.requesting {\ns.requesting, s.executing = false, true\nout.Enter(s.request)\n}"),
	}, unsafe},
	{"S4 in My_priority", [][2]string{
		{priority, "return dme.Stamp{Clock: s.c, Node: s.i}.Precedes(r)"},
	}, unsafe},
	{"S4 in the second REQUEST", [][2]string{{stamp, "Clock: s.c})"}}, refusal},
	{"the second REQUEST", [][2]string{{"\t\t\ts.r.Add(r.Node)\n\t\t\ts.ask(r.Node, out)\n", ""}}, unsafe},
	{"who leaves must ask next time", [][2]string{{"\t\ts.reply(k, out)\n\t\ts.r.Add(k.Node)\n", "\t\ts.reply(k, out)\n"}}, unsafe},
}

// TestMutantsAreCaught shows that TestRandomSchedules can fail: it must, for
// every mutant.
func TestMutantsAreCaught(t *testing.T) {
	for _, m := range mutants {
		conformance.TestMutants(t, "^TestRandomSchedules$", conformance.Mutant{
			Name: m.name, File: "singhal.go", Old: m.edits[0][0], New: m.edits[0][1], More: m.edits[1:],
			Args: []string{"-fault=" + m.caught}, Caught: m.caught,
		})
	}
}
