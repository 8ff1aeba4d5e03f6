package report_test

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dmebench/report"
	"dmebench/report/plots"
	"dmebench/runs"
)

// Warnings of one kind are told once, with the numbers that were measured.
func TestWarningsHaveTheirNumbers(t *testing.T) {
	in := experiment(t, []string{"raymond"}, []string{"saturate"}, []int{3}, 3)
	of := func(k int, warnings ...string) { in.Runs[k].Result.Warnings = warnings }
	of(0, "oversubscribed: 25 processes on 2 cores (GOMAXPROCS 1), 3% late", "paused for 800 ms at p99")
	of(1, "oversubscribed: 13 processes on 2 cores (GOMAXPROCS 1), 12% late", "paused for 1.2 s at p99")
	of(2, "oversubscribed: 1,000 processes on 2 cores (GOMAXPROCS 1), 3% late", "paused for 1.2 s at p99")
	b := build(t, in)
	b.wants(t, "oversubscribed: 13 to 1,000 processes on 2 cores (GOMAXPROCS 1), 3 to 12% late", "paused for 800 ms to 1.2 s at p99")
	_, list, _ := strings.Cut(b.page, `<section id="warnings">`)
	list, _, _ = strings.Cut(list, "</section>")
	if list == "" || strings.Contains(list, "…") {
		t.Errorf("a number is left out:\n%s", list)
	}
}

func TestReport(t *testing.T) {
	in := experiment(t, []string{"ricart-agrawala", "raymond"}, []string{"saturate"}, []int{3, 13}, 6)
	in.Header.Planned = len(in.Runs) + 2
	b := build(t, in)
	b.wants(t, "quickstart", "Started 2026-11-20 09:30:00 UTC", "24 runs: 24 ok; 2 cells not there yet",
		"tcp · saturate · CS 100 µs · 50 requests per node", "REQUEST", "cpus", "bench-1",
		"generator late by 101 to 106 µs (p99) (24 runs)",
		"name: quickstart", "What the numbers mean")

	for _, name := range []string{
		"summary", "messages-per-cs-vs-n-tcp-saturate", "throughput-vs-n-tcp-saturate", "response-p50-vs-n-tcp-saturate",
		"response-p99-vs-n-tcp-saturate", "sync-delay-over-t-vs-n-tcp-saturate", "kinds-of-messages-tcp-saturate",
		"fairness-vs-n-tcp-saturate", "response-cdf-tcp-saturate-n13", "response-percentiles-tcp-saturate-n13",
	} {
		if _, err := os.Stat(filepath.Join(b.dir, "plots", name+".svg")); err != nil {
			t.Error(err)
		}
	}
	if n := strings.Count(b.page, "<svg "); n != 10 {
		t.Errorf("%d figures, want 10", n)
	}
	rows := b.csv(t)
	if len(rows) != 4 {
		t.Fatalf("%d rows, want one for each cell: 4", len(rows))
	}
	r := rows[0]
	for name, want := range map[string]string{
		"label": "ricart-agrawala", "transport": "tcp", "workload": "saturate", "nodes": "3", "repetitions_ok": "6",
		"messages_per_cs": "4", "messages_per_cs_ci95_low": "4", "messages_per_cs_ci95_high": "4", "entries_ok": "900",
		"requests": "150", "jain_index": "0.99",
	} {
		if r[name] != want {
			t.Errorf("summary.csv: %s is %q, want %q", name, r[name], want)
		}
	}
}

func TestSameInputSameBytes(t *testing.T) {
	in := lean(experiment(t, []string{"a", "b"}, []string{"saturate"}, []int{3, 7}, 6))
	in.Formats = plots.Formats()
	one, two := build(t, in), build(t, in)
	files, err := filepath.Glob(filepath.Join(one.dir, "*", "*"))
	if err != nil || len(files) != 4 {
		t.Fatalf("%v, %v; want one figure in three formats and one table", files, err)
	}
	for _, name := range []string{"report.html", "summary.csv", "captions.txt", "captions.tex"} {
		files = append(files, filepath.Join(one.dir, name))
	}
	for _, f := range files {
		rel, _ := filepath.Rel(one.dir, f)
		a, errA := os.ReadFile(f)
		b, errB := os.ReadFile(filepath.Join(two.dir, rel))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs between two reports of the same input (%v, %v)", rel, errA, errB)
		}
		if filepath.Ext(f) == ".png" {
			if _, err := png.Decode(bytes.NewReader(a)); err != nil {
				t.Errorf("%s: %v", rel, err)
			}
		}
	}
}

func TestNothingAtAll(t *testing.T) {
	b := build(t, report.Input{})
	b.wants(t, "0 runs", "There is no result to show")
	if len(b.csv(t)) != 0 {
		t.Error("summary.csv has rows")
	}
}

func TestOneRun(t *testing.T) {
	b := build(t, experiment(t, []string{"raymond"}, []string{"serial"}, []int{5}, 1))
	b.wants(t, "1 run: 1 ok", "need >= 6 samples for confidence interval at level 0.95 (1 cell)")
	row := b.csv(t)[0]
	if row["messages_per_cs"] != "8" || row["messages_per_cs_ci95_low"] != "" {
		t.Errorf("a single repetition gives %q with interval from %q", row["messages_per_cs"], row["messages_per_cs_ci95_low"])
	}
}

func TestResultsWithoutAnyValue(t *testing.T) {
	in := report.Input{Set: runs.Set{Runs: []runs.Run{
		{Label: "a", Repetition: 1, Result: &runs.Result{Algorithm: "a", Nodes: 1, Transport: "sim", Workload: "serial",
			Status: runs.OK}},
		{Label: "a", Repetition: 2, Result: &runs.Result{Algorithm: "a", Nodes: 1, Transport: "sim", Workload: "serial",
			Status: runs.OK, Seed: 2,
			ResponseTime: &runs.Quantiles{}, Histograms: runs.Histograms{Response: "damaged"}}},
		{Label: "", Repetition: 1, Result: nil},
		{Label: "b", Repetition: 1, Result: &runs.Result{}},
	}}}
	b := build(t, in)
	b.wants(t, "4 runs: 2 ok, 2 failed", "there is no result", "no percentile curve", "no reason is given")
}

// Every run that did not end well is named with its reason, and its numbers are
// used nowhere.
func TestBadRunsAreLoudAndLeftOut(t *testing.T) {
	in := lean(experiment(t, []string{"a"}, []string{"saturate"}, []int{3, 7, 13}, 6))
	spoil := func(i int, status runs.Status, spoil func(*runs.Result)) {
		r := in.Runs[i].Result
		r.Status = status
		*r.Messages.PerCS = 1e6
		spoil(r)
	}
	spoil(0, runs.Violated, func(r *runs.Result) { r.Safety.Violations = 3 })
	spoil(1, runs.Stalled, func(r *runs.Result) {
		r.Liveness = runs.Liveness{Stalled: true, Pending: 2, States: []string{"node 1: HOLDER=<2>"}}
	})
	spoil(2, runs.Failed, func(r *runs.Result) { r.Error, r.FailedNodes = `worker 4 died: "panic & <chaos>"`, []int{4, 5} })
	spoil(3, runs.OK, func(r *runs.Result) { r.Safety.Violations = 1 }) // contradicts itself
	for i := 6; i < 12; i++ {                                           // the whole cell N = 7
		spoil(i, runs.Stalled, func(*runs.Result) {})
	}
	b := build(t, in)
	b.wants(t, "18 runs: 8 ok, 2 violated, 7 stalled, 1 failed", "3 violations of mutual exclusion", "2 requests not served",
		"node 1: HOLDER=<2>", `failed nodes: 4 5; worker 4 died: "panic & <chaos>"`, "a, N = 3, tcp saturate, repetition 4, seed 4",
		"2 of 6", "0 of 6")
	rows := b.csv(t)
	if rows[0]["messages_per_cs"] != "4" || rows[0]["repetitions_ok"] != "2" || rows[0]["repetitions_violated"] != "2" ||
		rows[0]["violations"] != "4" {
		t.Errorf("N = 3: %v", rows[0])
	}
	if rows[1]["messages_per_cs"] != "" || rows[1]["repetitions_stalled"] != "6" {
		t.Errorf("N = 7: %v", rows[1])
	}

	for i := range in.Runs {
		in.Runs[i].Result.Status = runs.Failed
	}
	b = build(t, in)
	b.wants(t, "2 violated, 16 failed", "No run of this part ended well")
	if strings.Contains(b.page, "<svg") {
		t.Error("a figure shows runs that failed")
	}
}

func TestOddTextIsEscaped(t *testing.T) {
	odd := `<script>alert("x")</script>&\x00-ü-"'`
	in := experiment(t, []string{odd, "=cmd|' /C calc'!A0"}, []string{"saturate"}, []int{3, 7}, 2)
	in.Header.Experiment.Name, in.Header.File = odd, "</pre><script>"+odd
	in.Header.Environment = map[string]string{odd: odd}
	for i := range in.Runs {
		in.Runs[i].Result.Warnings = []string{odd}
		in.Runs[i].Result.Messages.ByKind = map[string]uint64{odd: 1}
		in.Runs[i].Result.Spec.Set = map[string]string{odd: odd}
	}
	b := build(t, in)
	b.wants(t, odd)
	if rows := b.csv(t); rows[0]["label"] != odd {
		t.Errorf("summary.csv has the label %q", rows[0]["label"])
	}
}

func TestTwelveSeries(t *testing.T) {
	var labels []string
	for i := range 12 {
		labels = append(labels, fmt.Sprintf("algorithm-%02d", i))
	}
	b := build(t, lean(experiment(t, labels, []string{"saturate"}, []int{3, 7}, 2)))
	for _, l := range labels {
		if !strings.Contains(b.page, ">"+l+"</text>") {
			t.Errorf("no legend has %s", l)
		}
	}
}

// A page that is read in the dark turns the colours of figures together with those
// of the keys in its tables.
func TestDarkPage(t *testing.T) {
	b := build(t, lean(experiment(t, []string{"a"}, []string{"saturate"}, []int{3, 7}, 1)))
	_, dark, _ := strings.Cut(b.page[:strings.Index(b.page, "</style>")], "prefers-color-scheme: dark")
	if !strings.Contains(dark, "figure svg, td i { filter: invert(") ||
		!regexp.MustCompile(`<figure id="[^"]*">\s*<svg `).MatchString(b.page) ||
		!regexp.MustCompile(`<td[^>]*><i class="s0">`).MatchString(b.page) {
		t.Error("the colours of figures and of their keys do not turn together")
	}
}

func TestErrorsNameTheFile(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, "file")
	if err := os.WriteFile(blocked, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := report.Build(report.Input{}, filepath.Join(blocked, "report"))
	if err == nil || !strings.HasPrefix(err.Error(), "report: ") || !strings.Contains(err.Error(), blocked) {
		t.Errorf("a folder below a file: %v", err)
	}

	// A folder where a file should be: the old state stays, and no temporary
	// file is left behind.
	if err := os.MkdirAll(filepath.Join(dir, "summary.csv", "occupied"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = report.Build(report.Input{}, dir)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "summary.csv")) {
		t.Errorf("a folder in the way: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestBuildingAgainReplaces(t *testing.T) {
	dir := t.TempDir()
	in := lean(experiment(t, []string{"a"}, []string{"saturate"}, []int{3, 7}, 1))
	for _, title := range []string{"the first", "the second"} {
		in.Header.Experiment.Name = title
		page, err := report.Build(in, dir)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(page)
		if err != nil || !strings.Contains(string(b), title) {
			t.Errorf("the page does not have %q: %v", title, err)
		}
		if info, err := os.Stat(page); err != nil || info.Mode().Perm()&0o444 != 0o444 {
			t.Errorf("others cannot read the page: %v %v", info.Mode(), err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 6 {
		t.Errorf("%v, %v; want report.html, summary.csv, captions.txt, captions.tex, plots and tables", entries, err)
	}
}
