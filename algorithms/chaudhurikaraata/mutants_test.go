package chaudhurikaraata

import (
	"os"
	"slices"
	"strings"
	"testing"

	"dmebench/dme/conformance"
	"dmebench/internal/testkit"
)

// Each mutant is the algorithm with one repair, or one rule of the paper, taken
// out. TestEverySchedule catches these:
var mutants = []conformance.Mutant{
	{
		Name: "CR1, a plane twice in PL", File: "repaired.go",
		Old: "if i := c.indexInPL(z); i >= 0 {\n\t\tc.pl[i].number",
		New: "if i := -1; i >= 0 {\n\t\tc.pl[i].number", Caught: " in PL",
	},
	{
		Name: "CR2, a REQUEST for each of OWN", File: "repaired.go",
		Old: "\tif c.asked {\n\t\treturn\n\t}\n",
		New: "", Caught: "did not ask for",
	},
	{
		Name: "CR2, never cleared", File: "repaired.go",
		Old: "\tc.asked = false // CR2\n",
		New: "", Caught: "(CR2)",
	},
	{
		Name: "CR3, other planes first", File: "repaired.go",
		Old: "\tcase c.batch > 0: // CR3\n",
		New: "\tcase c.batch > 0 && len(c.pl) == 0:\n", Caught: "batch of",
	},
	{
		Name: "CR4", File: "repaired.go",
		Old: "if len(c.own) > 0 || c.repair == directed && len(c.pl) > 0 { // CR4",
		New: "if false {", Caught: "(CR4)",
	},
	{
		Name: "CR4 in repair directed, for PL", File: "repaired.go",
		Old: " || c.repair == directed && len(c.pl) > 0 { // CR4",
		New: " {", Caught: "(CR4)",
	},
	{
		Name: "CR6, a REQUEST leaves the mesh", File: "token.go",
		Old: "\tif to != dme.None {\n",
		New: "\tif true {\n", Caught: "sends to node 0",
	},
	{
		Name: "numbered, nothing is outdated", File: "repaired.go",
		Old: "return p.number <= c.served[c.home.planeOf(p.corner)]",
		New: "return false", Caught: "did not ask for",
	},
	{
		Name: "numbered, what is new is outdated", File: "repaired.go",
		Old: "return p.number <= c.served[c.home.planeOf(p.corner)]",
		New: "return p.number <= c.served[c.home.planeOf(p.corner)]+1", Caught: "stalled: ",
	},
	{
		Name: "numbered, the token forgets who was served", File: "repaired.go",
		Old: "\t\tc.served[c.home.planeOf(c.home.self)] = c.asks\n",
		New: "", Caught: "did not ask for",
	},
	{
		Name: "suppressed while the token is in use", File: "repaired.go",
		Old: "case c.repair == suppressed && c.colour == green:",
		New: "case c.repair == suppressed && c.colour != red:", Caught: "stalled: ",
	},
	{
		Name: "directed, the side is not remembered", File: "repaired.go",
		Old: "\t\tc.side = z\n",
		New: "", Caught: "sends to node 0",
	},
	{
		Name: "a RED token permits", File: "repaired.go",
		Old: "\tc.turn(green)\n\tc.asked = false",
		New: "\tc.asked = false", Caught: "from RED",
	},
}

// This one is safe and live, but costs many messages:
var costlyMutants = []conformance.Mutant{
	{
		Name: "CR5, a passing PERMIT removes nothing", File: "repaired.go",
		Old: "if i := c.indexInPL(z); i >= 0 { // CR5",
		New: "if false {\n\t\t\ti := 0", Caught: "the worst entry took",
	},
}

// TestMutantsAreCaught shows that those tests can fail. To build all mutants takes
// long; a quick test sees only that each patch still applies.
func TestMutantsAreCaught(t *testing.T) {
	if testkit.Full() {
		conformance.TestMutants(t, "^TestEverySchedule$", mutants...)
		conformance.TestMutants(t, "^TestSuppressedPassesTheBound$", costlyMutants...)
		conformance.TestMutants(t, "^TestPlanesCompete$", competingMutants...)
		return
	}
	for _, m := range slices.Concat(mutants, costlyMutants, competingMutants) {
		checkApplies(t, m)
	}
}

// checkApplies fails t where a mutant's patch does not apply.
func checkApplies(t *testing.T, m conformance.Mutant) {
	t.Helper()
	source, err := os.ReadFile(m.File)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), m.Old); n != 1 {
		t.Errorf("%s: the patch does not apply: %d places in %s", m.Name, n, m.File)
	}
}
