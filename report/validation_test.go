package report_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"dmebench/claims"
	"dmebench/dme/claim"
	"dmebench/report"
	"dmebench/report/page"
)

func number(x float64) *float64 { return &x }

// verdicts is a document with a claim of each sort, and text that a page must
// escape.
func verdicts() *claims.Document {
	point := claims.Point{
		Condition: "serial", Transport: "sim", Nodes: 1000, Runs: 6, Predicted: 30,
		Mean: number(30), Lo: number(29.5), Hi: number(30.5), Min: number(28), Max: number(33), Agrees: true, How: "in the interval",
	}
	beyond := point
	beyond.Agrees, beyond.How, beyond.Transport = false, "up to 33", "tcp"
	bound := func(x float64) claims.Bounds {
		return claims.Bounds{Value: x, Lo: number(x - 1), Hi: number(x + 1)}
	}
	exponent := bound(0.5)
	says := func(quantity string, kind claim.Kind, status claims.Status, detail string, points ...claims.Point) claims.Verdict {
		v := claims.Verdict{
			Algorithm: "a<b", Quantity: quantity, Formula: "3|m & K<4", Load: "light", Kind: kind, Source: "a paper",
			Verdict: status, Detail: detail, Text: string(status) + detail, Points: points, Runs: 6, Shown: len(points) - 1,
		}
		return v
	}
	ranking := []claims.Ranked{
		{Growth: "N^(1/2)", A: bound(1), C: bound(3), AICc: number(-40), Delta: number(0)},
		{Growth: "log N", A: bound(1), C: bound(3), AICc: number(-10), Delta: number(30)},
	}
	growing := says("messages per CS", "asymptotic", claims.Holds, " (c = 1)", point)
	growing.Fits = []claims.Fit{{
		Condition: "serial", Transport: "sim", Sizes: []int{7, 13, 1000}, Claimed: "3√N", A: bound(0), C: bound(1),
		Ranking: ranking, Exponent: &exponent, Agrees: true, How: "c = 1",
	}}
	var points []claims.ScalingPoint
	for _, n := range []int{7, 100, 1000} {
		points = append(points, claims.ScalingPoint{Nodes: n, Runs: 6, PerCS: float64(n) / 7, PerMember: number(3.25)})
	}
	return &claims.Document{
		SchemaVersion: 1, Mode: "quick", Transport: "sim", Complete: true, Runs: 60, Controls: []string{"wrong-as-published"},
		Counts: claims.Counts{Claims: 5, Holds: 2, Fails: 1, KnownFalse: 1, NotMeasurable: 1, ExactFailed: 1},
		Claims: []claims.Verdict{
			says("messages per CS", "exact", claims.Fails, ": 33, not 30", beyond),
			says("messages per CS", "mean", claims.Holds, " (in 6 runs)", point), growing,
			says("messages per CS", "upper bound", claims.KnownFalse, ": a reason (shown: 33)", beyond),
			says("bits", "upper bound", claims.NotMeasurable, ": nothing tells it"),
		},
		Scaling: []claims.Scaling{{
			Algorithm: "a<b", Condition: "serial", Transport: "sim", Points: points, Ranking: ranking, Best: "N^(1/2)", A: bound(1),
			C: bound(3), Exponent: &exponent,
		}},
	}
}

func TestValidationLines(t *testing.T) {
	var out strings.Builder
	d := verdicts()
	if err := report.ValidationLines(&out, d); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	want := []string{
		"a<b  messages per CS = 3|m & K<4 | a paper | light | 30 for N = 1,000 | 30 ± 0.5 | fails: 33, not 30",
		"a<b  messages per CS = on average 3|m & K<4 | a paper | light | 30 for N = 1,000 | 30 ± 0.5 | holds (in 6 runs)",
		"a<b  messages per CS grows like 3|m & K<4 | a paper | light | 30 for N = 1,000 | 30 ± 0.5 | holds (c = 1)",
		"a<b  messages per CS ≤ 3|m & K<4 | a paper | light | 30 for N = 1,000 | ≤ 33 | known false: a reason (shown: 33)",
		"a<b  bits ≤ 3|m & K<4 | a paper | light | – | – | not measurable here: nothing tells it",
		"5 claims: 2 hold, 1 fail, 1 known false and shown to be, 1 not measurable here; 1 exact claim that is not known to be false fails; " +
			"60 runs in 0 s",
	}
	for i := range want {
		if i >= len(lines) || lines[i] != want[i] {
			t.Errorf("line %d: %q, want %q", i+1, lines[min(i, len(lines)-1)], want[i])
		}
	}
}

func TestValidationFiles(t *testing.T) {
	d := verdicts()
	files, err := report.Validation(d)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]string)
	for _, f := range files {
		found[f.Name] = string(f.Data)
	}
	var again claims.Document
	if err := json.Unmarshal([]byte(found["validate.json"]), &again); err != nil || len(again.Claims) != len(d.Claims) {
		t.Errorf("validate.json: %v, %d claims", err, len(again.Claims))
	}
	for line := range strings.Lines(found["validate.md"]) {
		if cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); strings.HasPrefix(line, "| messages") && cells != 7 {
			t.Errorf("validate.md: %d bars in %q", cells, line)
		}
	}
}

// The page has a row for each claim, those first that a reader has to look into, and each
// opens its points, its figure and the command that tries it again.
func TestClaimsPage(t *testing.T) {
	d := growing(func(n float64) float64 { return 3*math.Sqrt(n) - 2 })
	d.Mode = "quick"
	d.Claims = append(d.Claims, verdicts().Claims...)
	d.Count()
	p := report.ClaimsPage(d)
	if p.Answer.Level != page.Unsound {
		t.Errorf("a page with an exact claim that failed looks %s", p.Answer.Level)
	}
	growth, all := p.Tables[0], p.Tables[1]
	if len(growth.Rows) != 2 || len(all.Rows) != len(d.Claims) || len(p.Labels) != 2 {
		t.Fatalf("%d rows of growth, %d of claims, %d labels", len(growth.Rows), len(all.Rows), len(p.Labels))
	}
	for i, place := range []string{"serial", "serial over tcp"} {
		row := growth.Rows[i]
		series := row.Open.Plots[0].Series
		if row.Values[1].Text != place || row.Values[2].Text != "3√N" || row.Values[3].Class != "good" || row.Values[6].Text != "√N" {
			t.Errorf("%+v", row.Values)
		}
		if x := float64(*row.Values[5].Number); math.Abs(x-0.5) > 0.01 {
			t.Errorf("the exponent over %s is %v", place, x)
		}
		if len(series) < 3 || series[0].Role != page.Scattered || series[1].Role != page.Exact || series[2].Role != page.Bound {
			t.Errorf("drawn are %+v", series)
		}
		if !strings.HasPrefix(row.Values[4].Text, "3·√N − 2") {
			t.Errorf("measured is %q", row.Values[4].Text)
		}
	}
	first := all.Rows[0]
	if first.Values[3].Text != "fails" || first.Values[3].Class != "bad" || first.Label.Index() != 1 {
		t.Errorf("the first is %+v", first)
	}
	for _, row := range all.Rows {
		again := strings.Join(row.Open.Commands, "; ")
		if !strings.HasPrefix(again, "dmebench validate --quick ") || len(row.Values) != len(all.Columns) {
			t.Errorf("%+v", row)
		}
	}
	last := all.Rows[len(all.Rows)-1].Open
	if !strings.Contains(last.Pre, "1,000") || !strings.Contains(strings.Join(last.Text, "\n"), "N^(1/2), log N (+30)") {
		t.Errorf("a claim about growth opens %+v", last)
	}
}
