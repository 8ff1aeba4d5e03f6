package compare_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"dmebench/report/compare"
	"dmebench/result"
)

// on puts runs on hosts, where clocks know delays to a bound.
func on(runs []result.Run, bound int64, hosts ...string) []result.Run {
	for _, r := range runs {
		for _, name := range hosts {
			r.Result.Hosts = append(r.Result.Hosts, result.Host{Name: name, Environment: map[string]string{"kernel": "6.1", "load_average": "1"}})
		}
		r.Result.SyncDelayBound = &bound
		delay := *r.Result.ResponseTime
		r.Result.SyncDelay = &delay
	}
	return runs
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
	runs := append(on(sample(rng, 6, 1, 0.01), 1e3, "a", "b"), sample(rng, 1, 1, 0)...)
	runs[6].Result.Status = result.Failed
	c := compared(t, runs, on(sample(rng, 6, 1, 0.01), 1e3, "a", "b"), compare.Options{})
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
