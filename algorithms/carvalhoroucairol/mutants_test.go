package carvalhoroucairol

import (
	"testing"

	"dmebench/dme/conformance"
)

// TestMutantsAreCaught shows that TestConformance can fail: it must, for every
// rule taken out.
func TestMutantsAreCaught(t *testing.T) {
	const (
		file   = "carvalhoroucairol.go"
		unsafe = "are in the critical section"
		stall  = "and nothing moves"
	)
	conformance.TestMutants(t, "^TestConformance$",
		conformance.Mutant{Name: "step 2: executing defers", File: file, Old: "if n.executing || ", New: "if ", Caught: unsafe},
		conformance.Mutant{Name: "step 3: asking again", File: file, Caught: stall,
			Old: "if n.requesting && had {", New: "if false && had {"},
		conformance.Mutant{Name: "step 3: a permission given is lost", File: file, Caught: unsafe,
			Old: "\tn.lacking.Add(r.Node)\n", New: ""},
	)
}
