package tokenring

import (
	"flag"
	"testing"

	"dmebench/dme/conformance"
	"dmebench/internal/check"
)

var full = flag.Bool("full", false, "build mutants, and expect the searches to fail")

// Every schedule of a few requests, on links that need not keep order, keeps all of the
// rules and ends with every request served.
func TestEverySchedule(t *testing.T) {
	for _, c := range []struct {
		nodes, requests int
		mode            string
	}{
		{2, 6, "perpetual"},
		{3, 5, "perpetual"},
		{3, 6, "demand"},
		{5, 6, "demand"},
	} {
		r, err := check.Exhaustive(t.Context(), Algorithm(), check.Options{
			Nodes: c.nodes, Requests: c.requests, Set: map[string]string{"mode": c.mode}, Unordered: true,
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
	for _, mode := range []string{"perpetual", "demand"} {
		for _, nodes := range []int{2, 7} {
			o := check.Defaults(Algorithm(), nodes, map[string]string{"mode": mode})
			o.Schedules = 300
			r, err := check.Random(t.Context(), Algorithm(), o)
			if err == nil {
				err = r.Err()
			}
			if err != nil {
				t.Errorf("%d nodes, %s: %v", nodes, mode, err)
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
			Name: "demand, the token leaves while it is used", File: "demand.go",
			Old: "if d.token && !d.executing {", New: "if d.token {", Caught: conformance.Unsafe,
		},
		conformance.Mutant{
			Name: "demand, a second request is never sent", File: "demand.go",
			Old: "\td.asked = false\n", New: "", Caught: "stalled: ",
		},
		conformance.Mutant{
			Name: "perpetual, the token passes who waits", File: "perpetual.go",
			Old: "\tif p.waiting {\n\t\tp.grab(out)", New: "\tif p.waiting && m.Num > 0 {\n\t\tp.grab(out)", Caught: "no entry",
		},
	)
}
