package cells

import (
	"strings"
	"testing"

	"dmebench/runs"
)

func TestThresholds(t *testing.T) {
	for text, want := range map[string]struct {
		metric string
		limit  float64
		below  bool // crossed by what is below the limit
		at     bool // crossed at the limit
	}{
		"p99>10ms":                    {runs.WaitingP99, 1e7, false, false},
		" p99 >= 1.5s ":               {runs.WaitingP99, 1.5e9, false, true},
		"response_time_p99_ns>100us":  {runs.ResponseP99, 1e5, false, false},
		"throughput<500":              {runs.Throughput, 500, true, false},
		"throughput <= 500 CS/s":      {runs.Throughput, 500, true, true},
		"throughput<500/s":            {runs.Throughput, 500, true, false},
		"jain<95%":                    {runs.JainIndex, 0.95, true, false},
		"Jain<0.95":                   {runs.JainIndex, 0.95, true, false},
		"messages>12":                 {runs.MessagesPerCS, 12, false, false},
		"bypass>=1e3":                 {runs.MaxBypass, 1000, false, true},
		"sync-delay-over-t>1.5":       {runs.SyncDelayOverT, 1.5, false, false},
		"sync-delay>0s":               {runs.SyncDelayP50, 0, false, false},
		"messages_per_cs_steady>12.5": {runs.SteadyPerCS, 12.5, false, false},
	} {
		got, err := parseThreshold(text)
		if err != nil || got.Metric.Name != want.metric || got.limit != want.limit || got.Text != strings.TrimSpace(text) {
			t.Errorf("%s: %s %s %v, %v", text, got.Metric.Name, got.op, got.limit, err)
			continue
		}
		if got.crossed(want.limit-0.1) != want.below || got.crossed(want.limit+0.1) == want.below || got.crossed(want.limit) != want.at {
			t.Errorf("%s: crossed below %v, at %v, above %v", text,
				got.crossed(want.limit-0.1), got.crossed(want.limit), got.crossed(want.limit+0.1))
		}
	}
}

func TestNoThresholds(t *testing.T) {
	for text, want := range map[string]string{
		"":                "want METRIC OP VALUE",
		"p99":             "want METRIC OP VALUE",
		"p99>":            "want METRIC OP VALUE",
		"p99=10ms":        "want METRIC OP VALUE",
		"p99==10ms":       "want METRIC OP VALUE",
		"p99=>10ms":       "want METRIC OP VALUE",
		"p99>>10ms":       "want METRIC OP VALUE",
		"p99>=<10ms":      "want METRIC OP VALUE",
		"p50<p99>1ms":     "want a duration",
		"p99>10":          "want a duration such as",
		"p99>10 ms":       "want a duration such as",
		"p99>-10ms":       "want a duration such as",
		"p99>10ms p50>1s": "want a duration such as",
		"p97>10ms":        "the percentiles there are p50, p99, ",
		"10ms>p99":        "unknown metric",
		">10ms":           "unknown metric",
		"throughput<1s":   "want a rate",
		"throughput<inf":  "want a rate",
		"throughput<nan":  "want a rate",
		"throughput<50%":  "want a rate",
		"messages>0x10":   "want a number",
		"messages>-1":     "want a number",
		"messages>1_000":  "want a number",
		"messages>.5":     "want a number",
		"jain<95 percent": "a percentage",
	} {
		if got, err := parseThreshold(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", text, got, err, want)
		}
	}
	_, err := ParseThresholds([]string{"p99>1", "p99>1s", "p98>1s"})
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("two faults: %v", err)
	}
}

// run is a run with that waiting time; 0 for none.
func run(label string, repetition int, p99 int64, status runs.Status) runs.Run {
	r := &runs.Result{Status: status, Spec: runs.Spec{Algorithm: "raymond", Nodes: 3, Seed: uint64(repetition)}}
	if p99 > 0 {
		r.WaitingTime = &runs.Quantiles{Count: 9, P99: p99}
	}
	return runs.Run{Label: label, Transport: "tcp", Workload: "saturate", Repetition: repetition, Result: r}
}

func parse(t *testing.T, texts ...string) []Threshold {
	t.Helper()
	all, err := ParseThresholds(texts)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestJudgeRun(t *testing.T) {
	thresholds := parse(t, "p99>10ms", "p99>1ms", "jain<0.9")
	r := run("raymond", 0, 5e6, runs.OK).Result
	v := JudgeRun(r, thresholds)
	if !v.Crossed || !v.Unknown || len(v.Lines) != 2 || len(r.Thresholds) != 3 {
		t.Fatalf("%+v, %+v", v, r.Thresholds)
	}
	if a, b, c := r.Thresholds[0], r.Thresholds[1], r.Thresholds[2]; *a.Crossed || !*b.Crossed || c.Crossed != nil || c.Value != nil ||
		*b.Value != 5e6 || b.Limit != 1e6 || b.Threshold != "p99>1ms" || b.Metric != runs.WaitingP99 {
		t.Errorf("%+v", r.Thresholds)
	}
	if want := "threshold p99>1ms crossed: waiting_time_p99_ns of the run is 5 ms"; v.Lines[0] != want {
		t.Errorf("%q, want %q", v.Lines[0], want)
	}
	if want := "threshold jain<0.9 could not be judged: the run has no jain_index"; v.Lines[1] != want {
		t.Errorf("%q, want %q", v.Lines[1], want)
	}
	if again := JudgeRun(r, thresholds); len(r.Thresholds) != 3 || len(again.Lines) != 2 {
		t.Errorf("judged twice: %+v", r.Thresholds)
	}
	failed := run("raymond", 0, 5e6, runs.Failed).Result
	if v := JudgeRun(failed, thresholds); v.Crossed || !v.Unknown {
		t.Errorf("of a failed run: %+v", v)
	}
	failed.Partial = true
	if v := JudgeRun(failed, thresholds); !v.Crossed {
		t.Errorf("of an interrupted run: %+v", v)
	}
}

// A cell is judged by its median: not by one run, and not by one that failed.
func TestJudgeCells(t *testing.T) {
	set := &runs.Set{}
	for k, p99 := range []int64{1e6, 2e6, 9e9} {
		set.Runs = append(set.Runs, run("good", k, p99, runs.OK), run("bad", k, 100*p99, runs.OK), run("none", k, 0, runs.OK))
	}
	set.Runs = append(set.Runs, run("good", 3, 9e9, runs.Stalled), run("good", 4, 9e9, runs.Violated))
	v := JudgeCells(set, parse(t, "p99>10ms"))
	want := []string{
		"threshold p99>10ms crossed: waiting_time_p99_ns of bad, 3 nodes, tcp, saturate is 200 ms",
		"threshold p99>10ms could not be judged: none, 3 nodes, tcp, saturate has no waiting_time_p99_ns",
	}
	if !v.Crossed || !v.Unknown || strings.Join(v.Lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("%+v", v)
	}
	if v := JudgeCells(set, parse(t, "p99>10s")); v.Crossed || !v.Unknown {
		t.Errorf("%+v", v)
	}
}
