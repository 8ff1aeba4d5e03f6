package raymond

import (
	"testing"

	"dmebench/dme/conformance"
	"dmebench/internal/check"
)

// Every schedule of a few requests, on links that need not keep order, keeps all of the
// rules and ends with every request served.
func TestEverySchedule(t *testing.T) {
	for _, c := range []struct {
		nodes, requests int
		tree            string
	}{
		{3, 6, "line"},
		{4, 6, "binary"},
		{4, 6, "star"},
		{5, 5, "line"},
	} {
		r, err := check.Exhaustive(t.Context(), Algorithm(), check.Options{
			Nodes: c.nodes, Requests: c.requests, Set: map[string]string{"tree": c.tree}, Unordered: true,
		})
		if err == nil {
			err = r.Err()
		}
		if err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Nor does any of some random schedules of larger systems break a rule, or starve a node.
func TestRandomSchedules(t *testing.T) {
	for _, tree := range []string{"binary", "line", "star"} {
		for _, nodes := range []int{3, 8} {
			o := check.Defaults(Algorithm(), nodes, map[string]string{"tree": tree})
			o.Schedules = 300
			r, err := check.Random(t.Context(), Algorithm(), o)
			if err == nil {
				err = r.Err()
			}
			if err != nil {
				t.Errorf("%d nodes, %s: %v", nodes, tree, err)
			}
		}
	}
}

// Each mutant is the algorithm with one of its rules taken out.
func TestSearchMutants(t *testing.T) {
	if !*full {
		t.Skip("needs -full")
	}
	conformance.TestMutants(t, "^Test(EverySchedule|RandomSchedules)$",
		conformance.Mutant{
			Name: "the privilege leaves while it is used", File: "raymond.go",
			Old: "if n.holder != n.self || n.using || n.requestQ.Empty() {",
			New: "if n.holder != n.self || n.requestQ.Empty() {", Caught: conformance.Unsafe,
		},
		conformance.Mutant{
			Name: "ASKED is not cleared", File: "raymond.go",
			Old: "\tn.asked = false\n",
			New: "", Caught: "stalled: ",
		},
		conformance.Mutant{
			Name: "no REQUEST after the PRIVILEGE is passed on", File: "raymond.go",
			Old: "\tn.holder = n.self\n\tn.assignPrivilege(out)\n\tn.makeRequest(out)\n",
			New: "\tn.holder = n.self\n\tn.assignPrivilege(out)\n", Caught: "stalled: ",
		},
	)
}
