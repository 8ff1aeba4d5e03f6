package mutation

import "strings"

// Group is a part of the program that is tested together.
type Group struct {
	Name     string
	Packages []string // into which faults are planted; a pattern `x/...` is all below x
	Not      []string // packages among them that are left alone
	// Tests are the packages whose tests may notice, in this order, after those of a
	// mutant's own package.
	Tests []string
}

// Groups are the parts of this program that tell what is right, and what they tell it
// of.
var Groups = []Group{
	{
		Name: "algorithms", Packages: []string{"algorithms/..."}, Not: []string{"algorithms/catalog"},
		Tests: []string{"algorithms/catalog", "internal/trace", "internal/check", "internal/sim"},
	},
	{
		Name: "network", Packages: []string{"dme", "dme/vnet"},
		Tests: []string{"dme", "dme/conformance", "dme/vnet", "algorithms/raymond", "internal/trace", "internal/check", "internal/sim"},
	},
	{Name: "sim", Packages: []string{"internal/sim", "workload/fault"}, Tests: []string{"internal/validate"}},
	{Name: "measure", Packages: []string{"internal/measure"}, Tests: []string{"internal/sim", "internal/validate"}},
	{Name: "statistics", Packages: []string{"report/stats"}, Tests: []string{"claims", "report/rank", "report/compare", "report"}},
	{Name: "claims", Packages: []string{"claims"}, Tests: []string{"internal/validate"}},
	{Name: "explorer", Packages: []string{"internal/check"}, Tests: []string{"internal/commandline"}},
}

// Has reports whether faults are planted into a package of the module, such as
// `internal/sim`.
func (g Group) Has(folder string) bool {
	return matches(g.Packages, folder) && !matches(g.Not, folder)
}

func matches(patterns []string, folder string) bool {
	for _, p := range patterns {
		if below, ok := strings.CutSuffix(p, "/..."); ok && strings.HasPrefix(folder, below+"/") || p == folder {
			return true
		}
	}
	return false
}
