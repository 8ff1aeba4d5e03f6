package report_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/report"
	"dmebench/runs"
)

// grown is an experiment over TCP and simulated whose messages per CS are a
// function of N, with a repetition's noise.
func grown(t *testing.T, sizes []int, per func(n float64, rep int) float64) report.Input {
	in := lean(experiment(t, []string{"a"}, []string{"serial"}, sizes, 6))
	simulated := lean(experiment(t, []string{"a"}, []string{"serial"}, sizes, 6))
	for _, r := range simulated.Runs {
		r.Result.Transport, r.Result.Spec.Transport = runs.Sim, runs.Sim
	}
	in.Runs = append(in.Runs, simulated.Runs...)
	for _, r := range in.Runs {
		*r.Result.Messages.PerCS = per(float64(r.Result.Nodes), r.Repetition+1)
	}
	in.Setting = func(s runs.Spec) (dme.Setting, bool) { return dme.Setting{Nodes: s.Nodes}, true }
	return in
}

func claiming(kind dme.ClaimKind, formula string, f func(n float64) float64) func(string) []dme.Claim {
	return func(string) []dme.Claim {
		return []dme.Claim{{
			Quantity: dme.MessagesPerCS, Formula: formula, Load: dme.Light, Kind: kind, Source: "Someone 1980",
			Predict: func(s dme.Setting) (float64, bool) { return f(float64(s.Nodes)), true },
		}}
	}
}

func TestGrowthIsFittedFromFiveSizesOn(t *testing.T) {
	sizes := []int{4, 9, 16, 36, 100}
	root := func(n float64) float64 { return 3 * (math.Sqrt(n) - 1) }
	noisy := func(n float64, rep int) float64 { return root(n) + 0.01*float64(rep-3) }
	in := grown(t, sizes, noisy)
	in.Claims = claiming(dme.Mean, "3(√N−1)", root)
	b := build(t, in)
	b.wants(t, "How messages grow with N: serial · CS 100 µs · 50 requests per node", "mean 3(√N−1)", "N^(1/2) +0", "1 of 7", "5: 4–100")
	svg, err := os.ReadFile(filepath.Join(b.dir, "plots", "growth-a-serial.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		">tcp: −2.995 + 3·N^(1/2)</text>", ">sim: −2.995 + 3·N^(1/2)</text>", ">Residuals of a + c·N^(1/2), each repetition</text>",
		">claimed: N^(1/2)</text>",
	} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("the figure lacks %s", want)
		}
	}
	caption := b.captions(t)["growth-a-serial"]
	if !strings.Contains(caption, "tcp, sim claimed growth N^(1/2), that of mean 3(√N−1) (Someone 1980)") {
		t.Errorf("the caption says %q", caption)
	}

	in = grown(t, sizes[1:], noisy)
	in.Claims = claiming(dme.Mean, "3(√N−1)", root)
	if b := build(t, in); strings.Contains(b.page, "scaling-1") {
		t.Error("four sizes are taken for enough")
	}
}

// The growth of a claim comes from its values; what approaches a constant is told
// from what grows, and a bound that is far away does not hide the measurement.
func TestGrowthOfClaims(t *testing.T) {
	sizes := []int{3, 7, 13, 31, 57, 133}
	for _, x := range []struct {
		name     string
		per      func(n float64) float64
		kind     dme.ClaimKind
		claimed  func(n float64) float64
		says     []string
		saysNone []string
	}{
		{"equal", func(n float64) float64 { return 2 * (n - 1) }, dme.Exact, func(n float64) float64 { return 2 * (n - 1) },
			[]string{"N exactly", "1 of 7"}, nil},
		{"approaches", func(n float64) float64 { return 3 * (n - 1) / n }, dme.Mean, func(n float64) float64 { return 3 * (n - 1) / n },
			[]string{"1/N exactly", "1 of 7"}, nil},
		{"a bound far away", math.Log, dme.UpperBound, func(n float64) float64 { return n },
			[]string{"log N exactly", ", a bound"}, nil},
		{"steps", func(n float64) float64 { return 8 * (math.Ceil(math.Cbrt(n)) - 1) }, dme.UpperBound,
			func(n float64) float64 { return 8 * (math.Ceil(math.Cbrt(n)) - 1) },
			[]string{"of 7"}, []string{", a bound"}},
		{"nothing is claimed", func(n float64) float64 { return n }, "", nil, []string{"N exactly"}, []string{"of 7"}},
		{"always the same", func(float64) float64 { return 3 }, dme.Exact, func(float64) float64 { return 3 },
			[]string{"constant exactly"}, nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			in := grown(t, sizes, func(n float64, _ int) float64 { return x.per(n) })
			if x.claimed != nil {
				in.Claims = claiming(x.kind, "f(N)", x.claimed)
			}
			b := build(t, in)
			b.wants(t, x.says...)
			for _, s := range x.saysNone {
				if strings.Contains(b.text(), s) {
					t.Errorf("the page says %q", s)
				}
			}
		})
	}
}

// The fits of several series stand side by side; those of one with what they leave can be
// asked for, and one that does not grow has none.
func TestGrowthsSideBySide(t *testing.T) {
	in := grown(t, []int{4, 9, 16, 36, 100}, func(n float64, rep int) float64 { return n + 0.01*float64(rep) })
	other := grown(t, []int{4, 9, 16, 36, 100}, func(n float64, rep int) float64 { return math.Sqrt(n) + 0.01*float64(rep) })
	flat := grown(t, []int{4, 9, 16, 36, 100}, func(float64, int) float64 { return 3 })
	for i := range other.Runs {
		other.Runs[i].Label, flat.Runs[i].Label = "b", "c"
	}
	in.Runs = append(append(in.Runs, other.Runs...), flat.Runs...)
	b := build(t, in)
	if found := b.plots(t, "growth-*"); len(found) != 1 || found[0] != "growth-serial" {
		t.Fatalf("drawn: %q", found)
	}
	texts := b.texts(t, "growth-serial")
	for _, want := range []string{"a, tcp", "a, sim", "b, tcp", "b, sim"} {
		if !strings.Contains(texts, "\n"+want+"\n") {
			t.Errorf("no panel %q", want)
		}
	}
	if strings.Contains(texts, "\nc, tcp\n") {
		t.Error("a panel shows what does not grow")
	}
	if all := build(t, everything(in)).plots(t, "growth-?-serial"); len(all) != 3 {
		t.Errorf("asked for: %q", all)
	}
}
