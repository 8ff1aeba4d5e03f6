package report_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/report"
	"dmebench/runs"
)

// What is measured under other conditions never becomes one sample.
func TestConditionsAreKeptApart(t *testing.T) {
	base := lean(experiment(t, []string{"maekawa"}, []string{"saturate"}, []int{3, 7}, 2))
	// with is an experiment of the same workload with changes, each labelled.
	with := func(changes ...func(*runs.Spec)) report.Input {
		in := base
		in.Runs = nil
		for i, change := range changes {
			label := fmt.Sprint("change ", i)
			for _, r := range base.Runs {
				result := *r.Result
				change(&result.Spec)
				r.Result, r.Workload = &result, label
				in.Runs = append(in.Runs, r)
			}
			set := in.Runs[len(in.Runs)-1].Result.Spec.Set
			in.Header.Experiment.Workloads = append(in.Header.Experiment.Workloads,
				runs.Workload{Name: "saturate", Label: label, Set: set})
		}
		return in
	}
	same := func(*runs.Spec) {}
	set := func(k, v string) func(*runs.Spec) { return func(s *runs.Spec) { s.Set = map[string]string{k: v} } }
	own := with(same, set("quorum", "grid"))
	own.Header.Experiment = runs.Experiment{}
	again := with(same, func(s *runs.Spec) { s.Seed = 99 })
	for _, in := range []*report.Input{&own, &again} {
		for i := range in.Runs {
			in.Runs[i].Workload = "saturate"
		}
	}
	for _, c := range []struct {
		name string
		in   report.Input
		sets int // figure sets
		rows int
		says string
	}{
		{"seed", again, 1, 2, ""},
		{"transport", with(same, func(s *runs.Spec) { s.Transport = "udp" }), 2, 4, "udp · saturate"},
		{"cs", with(same, func(s *runs.Spec) { s.CS = "exp:1ms" }), 2, 4, "CS exponential, mean 1 ms"},
		{"rate", with(same, func(s *runs.Spec) { s.TotalRate = 200 }), 2, 4, "200 requests/s in all"},
		{"requests", with(same, func(s *runs.Spec) { s.Requests = 9 * s.Nodes }), 2, 4, "9 requests per node"},
		{"nodes per worker", with(same, func(s *runs.Spec) { s.NodesPerWorker = 4 }), 2, 4, "4 nodes per process"},
		{"workload option", with(same, set("think", "1ms")), 2, 4, "think=1ms"},
		{"algorithm's option", own, 1, 4, "maekawa (maekawa quorum=grid)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := build(t, c.in)
			if n := strings.Count(b.page, `class="set"`); n != c.sets {
				t.Errorf("%d figure sets, want %d", n, c.sets)
			}
			if n := len(b.csv(t)); n != c.rows {
				t.Errorf("%d cells, want %d", n, c.rows)
			}
			b.wants(t, c.says)
		})
	}
}

func TestPredictions(t *testing.T) {
	in := lean(experiment(t, []string{"ricart-agrawala"}, []string{"saturate", "poisson"}, []int{3, 7}, 6))
	claim := func(formula string, load dme.Load, kind dme.ClaimKind, expression string) dme.Claim {
		return dme.Claim{Quantity: dme.MessagesPerCS, Formula: formula, Load: load, Kind: kind,
			Source: "TR-869, section 4; textbook, section 9.4", Expression: expression}
	}
	exact := claim("2(N−1)", dme.AnyLoad, dme.Exact, "")
	wrong := claim("N", dme.Saturated, dme.UpperBound, "")
	light := claim("light(N)", dme.Light, dme.Exact, "N")
	doubted := claim("N+1", dme.AnyLoad, dme.Exact, "")
	doubted.KnownFalse = "shown by a run"
	in.Claims = func(string) []dme.Claim { return []dme.Claim{wrong, light, exact, doubted} }
	in.Setting = func(s runs.Spec) (dme.Setting, bool) { return dme.Setting{Nodes: s.Nodes}, s.Nodes != 5 }
	b := build(t, everything(in))
	b.wants(t, "Exact predictions of messages per CS: 4 of 4 equal to what every run measured.",
		"2(N−1) = 4 equal", "2(N−1) = 12 equal", "≤ N = 7 exceeded", "N+1 = 8 differs (known to be false)")
	if strings.Contains(b.page, "light(N)") {
		t.Error("a claim about light load is held against other loads")
	}
	svg := func(workload string) string {
		data, err := os.ReadFile(filepath.Join(b.dir, "plots", "messages-per-cs-vs-n-tcp-"+workload+".svg"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if s := svg("saturate"); !strings.Contains(s, ">2(N−1)</text>") ||
		!strings.Contains(s, "stroke-dasharray:5,3") {
		t.Error("the exact claim is not drawn dashed")
	}
	if said := b.captions(t)["messages-per-cs-vs-n-tcp-saturate"]; !strings.Contains(said, "ricart-agrawala 2(N−1) (TR-869 §4)") {
		t.Errorf("the caption says %q, without the claim and its source", said)
	}
	if s := svg("saturate"); !strings.Contains(s, ">≤ N</text>") || strings.Contains(s, "known to be false") {
		t.Error("what is known to be false is drawn instead of a bound")
	}
	if strings.Contains(svg("poisson"), "≤ N") {
		t.Error("a claim about saturation is drawn over poisson")
	}

	// One run that differs is enough: equal means equal in every run.
	*in.Runs[0].Result.Messages.PerCS += 1e-3
	b = build(t, in)
	b.wants(t, "Exact predictions of messages per CS: 3 of 4 equal", "2(N−1) = 4 differs")
}
