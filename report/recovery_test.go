package report_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/internal/runtime/stall"
	"dmebench/report"
	"dmebench/runs"
)

// crashed is an experiment of six repetitions, whose nodes are killed and take
// 40 ms, 41 ms, … until another enters.
func crashed(t *testing.T, faults ...string) report.Input {
	in := experiment(t, []string{"a", "b"}, []string{"saturate"}, []int{5}, 6)
	for i, r := range in.Runs {
		disturb(r.Result, int64(40+i/2)*1e6, faults...)
	}
	return in
}

func disturb(r *runs.Result, recovered int64, faults ...string) {
	r.Spec.Faults = faults
	served, messages := recovered+5e6, uint64(33)
	r.Series = &runs.Series{IntervalNS: 10e6}
	for range 40 {
		p99 := int64(7e6)
		r.Series.Entries, r.Series.P99NS = append(r.Series.Entries, 5), append(r.Series.P99NS, &p99)
	}
	for i, f := range faults {
		what, _, _ := strings.Cut(f, " ")
		r.Faults = append(r.Faults, runs.Fault{
			Fault: f, What: what, AtNS: 150e6 + int64(i)*50e6, Nodes: []int{3},
			RecoveredNS: &recovered, ServedNS: &served, Messages: &messages, Waiting: 4, Lost: 1,
		})
	}
}

func TestRecoveryIsShown(t *testing.T) {
	in := crashed(t, "kill holder @150ms", "restart holder @+50ms")
	in.Runs[1].Result.Status = runs.Stalled // b's first
	in.Runs[1].Result.Faults[1].RecoveredNS = nil
	b := build(t, in)
	b.wants(t,
		"tcp · saturate · CS 100 µs · 50 requests per node · kill holder @150ms, restart holder @+50ms",
		"Recovery from faults",
		"a 5 kill holder @150ms 6 of 6 42.5 ms 40–45 47.5 ms 45–50 33 1",
		"b 5 kill holder @150ms 6 of 6 43 ms 41–45 48 ms 46–50 33 1",
		"b 5 restart holder @+50ms 5 of 6",
		"From a fault until a node that it did not hit enters",
	)
	row := b.csv(t)[0]
	for column, want := range map[string]string{
		"faults": "kill holder @150ms; restart holder @+50ms", "recovered_ns": "4.25e+07", "recovered_ns_ci95_low": "4e+07",
		"recovered_ns_ci95_high": "4.5e+07", "served_ns": "4.75e+07", "recovery_messages": "33", "requests_lost": "2",
	} {
		if row[column] != want {
			t.Errorf("%s is %q, want %q", column, row[column], want)
		}
	}
	for name, wants := range map[string][]string{
		"course-a-tcp-saturate-n5": {
			"Course of the run: a, N = 5", ">kill holder</text>", ">restart holder</text>",
			"<title>restart holder @+50ms: 50 ms after the first fault</title>",
			"<title>5 ms after the first fault: 500 entries/s, 95% interval 500 entries/s to 500 entries/s, 6 repetitions</title>",
		},
		"recovery-vs-n-tcp-saturate": {"a, N = 5: 42.5 ms, 95% interval 40 ms to 45 ms, 6 repetitions"},
	} {
		svg, err := os.ReadFile(filepath.Join(b.dir, "plots", name+".svg"))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(svg), want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
	}
}

// Without faults the page has nothing that speaks of them.
func TestNoRecoveryWithoutFaults(t *testing.T) {
	b := build(t, experiment(t, []string{"a"}, []string{"saturate"}, []int{5}, 6))
	for _, word := range []string{"ecover", "Course of the run", "fault"} {
		if strings.Contains(b.text(), word) {
			t.Errorf("the page says %q", word)
		}
	}
	if row := b.csv(t)[0]; row["faults"] != "" || row["recovered_ns"] != "" || row["requests_lost"] != "" {
		t.Errorf("%q", row)
	}
}

// Runs with different faults are never one sample, whatever they are called, and
// can stand beside one another.
func TestFaultsTellCellsApart(t *testing.T) {
	in := crashed(t, "kill 3 @1s")
	for _, more := range []report.Input{
		crashed(t, "kill 3 @1s", "restart 3 @+1s"), experiment(t, []string{"a", "b"}, []string{"saturate"}, []int{5}, 6),
	} {
		in.Runs = append(in.Runs, more.Runs...)
	}
	b := build(t, in)
	var of []string
	for _, row := range b.csv(t) {
		if row["repetitions"] != "6" {
			t.Errorf("a cell of %s repetitions", row["repetitions"])
		}
		of = append(of, row["label"]+" "+row["faults"])
	}
	want := []string{"a kill 3 @1s", "b kill 3 @1s", "a kill 3 @1s; restart 3 @+1s", "b kill 3 @1s; restart 3 @+1s", "a ", "b "}
	if !slices.Equal(of, want) {
		t.Errorf("%q, want %q", of, want)
	}

	in.Header.Experiment.Axes = []runs.Axis{{Name: "faults", Over: "faults", Title: "faults"}}
	b = build(t, everything(in))
	b.wants(t, "Against faults")
	svg, err := os.ReadFile(filepath.Join(b.dir, "plots", "throughput-vs-faults-tcp-saturate-n5.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{">kill 3 @1s</text>", ">none</text>"} {
		if !strings.Contains(string(svg), place) {
			t.Errorf("there is no place %s", place)
		}
	}
}

// What is claimed of undisturbed runs is not compared with runs under faults.
func TestNoTheoryUnderFaults(t *testing.T) {
	claims := func(string) []dme.Claim {
		return []dme.Claim{{
			Quantity: dme.MessagesPerCS, Load: dme.AnyLoad, Kind: dme.Exact, Formula: "2(N−1)", Source: "TR-869, section 4",
			Predict: func(s dme.Setting) (float64, bool) { return 2 * float64(s.Nodes-1), true },
		}}
	}
	setting := func(s runs.Spec) (dme.Setting, bool) { return dme.Setting{Nodes: s.Nodes}, true }
	for _, x := range []struct {
		in   report.Input
		told bool
	}{{experiment(t, []string{"a"}, []string{"saturate"}, []int{5}, 6), true}, {crashed(t, "kill 3 @1s"), false}} {
		x.in.Claims, x.in.Setting = claims, setting
		b := build(t, x.in)
		if told := strings.Contains(b.page, "2(N−1)"); told != x.told {
			t.Errorf("runs with faults %q: predicted: %v", x.in.Runs[0].Result.Spec.Faults, told)
		}
	}
}

// A stalled run says why, and draws who waits for whom. Two drawings on one page,
// and the page itself, do not change each other's looks.
func TestStalledRunsSayWhy(t *testing.T) {
	in := crashed(t, "kill 3 @1s")
	for _, i := range []int{0, 3} {
		r := in.Runs[i].Result
		r.Status, r.Liveness = runs.Stalled, runs.Liveness{
			Stalled: true, Pending: 2, Why: []string{"1 waits for 3's REPLY; 3 is down since 1 s; so does 2"},
			Waits: []runs.Wait{{Node: 1, For: 3, What: "REPLY"}, {Node: 2, For: 3, What: "REPLY"}}, Waiting: []int{1, 2}, Down: []int{3},
		}
	}
	in.Picture = stall.Picture
	b := build(t, in)
	b.wants(t, "1 waits for 3's REPLY; 3 is down since 1 s; so does 2", "Who waits for whom")
	if n := strings.Count(b.page, "a: who waits for whom") + strings.Count(b.page, "b: who waits for whom"); n < 2 {
		t.Errorf("%d graphs are drawn, want 2", n)
	}
	for _, name := range []string{"wait-a", "wait-b"} {
		if !strings.Contains(b.page, `<svg class="`+name+`" `) {
			t.Errorf("there is no drawing %s", name)
		}
		sheet := regexp.MustCompile(`(?s)<style>([^<]*\.` + name + ` [^<]*)</style>`).FindStringSubmatch(b.page)
		if sheet == nil {
			t.Fatalf("%s has no style sheet", name)
		}
		for line := range strings.Lines(sheet[1]) {
			if strings.Contains(line, "{") && !strings.HasPrefix(line, "."+name+" ") {
				t.Errorf("a rule of %s holds in the whole page: %s", name, line)
			}
		}
	}
}
