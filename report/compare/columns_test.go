package compare_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dmebench/internal/platform/terminal"
	"dmebench/report/compare"
	"dmebench/runs"
)

// within is six repetitions of two algorithms on two sizes; lamport takes twice as long.
func within() *runs.Set {
	set := &runs.Set{Path: "results"}
	for i := range 6 {
		for _, n := range []int{3, 7} {
			set.Runs = append(set.Runs, ran("maekawa", n, i+1, float64(1000*n+i)), ran("lamport", n, i+1, float64(2000*n+i)))
		}
	}
	return set
}

func beside(t *testing.T, set *runs.Set, dimension, base string, opt compare.Options) *compare.Columns {
	t.Helper()
	c, err := compare.Beside(set, dimension, base, opt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Each row has a column for each algorithm, and each is compared with the first as
// two result sets would be.
func TestColumns(t *testing.T) {
	c := beside(t, within(), "algorithm", "", compare.Options{Metrics: []string{p50}})
	if !slices.Equal(c.Names, []string{"maekawa", "lamport"}) || len(c.Tables) != 1 || len(c.Tables[0].Rows) != 2 {
		t.Fatalf("%+v", c)
	}
	row := c.Tables[0].Rows[1]
	if row.Nodes != 7 || row.Title != "tcp · saturate · CS 100 µs · 50 requests per node" {
		t.Errorf("%+v", row)
	}
	x := row.Columns[1]
	if base := row.Columns[0]; base.P != nil || *base.Median != 7002.5 || *x.Median != 14002.5 || x.N != 6 {
		t.Errorf("%+v against %+v", x, base)
	}
	if !x.Significant || math.Abs(*x.P-2.0/924) > 1e-12 || math.Abs(*x.Change-7000/7002.5) > 1e-12 {
		t.Errorf("p %v, change %v", *x.P, *x.Change)
	}
	if c := beside(t, within(), "algorithm", "lamport", compare.Options{Metrics: []string{p50}}); c.Names[0] != "lamport" ||
		*c.Tables[0].Rows[0].Columns[1].Change > -0.49 {
		t.Errorf("with another base: %q, %+v", c.Names, c.Tables[0].Rows[0])
	}
	if b, err := json.Marshal(c); err != nil || !strings.Contains(string(b), `"column":"algorithm"`) {
		t.Errorf("%s, %v", b, err)
	}
}

// What belongs to the columns tells no rows apart: how many requests there are on so
// many nodes, and what the networks are given.
func TestColumnsOfOtherDimensions(t *testing.T) {
	c := beside(t, within(), "nodes", "", compare.Options{Metrics: []string{p50}})
	if !slices.Equal(c.Names, []string{"3", "7"}) || len(c.Tables[0].Rows) != 2 || c.Tables[0].Rows[0].Label != "maekawa" {
		t.Errorf("nodes: %q, %+v", c.Names, c.Tables[0].Rows)
	}
	set := within()
	set.Header.Experiment.Transports = []runs.Entry{
		{Name: "sim", Label: "slow", Set: map[string]string{"t": "2ms"}}, {Name: "sim", Label: "fast", Set: map[string]string{"t": "1ms"}},
	}
	for i := range set.Runs {
		e := set.Header.Experiment.Transports[i%4/2]
		r := &set.Runs[i]
		r.Transport, r.Result.Nodes, r.Result.Spec.Nodes, r.Result.Spec.Requests = e.Label, 3, 3, 150
		r.Result.Transport, r.Result.Spec.Transport, r.Result.Spec.Set = e.Name, e.Name, e.Set
	}
	c = beside(t, set, "transport", "", compare.Options{Metrics: []string{p50}})
	if !slices.Equal(c.Names, []string{"slow", "fast"}) || len(c.Tables[0].Rows) != 2 || c.Tables[0].Rows[0].Columns[1].N != 6 {
		t.Errorf("networks: %q, %+v", c.Names, c.Tables[0].Rows)
	}
}

// Side by side where there is room, else one below the other.
func TestColumnsFitTheWidth(t *testing.T) {
	c := beside(t, within(), "algorithm", "", compare.Options{Metrics: []string{p50}})
	for width, want := range map[int]string{
		0:  "N=3  3.002 µs ± 0%  6.003 µs ± 0%  +99.92% (p=0.002 n=6)",
		60: "lamport  6.003 µs ± 0%  +99.92%  (p=0.002 n=6)",
	} {
		var out strings.Builder
		if err := c.WriteText(&out, terminal.Style{Width: width}); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%d columns: %v, no %q in\n%s", width, err, want, out.String())
		}
	}
}

func TestColumnsThatCannotBe(t *testing.T) {
	for _, x := range []struct{ dimension, base, want string }{
		{"colour", "", `dimension "colour"`}, {"transport", "", "one value of transport alone, tcp"}, {"algorithm", "raymond", `"raymond"`},
	} {
		if _, err := compare.Beside(within(), x.dimension, x.base, compare.Options{}); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v", x, err)
		}
	}
}

// A gate names what is worse by more than its limit and nothing else.
func TestRegressions(t *testing.T) {
	better, worse, bad := within(), within(), within()
	for i := range better.Runs {
		r := better.Runs[i].Result
		q := *r.ResponseTime
		q.P99 = q.P99 * 8 / 10
		r.ResponseTime = &q
		if r := worse.Runs[i].Result; r.Algorithm == "lamport" && r.Nodes == 7 {
			q := *r.ResponseTime
			q.P99 = q.P99 * 12 / 10
			r.ResponseTime = &q
		}
	}
	bad.Runs[0].Result.Status = runs.Stalled
	for _, x := range []struct {
		name        string
		b           *runs.Set
		limit       float64
		repetitions int
		want        []string
		untold      int
	}{
		{"equal", within(), 0.05, 6, nil, 0},
		{"better", better, 0.05, 6, nil, 0},
		{"worse", worse, 0.05, 6, []string{"lamport · N=7: response_time_p99_ns +20.00%, from 28 µs to 33.61 µs (p=0.002 n=6)"}, 0},
		{"worse by less than the limit", worse, 0.25, 6, nil, 0},
		{"a run stood still", bad, 0.05, 6, []string{"maekawa · N=3: 1 of 6 runs ended as stalled in B, and none in A"}, 0},
		{"too few repetitions", worse, 0.05, 3, nil, 4},
	} {
		keep := func(s *runs.Set) []runs.Run {
			return slices.DeleteFunc(slices.Clone(s.Runs), func(r runs.Run) bool { return r.Repetition > x.repetitions })
		}
		g := compared(t, keep(within()), keep(x.b), compare.Options{}).Watch(x.limit)
		var got []string
		for _, r := range g.Regressions {
			got = append(got, r.Text)
		}
		if !slices.Equal(got, x.want) || len(g.Untold) != x.untold {
			t.Errorf("%s: %q, untold %q; want %q and %d", x.name, got, g.Untold, x.want, x.untold)
		}
	}
}

func TestLimits(t *testing.T) {
	for text, want := range map[string]float64{"5%": 0.05, " 0.5 % ": 0.005, "0%": 0, "150%": 1.5} {
		if got, err := compare.ReadLimit(text); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"5", "", "%", "-5%", "five%", "NaN%", "Inf%"} {
		if got, err := compare.ReadLimit(text); err == nil || !strings.Contains(err.Error(), "such as 5%") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// on puts runs on hosts, where clocks know delays to a bound.
func on(list []runs.Run, bound int64, hosts ...string) []runs.Run {
	for _, r := range list {
		for _, name := range hosts {
			r.Result.Hosts = append(r.Result.Hosts, runs.Host{Name: name, Environment: map[string]string{"kernel": "6.1", "load_average": "1"}})
		}
		r.Result.SyncDelayBound = &bound
		delay := *r.Result.ResponseTime
		r.Result.SyncDelay = &delay
	}
	return list
}

// Runs on other hosts are no repetitions, and are compared only where that is asked for.
func TestHostsAreACondition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	a, b := sides(on(sample(rng, 6, 1, 0.01), 1e3, "a", "b"), on(sample(rng, 6, 1, 0.01), 1e3, "a", "c"))
	_, err := compare.Compare(a, b, compare.Options{})
	if err == nil || !strings.Contains(err.Error(), "hosts is a, b in A and a, c in B; to compare them nevertheless, add --across hosts") {
		t.Errorf("error %v", err)
	}
	c, err := compare.Compare(a, b, compare.Options{Across: []string{"hosts"}})
	if err != nil {
		t.Fatal(err)
	}
	if rows := table(t, c, "response_time_p50_ns").Rows; len(rows) != 1 || rows[0].A.N != 6 || rows[0].B.N != 6 {
		t.Errorf("%+v", rows)
	}
	// One side must not mix them.
	a.Runs = append(a.Runs, b.Runs...)
	if _, err := compare.Compare(a, b, compare.Options{Across: []string{"hosts"}}); err == nil {
		t.Error("runs on different hosts are one sample")
	}
}

// A run that failed before it had hosts counts to its cell.
func TestFailedRunWithoutHosts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	list := append(on(sample(rng, 6, 1, 0.01), 1e3, "a", "b"), sample(rng, 1, 1, 0)...)
	list[6].Result.Status = runs.Failed
	c := compared(t, list, on(sample(rng, 6, 1, 0.01), 1e3, "a", "b"), compare.Options{})
	notes := strings.Join(table(t, c, "response_time_p50_ns").Rows[0].Notes, "; ")
	if len(c.OnlyA) > 0 || !strings.Contains(notes, "1 of 7 runs ended as failed") {
		t.Errorf("only in A %v, notes %q", c.OnlyA, notes)
	}
}

// A delay that changed by less than what clocks may be wrong by may not have changed.
func TestChangesWithinClocks(t *testing.T) {
	for bound, want := range map[int64]bool{1e3: false, 90e3: false, 120e3: true} {
		rng := rand.New(rand.NewPCG(1, 1))
		c := compared(t, on(sample(rng, 8, 1, 0.001), bound, "a", "b"), on(sample(rng, 8, 1.2, 0.001), bound, "a", "b"),
			compare.Options{Metrics: []string{"sync_delay_p50_ns", "response_time_p50_ns"}})
		told := strings.Contains(strings.Join(table(t, c, "sync_delay_p50_ns").Rows[0].Notes, "; "), "the change may be theirs")
		if told != want {
			t.Errorf("a change of 200 µs with clocks known to ± %d ns on each side: told %v", bound, told)
		}
		if notes := table(t, c, "response_time_p50_ns").Rows[0].Notes; len(notes) > 0 {
			t.Errorf("times of one clock: %q", notes)
		}
	}
}

// Where clocks cannot tell the delays of some runs, the others are slow ones.
func TestDelaysShorterThanClocksTell(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	a, b := on(sample(rng, 8, 1, 0.01), 1e3, "a", "b"), on(sample(rng, 8, 1, 0.01), 1e3, "a", "b")
	b[2].Result.SyncDelay, b[5].Result.SyncDelay = nil, nil
	c := compared(t, a, b, compare.Options{Metrics: []string{"sync_delay_p50_ns", "response_time_p50_ns"}})
	notes := strings.Join(table(t, c, "sync_delay_p50_ns").Rows[0].Notes, "; ")
	if !strings.Contains(notes, "B: the delay of 2 of 8 runs is shorter than the hosts' clocks can tell") || strings.Contains(notes, "A: ") {
		t.Errorf("notes %q", notes)
	}
	if notes := table(t, c, "response_time_p50_ns").Rows[0].Notes; len(notes) > 0 {
		t.Errorf("times of one clock: %q", notes)
	}
}

// Where nothing changed clocks need no excuse.
func TestNoChangeWithinClocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	c := compared(t, on(sample(rng, 8, 1, 0.1), 1e9, "a", "b"), on(sample(rng, 8, 1, 0.1), 1e9, "a", "b"),
		compare.Options{Metrics: []string{"sync_delay_p50_ns"}})
	if r := table(t, c, "sync_delay_p50_ns").Rows[0]; r.Significant || len(r.Notes) > 0 {
		t.Errorf("significant %v, notes %q", r.Significant, r.Notes)
	}
}

func TestEnvironmentsOfHosts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	a, b := on(sample(rng, 6, 1, 0.01), 1e3, "a", "b"), on(sample(rng, 6, 1, 0.01), 1e3, "a", "b")
	for _, r := range b {
		r.Result.Hosts[1].Environment["kernel"], r.Result.Hosts[1].Environment["load_average"] = "6.2", "7"
	}
	c := compared(t, a, b, compare.Options{})
	if notes := strings.Join(c.Notes, "\n"); notes != "the environments of b differ: kernel is 6.1 in A and 6.2 in B" {
		t.Errorf("notes %q", notes)
	}
}
