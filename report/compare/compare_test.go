package compare_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dmebench/report/compare"
	"dmebench/report/plots"
	"dmebench/runs"
)

// ran is the result of one repetition, with a response time as its measure.
func ran(algorithm string, n, repetition int, response float64) runs.Run {
	perCS := float64(2 * (n - 1))
	return runs.Run{Label: algorithm, Repetition: repetition, Result: &runs.Result{
		SchemaVersion: runs.SchemaVersion, Algorithm: algorithm, Nodes: n, Transport: "tcp", Workload: "saturate",
		Seed: uint64(repetition), Status: runs.OK, Entries: 100, Requests: 100,
		Messages:     runs.Messages{PerCS: &perCS},
		ResponseTime: &runs.Quantiles{Count: 100, P50: int64(response), P99: int64(2 * response)},
		Environment:  map[string]string{"kernel": "6.1", "load_average": fmt.Sprint(repetition)},
		Spec: runs.Spec{
			Algorithm: algorithm, Nodes: n, Transport: "tcp", Workload: "saturate", CS: "100us", Requests: 50 * n,
			Seed: uint64(repetition), NodesPerWorker: 1, Warmup: "auto", StallAfter: runs.Duration(1e10),
		},
	}}
}

// sample is repetitions around a mean of 1 ms with a normal variation.
func sample(rng *rand.Rand, repetitions int, factor, variation float64) []runs.Run {
	var runs []runs.Run
	for i := range repetitions {
		runs = append(runs, ran("maekawa", 7, i+1, 1e6*factor*(1+variation*rng.NormFloat64())))
	}
	return runs
}

func sides(a, b []runs.Run) (*runs.Set, *runs.Set) {
	return &runs.Set{Path: "old", Runs: a}, &runs.Set{Path: "new", Runs: b}
}

func compared(t *testing.T, a, b []runs.Run, opt compare.Options) *compare.Comparison {
	t.Helper()
	x, y := sides(a, b)
	c, err := compare.Compare(x, y, opt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func table(t *testing.T, c *compare.Comparison, metric string) compare.Table {
	t.Helper()
	i := slices.IndexFunc(c.Tables, func(t compare.Table) bool { return t.Metric == metric })
	if i < 0 {
		t.Fatalf("there is no table of %s", metric)
	}
	return c.Tables[i]
}

const p50 = "response_time_p50_ns"

// Equal sides raise an alarm in about one case of twenty, and a slowdown of 5%
// is found where repetitions vary by 2%.
func TestAlarmsAndPower(t *testing.T) {
	const pairs = 1000
	rng := rand.New(rand.NewPCG(2026, 11))
	alarms, found := 0, 0
	opt := compare.Options{Metrics: []string{p50}}
	for range pairs {
		if table(t, compared(t, sample(rng, 10, 1, 0.02), sample(rng, 10, 1, 0.02), opt), p50).Rows[0].Significant {
			alarms++
		}
		r := table(t, compared(t, sample(rng, 10, 1, 0.02), sample(rng, 10, 1.05, 0.02), opt), p50).Rows[0]
		if r.Significant && *r.Change > 0 {
			found++
		}
	}
	// Exactly, the test's level is 4.3% with ten repetitions.
	if alarms > 65 || alarms < 20 {
		t.Errorf("%d alarms of %d, want at most 6.5%%, and about 4.3%%", alarms, pairs)
	}
	if found < 900 {
		t.Errorf("a slowdown of 5%% was found in %d of %d, want at least 90%%", found, pairs)
	}
}

func TestRowsSayWhatWasMeasured(t *testing.T) {
	var a, b []runs.Run
	for i := range 6 {
		for _, n := range []int{3, 7} {
			a = append(a, ran("maekawa", n, i+1, float64(1000*n+i)))
			b = append(b, ran("maekawa", n, i+1, float64(2000*n+i)))
		}
	}
	c := compared(t, a, b, compare.Options{})
	response := table(t, c, p50)
	if len(response.Rows) != 2 {
		t.Fatalf("%d rows", len(response.Rows))
	}
	r := response.Rows[0]
	if *r.A.Median != 3002.5 || *r.B.Median != 6002.5 || *r.A.Lo != 3000 || *r.A.Hi != 3005 || r.A.N != 6 {
		t.Errorf("%+v against %+v", r.A, r.B)
	}
	if want := 3000 / 3002.5; math.Abs(*r.Change-want) > 1e-12 || !r.Significant || math.Abs(*r.P-2.0/924) > 1e-9 {
		t.Errorf("change %v, p %v, significant %v", *r.Change, *r.P, r.Significant)
	}
	want := math.Sqrt(6002.5*14002.5)/math.Sqrt(3002.5*7002.5) - 1
	if m := response.Mean; m == nil || m.Cells != 2 || math.Abs(m.Change-want) > 1e-12 {
		t.Errorf("geometric mean %+v, want a change of %v", m, want)
	}
	// All messages are equal: no change, and no test that could raise an alarm.
	if r := table(t, c, "messages_per_cs").Rows[1]; r.Significant || *r.P != 1 || *r.Change != 0 || *r.A.Median != 12 {
		t.Errorf("messages %+v", r)
	}
	if c.A.Runs != 12 || c.A.Used != 12 || len(c.OnlyA)+len(c.OnlyB) != 0 {
		t.Errorf("%+v, %+v", c.A, c)
	}
	if b, err := json.Marshal(c); err != nil || strings.Contains(string(b), "null") {
		t.Errorf("everything is known, and nothing is null: %s, %v", b, err)
	}
	for _, metric := range []string{"throughput_cs_per_s", "sync_delay_p50_ns"} {
		if slices.ContainsFunc(c.Tables, func(t compare.Table) bool { return t.Metric == metric }) {
			t.Errorf("%s was not measured", metric)
		}
	}
}

// A median of zero has no part in a geometric mean, and does not spoil it.
func TestGeometricMeanOfPositiveMedians(t *testing.T) {
	var a, b []runs.Run
	for i := range 6 {
		for _, n := range []int{1, 3, 7} {
			x, y := ran("maekawa", n, i+1, 1000), ran("maekawa", n, i+1, 1000)
			if n == 1 {
				*y.Result.Messages.PerCS = 1
			}
			a, b = append(a, x), append(b, y)
		}
	}
	table := table(t, compared(t, a, b, compare.Options{}), "messages_per_cs")
	if m := table.Mean; len(table.Rows) != 3 || m == nil || m.Cells != 2 || math.Abs(m.A-math.Sqrt(4*12)) > 1e-12 || m.Change != 0 {
		t.Errorf("%d rows, geometric mean %+v", len(table.Rows), m)
	}
}

// The other way round the change is the other way round, and p is the same.
func TestComparisonIsSymmetric(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		a, b := sample(rng, 7, 1, 0.1), sample(rng, 10, 1.05, 0.1)
		there := table(t, compared(t, a, b, compare.Options{}), p50).Rows[0]
		back := table(t, compared(t, b, a, compare.Options{}), p50).Rows[0]
		if *there.P != *back.P || math.Abs((1+*there.Change)*(1+*back.Change)-1) > 1e-12 {
			t.Errorf("p %v and %v, change %v and %v", *there.P, *back.P, *there.Change, *back.Change)
		}
	}
}

// Every limit of an answer is data, and stands below the tables once.
func TestNotes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	a, b := sample(rng, 10, 1, 0.02), sample(rng, 5, 1, 0.02)
	a[0].Result.Status, a[1].Result.Status = runs.Stalled, runs.Failed
	a[2].Result.Safety.Violations = 1
	for _, r := range b {
		r.Result.Environment = map[string]string{"kernel": "6.2"}
	}
	a = append(a, ran("raymond", 3, 1, 1))
	b = append(b, ran("raymond", 31, 1, 1), ran("raymond", 57, 1, 1))
	c := compared(t, a, b, compare.Options{Metrics: []string{p50, "jain_index"}})
	row := table(t, c, p50).Rows[0]
	if row.A.N != 7 || row.B.N != 5 || row.B.Lo != nil || row.A.Lo == nil {
		t.Errorf("%+v against %+v", row.A, row.B)
	}
	if c.A.Runs != 11 || c.A.Used != 8 {
		t.Errorf("A is %+v", c.A)
	}
	if len(c.OnlyA) != 1 || len(c.OnlyB) != 2 || c.OnlyA[0].Settings["nodes"] != "3" {
		t.Errorf("only in A %v, only in B %v", c.OnlyA, c.OnlyB)
	}
	var text strings.Builder
	if err := c.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"A: old, 11 runs, of which 8 ended well\n",
		"note: A: 1 of 10 runs ended as stalled and are left out (1 cell)\n",
		"note: A: 1 of 10 runs ended as failed and are left out (1 cell)\n",
		"note: A: 1 of 10 runs ended as violated and are left out (1 cell)\n",
		"note: need >= 6 samples for confidence interval at level 0.95 (1 cell)\n",
		"note: cells that are in A alone: 1\n", "note: cells that are in B alone: 2\n",
		"note: no run of a common cell has jain_index\n",
		"note: the environments differ: kernel is 6.1 in A and 6.2 in B\n",
	} {
		if strings.Count(text.String(), want) != 1 {
			t.Errorf("%q does not stand once in\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "load_average") {
		t.Error("the load of the moment counts as a difference")
	}
}

// Ten runs of one simulation with one seed are one run.
func TestRepeatedSimulationsAreOneSample(t *testing.T) {
	simulated := func(seeds ...int) []runs.Run {
		var runs []runs.Run
		for _, seed := range seeds {
			r := ran("maekawa", 7, seed, float64(1000+seed))
			r.Result.Transport, r.Result.Spec.Transport = "sim", "sim"
			runs = append(runs, r)
		}
		return runs
	}
	c := compared(t, simulated(1, 1, 1, 2, 2, 3), simulated(1, 2, 3), compare.Options{})
	row := table(t, c, p50).Rows[0]
	if row.A.N != 3 || row.B.N != 3 || !strings.Contains(row.Notes[0], "3 simulations repeat the seed") {
		t.Errorf("n = %d and %d, notes %q", row.A.N, row.B.N, row.Notes)
	}
}

// A side whose runs all ended badly has no figures, and this is said.
func TestNothingUsable(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	a, b := sample(rng, 6, 1, 0.02), sample(rng, 6, 1, 0.02)
	for _, r := range b {
		r.Result.Status = runs.Stalled
	}
	c := compared(t, a, b, compare.Options{Metrics: []string{p50}})
	row := table(t, c, p50).Rows[0]
	if row.P != nil || row.Change != nil || row.B.Median != nil || row.Significant || len(row.Notes) < 2 {
		t.Errorf("%+v", row)
	}
	if b, err := json.Marshal(c); err != nil || !strings.Contains(string(b), `"median":null`) {
		t.Errorf("%s, %v", b, err)
	}
	for _, f := range c.Figures() {
		if _, err := f.Render(plots.SVG); err != nil {
			t.Error(err)
		}
	}
}

func TestCellsAreMatchedByWhatTheyWereAskedToDo(t *testing.T) {
	base := ran("maekawa", 7, 1, 1000)
	change := func(f func(*runs.Spec)) runs.Run {
		r := ran("maekawa", 7, 2, 1000)
		f(&r.Result.Spec)
		r.Result.Algorithm, r.Result.Nodes, r.Result.Transport = r.Result.Spec.Algorithm, r.Result.Spec.Nodes, r.Result.Spec.Transport
		return r
	}
	for _, c := range []struct {
		name string
		b    runs.Run
		says string // what differs; "" where nothing that matters does
	}{
		{"seed", change(func(s *runs.Spec) { s.Seed = 77 }), ""},
		{"time-out", change(func(s *runs.Spec) { s.StallAfter, s.Listen = 5, "127.0.0.1:1" }), ""},
		{"algorithm", change(func(s *runs.Spec) { s.Algorithm = "raymond" }), "algorithm is maekawa in A and raymond in B"},
		{"option", change(func(s *runs.Spec) { s.Set = map[string]string{"quorum": "grid"} }),
			"set is not given in A and quorum=grid in B"},
		{"nodes", change(func(s *runs.Spec) { s.Nodes = 13 }), "nodes is 7 in A and 13 in B"},
		{"transport", change(func(s *runs.Spec) { s.Transport = "udp" }), "transport is tcp in A and udp in B"},
		{"workload", change(func(s *runs.Spec) { s.Workload = "serial" }), "workload is saturate in A and serial in B"},
		{"cs", change(func(s *runs.Spec) { s.CS = "1ms" }), "cs is 100us in A and 1ms in B"},
		{"rate", change(func(s *runs.Spec) { s.Rate = 5 }), "rate is not given in A and 5 in B"},
		{"total_rate", change(func(s *runs.Spec) { s.TotalRate = 5 }), "total_rate is not given in A and 5 in B"},
		{"requests", change(func(s *runs.Spec) { s.Requests = 7 }), "requests is 350 in A and 7 in B"},
		{"duration", change(func(s *runs.Spec) { s.Duration = 1e9 }), "duration is not given in A and 1s in B"},
		{"placement", change(func(s *runs.Spec) { s.NodesPerWorker = 7 }), "nodes_per_worker is 1 in A and 7 in B"},
		{"warm-up", change(func(s *runs.Spec) { s.Warmup = "10" }), "warmup is auto in A and 10 in B"},
	} {
		x, y := sides([]runs.Run{base}, []runs.Run{c.b})
		got, err := compare.Compare(x, y, compare.Options{})
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%s: compared as %+v", c.name, got.Tables)
			continue
		}
		dimension, _, _ := strings.Cut(c.says, " ")
		if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "--across "+dimension) {
			t.Errorf("%s: %v, want %q and the flag", c.name, err, c.says)
		}
		if got, err = compare.Compare(x, y, compare.Options{Across: []string{dimension}}); err != nil || len(got.Tables[0].Rows) != 1 {
			t.Errorf("%s: across %s: %+v, %v", c.name, dimension, got, err)
		}
	}
}

// What is in both, but in other combinations, is nothing in common.
func TestNoCombinationInCommon(t *testing.T) {
	x, y := sides(
		[]runs.Run{ran("maekawa", 3, 1, 1), ran("raymond", 7, 1, 1)},
		[]runs.Run{ran("maekawa", 7, 1, 1), ran("raymond", 3, 1, 1)})
	for _, r := range append(x.Runs, y.Runs...) {
		r.Result.Spec.Requests = 100
	}
	if _, err := compare.Compare(x, y, compare.Options{}); err == nil || !strings.Contains(err.Error(), "no combination") {
		t.Errorf("%v", err)
	}
}

func TestAcrossRefusesWhatIsAmbiguous(t *testing.T) {
	x, y := sides([]runs.Run{ran("maekawa", 7, 1, 1), ran("raymond", 7, 1, 1)}, []runs.Run{ran("lamport", 7, 1, 1)})
	_, err := compare.Compare(x, y, compare.Options{Across: []string{"algorithm"}})
	if err == nil || !strings.Contains(err.Error(), "maekawa and raymond") {
		t.Errorf("%v", err)
	}
	x.Runs = x.Runs[:1]
	c := compared(t, x.Runs, y.Runs, compare.Options{Across: []string{"algorithm"}})
	if want := "compared across algorithm: maekawa in A, lamport in B"; !slices.Contains(c.Notes, want) {
		t.Errorf("notes %q lack %q", c.Notes, want)
	}
	if label := c.Tables[0].Rows[0].Cell.Label; label != "maekawa → lamport" {
		t.Errorf("label %q", label)
	}
	if f := c.Figures()[0]; f.Series[0].Label != "A: maekawa" || f.Series[1].Label != "B: lamport" {
		t.Errorf("series %q and %q", f.Series[0].Label, f.Series[1].Label)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	x, y := sides([]runs.Run{ran("maekawa", 7, 1, 1)}, []runs.Run{ran("maekawa", 7, 1, 1)})
	for _, c := range []struct {
		opt  compare.Options
		says string
	}{
		{compare.Options{Alpha: -1}, "between 0 and 1"},
		{compare.Options{Alpha: 1}, "between 0 and 1"},
		{compare.Options{Alpha: math.NaN()}, "between 0 and 1"},
		{compare.Options{Metrics: []string{"speed"}}, "there are bypass, jain, messages"},
		{compare.Options{Across: []string{"colour"}}, "there are algorithm, set"},
	} {
		if _, err := compare.Compare(x, y, c.opt); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.opt, err, c.says)
		}
	}
}

// A figure holds three labels at most, and A and B of each.
func TestFigures(t *testing.T) {
	var a, b []runs.Run
	for i := range 6 {
		for _, n := range []int{3, 7, 13} {
			for k, name := range []string{"maekawa", "raymond", "lamport", "singhal"} {
				a = append(a, ran(name, n, i+1, float64((k+1)*1000*n+i)))
				b = append(b, ran(name, n, i+1, float64((k+1)*1100*n+i)))
			}
		}
	}
	c := compared(t, a, b, compare.Options{Metrics: []string{p50}})
	figures := c.Figures()
	if len(figures) != 2 || len(figures[0].Series) != 6 || len(figures[1].Series) != 2 {
		t.Fatalf("%d figures", len(figures))
	}
	if figures[0].Name == figures[1].Name {
		t.Error("two figures have one name")
	}
	if f := figures[0]; f.Title != "Response time p50" ||
		f.Subtitle != "tcp · saturate · cs 100us · 50 requests per node · A is old, B is new" {
		t.Errorf("%q, %q", f.Title, f.Subtitle)
	}
	s := figures[0].Series[0]
	if len(s.Points) != 3 || s.Points[1].X != 7 || s.Points[1].Y != 7002.5 || s.Points[1].Lo != 7000 || s.Points[1].Hi != 7005 {
		t.Errorf("points %+v", s.Points)
	}
	drawn, err := figures[0].Render(plots.SVG)
	if err != nil || !strings.Contains(string(drawn[plots.SVG]), "A: maekawa") {
		t.Errorf("%v", err)
	}
	if c.Across = []string{"nodes"}; c.Figures() != nil {
		t.Error("a figure over nodes that differ")
	}
}
