package suzukikasami

import (
	"testing"

	"dmebench/dme/conformance"
)

func TestConformance(t *testing.T) { conformance.Test(t, Algorithm()) }

// TestMutantsAreCaught shows that TestConformance can fail: it must, for the
// rule of step (b) as printed, and for every other rule taken out.
func TestMutantsAreCaught(t *testing.T) {
	const (
		file   = "suzukikasami.go"
		unsafe = "are in the critical section"
		stall  = "and nothing moves"
	)
	conformance.TestMutants(t, "^TestConformance$",
		conformance.Mutant{Name: "step b: LN[j] for LN[i]", File: file, Caught: stall,
			Old: "!s.executing && s.outstanding(from)", New: "!s.executing && s.rn[from-1] == s.token.ln(s.i)+1"},
		conformance.Mutant{Name: "step b: outdated requests", File: file, Caught: "TOKEN",
			Old: "!s.executing && s.outstanding(from)", New: "!s.executing && s.rn[from-1] <= sn"},
		conformance.Mutant{Name: "step b: while executing", File: file, Caught: "panics: ",
			Old: "s.token != nil && !s.executing && s.outstanding(from)", New: "s.token != nil && s.outstanding(from)"},
		conformance.Mutant{Name: "step d", File: file, Caught: "sends to node",
			Old: "\ts.token.setLN(s.i, s.rn[s.i-1]) // (d)\n", New: ""},
		conformance.Mutant{Name: "step e", File: file, Caught: stall,
			Old: "if s.outstanding(j) && !s.seen.Has(j) {", New: "if false {"},
	)
}
