package chaudhurikaraata

import (
	"testing"

	judge "dmebench/claims"
	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/runtime/run"
	"dmebench/internal/sim"
	"dmebench/internal/testkit"
	"dmebench/runs"
)

// Theorem 1: no request starves. All nodes ask all the time, and of three planes the one
// in the middle has two neighbours.
func TestNobodyStarves(t *testing.T) {
	const nodes = 27
	a := Algorithm()
	spec := runs.Spec{
		Algorithm: a.Name, Nodes: nodes, Transport: runs.Sim, Workload: "saturate", CS: "100us", Requests: 60 * nodes, Seed: 1,
	}
	job, err := run.Resolve(spec, run.Catalog{a}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(t.Context(), job)
	if err != nil || r.Status != runs.OK {
		t.Fatal(r, err)
	}
	bound := dme.OvertakingBound(a.Claims, dme.Setting{Nodes: nodes, Options: job.Options, System: job.System}, true)
	if line := judge.Starved(bound, r); line != "" {
		t.Error(line)
	}
	if len(r.Warnings) > 0 {
		t.Errorf("warnings %q", r.Warnings)
	}
}

// Without CR3 every request is served in the end, and two nodes are never in the critical
// section together: only who looks at overtaking finds out.
var starvingMutants = []conformance.Mutant{
	{
		Name: "CR3, who comes meanwhile is served too", File: "repaired.go",
		Old: "\tcase c.batch > 0: // CR3\n\t\tc.batch--\n", New: "\tcase len(c.own) > 0:\n\t\tc.batch = max(c.batch-1, 0)\n",
		More:   [][2]string{{"\tcase len(c.own) > 0:\n\t\tc.serveOwn(out)\n\t}\n", "\t}\n"}},
		Caught: "starv",
	},
	{
		Name: "CR3, other planes first", File: "repaired.go",
		Old: "\tcase c.batch > 0: // CR3\n", New: "\tcase c.batch > 0 && len(c.pl) == 0:\n", Caught: "starv",
	},
}

// Both a simulated run and the conformance suite find each of them; a quick test sees
// only that the patches still apply.
func TestStarvationIsNoticed(t *testing.T) {
	if testkit.Full() {
		conformance.TestMutants(t, "^TestNobodyStarves$", starvingMutants...)
		conformance.TestMutants(t, "^TestConformance$/^chaudhuri-karaata$/dimensions=3,mesh=auto,repair=numbered", starvingMutants...)
		return
	}
	for _, m := range starvingMutants {
		checkApplies(t, m)
	}
}
