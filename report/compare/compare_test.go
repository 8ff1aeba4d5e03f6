package compare_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/internal/platform/layout"
	"dmebench/internal/testkit"
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

// However many cells there are, a gate raises a false alarm about anything in one of twenty comparisons at
// most, also if other cells are better, and it finds one cell that is slower by 10%.
func TestGatesOfManyCells(t *testing.T) {
	const gates = 100
	rng := rand.New(rand.NewPCG(2026, 12))
	for _, x := range []struct {
		of          func(cell int) float64 // B's factor
		least, most int                    // gates with an alarm
	}{
		{func(int) float64 { return 1 }, 0, 11},
		{func(cell int) float64 { return 1 - 0.2*float64(cell%2) }, 0, 11},
		{func(cell int) float64 { return 1 + 0.1*float64(dme.Count(cell == 7)) }, 95, 100},
	} {
		alarms := 0
		for range gates {
			var a, b []runs.Run
			for cell := range 20 {
				for i := range 10 {
					a = append(a, ran("maekawa", 3+cell, i+1, 1e6*(1+0.02*rng.NormFloat64())))
					b = append(b, ran("maekawa", 3+cell, i+1, 1e6*x.of(cell)*(1+0.02*rng.NormFloat64())))
				}
			}
			g := compared(t, a, b, compare.Options{}).Watch(0)
			alarms += dme.Count(len(g.Regressions) > 0)
			if len(g.Untold) > 0 {
				t.Fatalf("undecided: %v", g.Untold)
			}
		}
		if alarms < x.least || alarms > x.most {
			t.Errorf("%d alarms of %d, want %d to %d", alarms, gates, x.least, x.most)
		}
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

// What is said of two result sets, or of one. The head of the file says what its lines
// mean.
func TestCases(t *testing.T) {
	testkit.Cases(t, "testdata/compared.txt", func(t *testing.T, input []string) string {
		a, b := sides(nil, nil)
		var opt compare.Options
		var watch string
		var beside []string
		width, made := 0, make(map[string]int)
		for _, line := range input {
			words := strings.Fields(line)
			switch words[0] {
			case "a", "b":
				side := map[string]*runs.Set{"a": a, "b": b}[words[0]]
				for _, response := range words[3:] {
					made[words[0]+words[1]+words[2]]++
					r := ran(words[1], int(number(t, words[2])), made[words[0]+words[1]+words[2]], number(t, response))
					side.Runs = append(side.Runs, r)
				}
			case "set":
				label, repetition, _ := strings.Cut(words[2], "#")
				matches := func(pattern, value string) bool { return pattern == "*" || pattern == value }
				for name, side := range map[string]*runs.Set{"a": a, "b": b} {
					for i, r := range side.Runs {
						if matches(words[1], name) && matches(label, r.Label) && matches(repetition, fmt.Sprint(r.Repetition)) {
							testkit.Set(t, &side.Runs[i], words[3], strings.Join(words[4:], " "))
						}
					}
				}
			case "header":
				testkit.Set(t, &a.Header, words[1], strings.Join(words[2:], " "))
			case "across":
				opt.Across = words[1:]
			case "metrics":
				opt.Metrics = words[1:]
			case "alpha":
				opt.Alpha = number(t, words[1])
			case "watch":
				watch = words[1]
			case "beside":
				beside = []string{words[1], strings.Trim(words[2], "-")}
			case "width":
				width = int(number(t, words[1]))
			default:
				t.Fatal(line)
			}
		}
		var out strings.Builder
		if beside != nil {
			c, err := compare.Beside(a, beside[0], beside[1], opt)
			if err != nil {
				return err.Error()
			}
			err = c.WriteText(&out, layout.Style{Width: width})
			return lines(t, out.String(), err)
		}
		c, err := compare.Compare(a, b, opt)
		switch {
		case err != nil:
			return err.Error()
		case watch == "":
			err = c.WriteText(&out)
			return lines(t, out.String(), err)
		}
		limit, err := compare.ReadLimit(watch)
		g := c.Watch(limit)
		fmt.Fprintln(&out, "looked at", strings.Join(g.Metrics, ", "))
		for _, r := range g.Regressions {
			fmt.Fprintln(&out, r.Text)
		}
		for _, text := range g.Untold {
			fmt.Fprintln(&out, "untold:", text)
		}
		return lines(t, out.String(), err)
	})
}

// lines leaves out those that are empty.
func lines(t *testing.T, text string, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return line == "" }), "\n")
}

func number(t *testing.T, word string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(word, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// What is not known is null, and nothing else is.
func TestJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	a, b := sample(rng, 6, 1, 0.02), sample(rng, 6, 1, 0.02)
	known := compared(t, a, b, compare.Options{Metrics: []string{p50}})
	if text, err := json.Marshal(known); err != nil || strings.Contains(string(text), "null,") {
		t.Errorf("everything is known, and nothing is null: %s, %v", text, err)
	}
	for _, r := range b {
		r.Result.Status = runs.Stalled
	}
	c := compared(t, a, b, compare.Options{Metrics: []string{p50}})
	if text, err := json.Marshal(c); err != nil || !strings.Contains(string(text), `"median":null`) {
		t.Errorf("%s, %v", text, err)
	}
	for _, f := range c.Figures() {
		if _, err := f.Render(plots.SVG); err != nil {
			t.Error(err)
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
		f.Subtitle != "tcp · saturate · CS 100 µs · 50 requests per node · A is old, B is new" {
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
	c = compared(t, a[:1], []runs.Run{ran("lamport", 3, 1, 1)}, compare.Options{Across: []string{"algorithm"}})
	if f := c.Figures()[0]; f.Series[0].Label != "A: maekawa" || f.Series[1].Label != "B: lamport" {
		t.Errorf("series %q and %q", f.Series[0].Label, f.Series[1].Label)
	}
}
