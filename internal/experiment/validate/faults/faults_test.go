package faults

import (
	"context"
	"strings"
	"testing"

	"dmebench/algorithms"
	"dmebench/claims"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/internal/runtime/run"
	"dmebench/internal/sim"
	"dmebench/internal/testkit"
	"dmebench/report/survival"
	"dmebench/runs"
)

func options(t *testing.T, names ...string) Options {
	t.Helper()
	o := Options{
		Catalog: algorithms.All(), Networks: []string{runs.Sim}, Nodes: 5, Repetitions: 3, Seed: 1, Schedules: 300, States: 20_000,
		Run: func(ctx context.Context, j *run.Job, _ func()) (*runs.Result, error) { return sim.Run(ctx, j) },
	}
	for _, name := range names {
		a, err := o.Catalog.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		o.Algorithms = append(o.Algorithms, a)
	}
	return o
}

// What is known of these algorithms comes out: whom a crash stops, whom loss
// makes unsafe, and who goes on.
func TestTable(t *testing.T) {
	o := options(t, "centralized", "lamport", "raymond-robust", "ricart-agrawala-robust")
	reports := 0
	o.Progress = func(done, planned int, _ string) {
		if reports++; planned != 4*len(Kinds()) || done > planned {
			t.Errorf("%d of %d", done, planned)
		}
	}
	d, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	words := make(map[string]survival.Cell)
	for _, c := range d.Cells {
		words[c.Algorithm+" "+c.Fault] = c
		if want := map[bool]int{false: 6, true: 3}[c.Fault == "crash-idle"]; c.WhyNot == "" && (c.Runs != want || c.Struck == 0) {
			t.Errorf("%s, %s: struck in %d of %d runs", c.Algorithm, c.Fault, c.Struck, c.Runs)
		}
	}
	for cell, want := range map[string]string{
		"centralized crash-root": "stops", "centralized pause": "goes on", "centralized crash-token": "–",
		"lamport loss": "unsafe", "lamport crash-holder": "stops",
		"raymond-robust crash-holder": "stops", "raymond-robust restart": "goes on",
		"ricart-agrawala-robust crash": "goes on", "ricart-agrawala-robust restart": "goes on",
	} {
		if got := words[cell].Word(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s; want %s", cell, got, want)
		}
	}
	stopped := words["centralized crash-root"]
	if !strings.Contains(stopped.Witness, "--fault 'kill root @entry:20'") || len(stopped.Why) == 0 {
		t.Errorf("the witness of a stop: %q, %q", stopped.Witness, stopped.Why)
	}
	if r := words["ricart-agrawala-robust crash-holder"].Recovery; r == nil || r.Median <= 0 || r.Count != 3 {
		t.Errorf("recovery: %+v", r)
	}
	if reports != len(d.Cells)+1 {
		t.Errorf("progress was told %d times for %d cells", reports, len(d.Cells))
	}
	verdicts := make(map[string]claims.Status)
	for _, v := range d.Claims {
		verdicts[v.ID] = v.Verdict
	}
	for _, id := range []string{
		"raymond-robust/violations/faults/exact", "raymond-robust/unserved/faults/exact", "ricart-agrawala-robust/unserved/faults/exact",
		"raymond-robust/advise-per-restart/faults/upper-bound",
	} {
		if verdicts[id] != claims.Holds {
			t.Errorf("%s: %q", id, verdicts[id])
		}
	}
}

// A text that claims too much is found out.
func TestFalseClaims(t *testing.T) {
	o := options(t, "centralized")
	boastful := *o.Algorithms[0]
	boastful.Survives = dme.SurvivesAny
	boastful.Claims = claim.List{{
		Quantity: claim.Unserved, Formula: "0", Load: claim.Faults, Kind: claim.Exact, Source: "nobody",
	}}
	o.Catalog = run.Catalog{&boastful}
	o.Algorithms = []*dme.Algorithm{&boastful}
	d, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Claims) != 1 || d.Claims[0].Verdict != claims.Fails {
		t.Errorf("%+v", d.Claims)
	}
}

// A standstill hides nothing: where two nodes are inside after it, or under the other load,
// or on links that lose a single message while they are parted, the algorithm is unsafe. The
// command of a cell shows it.
func TestUnsafeBehindAStandstill(t *testing.T) {
	if !testkit.Long() {
		t.Skip("many schedules are searched")
	}
	o := options(t, "centralized", "raymond", "ricart-agrawala-implicit", "lamport")
	o.Nodes = 7
	d, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	cells := make(map[string]survival.Cell)
	for _, c := range d.Cells {
		cells[c.Algorithm+" "+c.Fault] = c
	}
	for _, name := range []string{"centralized duplication", "raymond duplication", "lamport partition"} {
		c := cells[name]
		if c.Safe != survival.No || c.SafeBy != survival.BySearch || !strings.Contains(c.Search.Verdict, "two nodes are in") {
			t.Errorf("%s: safe %s by %s; %+v", name, c.Safe, c.SafeBy, c.Search)
		}
		if c.Live == survival.No && !strings.Contains(c.Search.Witness, "--safety-only") {
			t.Errorf("%s: %s", name, c.Search.Witness)
		}
	}
	if c := cells["ricart-agrawala-implicit pause"]; c.Unsafe != 3 || c.SafeBy != survival.ByRuns || !strings.Contains(c.Witness, "poisson") {
		t.Errorf("a pause is seen under light load alone: %d of %d runs unsafe, %s", c.Unsafe, c.Runs, c.Witness)
	}
	for name, want := range map[string][2]survival.Evidence{
		"raymond pause": {survival.ByStates, survival.ByStates}, "raymond crash-idle": {survival.ByStates, survival.ByRuns},
		"ricart-agrawala-implicit crash-idle": {survival.BySchedules, survival.ByRuns},
		"lamport pause":                       {survival.BySchedules, survival.BySchedules},
		"centralized crash":                   {survival.ByStates, survival.ByRuns},
	} {
		if c := cells[name]; c.SafeBy != want[0] || c.LiveBy != want[1] {
			t.Errorf("%s: by %s and %s; want %s", name, c.SafeBy, c.LiveBy, want)
		}
	}
	if only := cells["ricart-agrawala-implicit reordering"].Only; len(only) == 0 || !strings.Contains(only[0], "bound") {
		t.Errorf("conditions %q", only)
	}
}

// Recovery needs links that keep order, though nothing else of the algorithm does.
func TestSafeWithoutCrashesAlone(t *testing.T) {
	if !testkit.Long() {
		t.Skip("many schedules are searched")
	}
	o := options(t, "raymond-robust")
	o.States = 50_000
	d, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	c := d.Cells[len(d.Cells)-1]
	if c.Fault != "reordering" || c.Safe != survival.Yes || len(c.Only) != 1 || !strings.Contains(c.Only[0], "--faults 1") {
		t.Errorf("%s: safe %s, %q", c.Fault, c.Safe, c.Only)
	}
}
