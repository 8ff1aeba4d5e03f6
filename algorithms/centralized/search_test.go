package centralized_test

import (
	"flag"
	"testing"

	"dmebench/algorithms/centralized"
	"dmebench/dme/conformance"
	"dmebench/internal/check"
)

var full = flag.Bool("full", false, "build mutants, and expect the searches to fail")

// Every schedule of a few requests, on links that need not keep order, keeps all of the
// rules and ends with every request served.
func TestEverySchedule(t *testing.T) {
	for _, c := range []struct {
		nodes, requests int
	}{
		{1, 3},
		{2, 6},
		{3, 6},
		{4, 5},
	} {
		r, err := check.Exhaustive(t.Context(), centralized.Algorithm(), check.Options{
			Nodes: c.nodes, Requests: c.requests, Unordered: true,
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
	for _, nodes := range []int{2, 5, 9} {
		o := check.Defaults(centralized.Algorithm(), nodes, nil)
		o.Schedules = 300
		r, err := check.Random(t.Context(), centralized.Algorithm(), o)
		if err == nil {
			err = r.Err()
		}
		if err != nil {
			t.Errorf("%d nodes: %v", nodes, err)
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
			Name: "granted while another has the resource", File: "centralized.go",
			Old: "if s.holder != dme.None || s.queue.Empty() {", New: "if s.queue.Empty() {", Caught: conformance.Unsafe,
		},
		conformance.Mutant{
			Name: "a RELEASE grants nothing", File: "centralized.go",
			Old: "\t\ts.holder = dme.None\n\t\ts.grant(out)\n", New: "\t\ts.holder = dme.None\n", Caught: "stalled: ",
		},
		conformance.Mutant{
			Name: "who was granted counts as waiting", File: "centralized.go",
			Old: "\ts.queued.Remove(s.holder)\n", New: "", Caught: "stalled: ",
		},
	)
}
