package report_test

import (
	"math"
	"strings"
	"testing"

	"dmebench/claims"
	"dmebench/dme/claim"
	"dmebench/internal/testkit"
	"dmebench/report"
	"dmebench/report/page"
)

// growing is a document in which messages grow with the square root, as claimed,
// in virtual time and over TCP.
func growing(measured func(n float64) float64) *claims.Document {
	d := &claims.Document{SchemaVersion: 1, Mode: "default", Transport: "sim", Complete: true}
	c := claims.Verdict{
		ID: "roots/messages-per-cs/light/asymptotic", Algorithm: "roots", Quantity: claim.MessagesPerCS.Name, Formula: "3√N", Load: claim.Light,
		Kind: claim.Asymptotic, Verdict: claims.Holds, Text: "holds",
	}
	for _, transport := range []string{"sim", "tcp"} {
		s := claims.Scaling{Algorithm: "roots", Condition: "serial", Transport: transport}
		sizes := []int{9, 25, 49, 64, 100}
		if transport == "sim" {
			sizes = append(sizes, 900)
		}
		var series claims.Series
		for _, n := range sizes {
			y := measured(float64(n))
			series.Add(n, y, 1.001*y, 0.999*y)
			s.Points = append(s.Points, claims.ScalingPointOf(n, []float64{y, 1.001 * y, 0.999 * y}, math.NaN()))
			c.Points = append(c.Points, claims.Point{
				Condition: "serial", Transport: transport, Nodes: n, Predicted: 3 * math.Sqrt(float64(n)), Standing: claims.Agrees, Agrees: true,
			})
		}
		series.Scaling(&s)
		d.Scaling = append(d.Scaling, s)
	}
	d.Claims = []claims.Verdict{c}
	d.Count()
	return d
}

func fileOf(t *testing.T, d *claims.Document, name string) string {
	t.Helper()
	files, err := report.Validation(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	t.Fatalf("there is no %s", name)
	return ""
}

// The page of a repository begins with how messages grow, before any claim.
func TestValidationMarkdownOpensWithGrowth(t *testing.T) {
	page := fileOf(t, growing(func(n float64) float64 { return 3*math.Sqrt(n) - 2 }), "validate.md")
	want := "| roots | serial over tcp | 3√N | holds | 3·√N − 2"
	if i := strings.Index(page, want); i < 0 || i > strings.Index(page, "| claim |") {
		t.Errorf("%q is not before the tables: %.700s", want, page)
	}
}

// The table has a row for each point, and one for a claim without any.
func TestValidationCSV(t *testing.T) {
	rows := testkit.Table(t, []byte(fileOf(t, verdicts(), "validate.csv")))
	if len(rows) != 5 {
		t.Fatalf("%d rows of 4 points and a claim without one", len(rows))
	}
	for column, want := range map[string]string{
		"algorithm": "a<b", "nodes": "1000", "transport": "tcp", "condition": "serial", "verdict": "fails", "predicted": "30", "mean": "30",
		"mean_ci999_low": "29.5", "mean_ci999_high": "30.5", "min": "28", "max": "33", "runs": "6", "kind": "exact",
	} {
		if got, known := rows[0][column]; got != want || !known {
			t.Errorf("%s is %q, want %q", column, got, want)
		}
	}
	if last := rows[4]; last["verdict"] != "not measurable here" || last["nodes"] != "" || last["mean"] != "" {
		t.Errorf("a claim without points: %v", last)
	}
}

// Where another growth describes the runs better than the claimed one, the page says which.
func TestValidationNamesABetterGrowth(t *testing.T) {
	d := growing(func(n float64) float64 { return 2 * n })
	want := "by how much each is worse than the best: N, "
	opened := strings.Join(report.ClaimsPage(d).Tables[0].Rows[0].Open.Text, "\n")
	if !strings.Contains(opened, want) {
		t.Errorf("it is not said that %q: %s", want, opened)
	}
}

// The answer is green where all exact claims hold, amber where another claim fails, and
// red where an exact one does.
func TestValidationGround(t *testing.T) {
	d := growing(math.Sqrt)
	for _, x := range []struct {
		kind  claim.Kind
		s     claims.Status
		level page.Level
		says  string
	}{
		{claim.Exact, claims.Holds, page.Sound, "Every exact claim that was judged holds"},
		{claim.Exact, claims.KnownFalse, page.Sound, "but for those known to be false"},
		{claim.Exact, claims.NotRun, page.Sound, "1 not run"},
		{claim.Mean, claims.Partly, page.Sound, "hold only in part: 1; that do not hold: 0"},
		{claim.Mean, claims.Fails, page.Look, "that do not hold: 1"},
		{claim.Exact, claims.Partly, page.Unsound, "1 exact claim not known to be false did not hold in every run"},
		{claim.Exact, claims.Fails, page.Unsound, "1 exact claim not known to be false did not hold in every run"},
	} {
		d.Claims[0].Kind, d.Claims[0].Verdict = x.kind, x.s
		d.Count()
		if a := report.ClaimsPage(d).Answer; a.Level != x.level || !strings.Contains(strings.Join(a.Status, " "), x.says) {
			t.Errorf("%s claim, %s: %+v", x.kind, x.s, a)
		}
	}
}

// What was refuted as expected is not shown as a fault.
func TestValidationColoursFaultsAlone(t *testing.T) {
	classes := map[string]string{"known false": "unknown", "fails": "bad", "holds": "good", "not measurable here": "unknown"}
	for _, row := range report.ClaimsPage(verdicts()).Tables[1].Rows {
		if v := row.Values[3]; v.Class != classes[v.Text] {
			t.Errorf("%q is of class %s", v.Text, v.Class)
		}
	}
}
