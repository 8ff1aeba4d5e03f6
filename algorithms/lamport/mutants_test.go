package lamport

import (
	"testing"

	"dmebench/dme/conformance"
)

// TestMutantsAreCaught shows that TestConformance can fail: it must, for every
// rule taken out. The first mutant answers Exercise 9.2: without L1 the
// algorithm does not guarantee mutual exclusion.
func TestMutantsAreCaught(t *testing.T) {
	const file = "lamport.go"
	conformance.TestMutants(t, "^TestConformance$",
		conformance.Mutant{Name: "L1", File: file, Old: "return s.awaiting.Empty()", New: "return true", Caught: conformance.Unsafe},
		conformance.Mutant{Name: "L2", File: file, Old: "return s.requestQueue[0] == s.request", New: "return true", Caught: conformance.Unsafe},
		conformance.Mutant{
			Name: "only a larger timestamp counts for L1", File: file,
			Old: "s.requesting() && s.request.Precedes(ts)", New: "s.requesting()", Caught: "nothing earlier on its way: ",
		},
		conformance.Mutant{
			Name: "the clock exceeds every timestamp", File: file,
			Old: "max(s.clock, ts.Clock) + 1", New: "max(s.clock, ts.Clock)", Caught: conformance.Stalled,
		},
		conformance.Mutant{
			Name: "a REPLY is spared only where a REQUEST stands for it", File: file,
			Old: "s.sparing && s.requesting() && r.Precedes(s.request)", New: "s.sparing", Caught: conformance.Stalled,
		},
	)
}
