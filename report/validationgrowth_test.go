package report_test

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"dmebench/claims"
	"dmebench/dme/claim"
	"dmebench/internal/testkit"
	"dmebench/report"
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

func pageOf(t *testing.T, d *claims.Document) string { return fileOf(t, d, "validate.html") }

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

// The page begins with how messages grow, over each network, before any table.
func TestValidationOpensWithGrowth(t *testing.T) {
	page := pageOf(t, growing(func(n float64) float64 { return 3*math.Sqrt(n) - 2 }))
	growth, table := strings.Index(page, `<section id="growth-roots"`), strings.Index(page, `<section id="claims"`)
	if growth < 0 || table < growth {
		t.Fatalf("the figure of growth is at %d, the table of claims at %d", growth, table)
	}
	text := page[growth:table]
	for _, want := range []string{
		"roots: messages grow like √N", "Light load (serial)", "3·√N − 2", "in virtual time, 6 sizes from 9 to 900 nodes",
		"over tcp, 5 sizes from 9 to 100 nodes", "messages per CS grows like 3√N", ">holds<", "<svg", "Residuals", "Other exponents",
		"serial over tcp", ">N^(1/3)</text>", ">N^(2/3)</text>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the card lacks %q", want)
		}
	}
	exponent := regexp.MustCompile(`The exponent of N that fits best is (0\.(49|50)\d*|0\.5) \[[^]]*\] in virtual time and`)
	if !exponent.MatchString(text) && !strings.Contains(text, "that fits best is 0.5") {
		t.Errorf("no exponent near 1/2 with its interval in %.600q", text)
	}
}

// So does the page of a repository, without figures.
func TestValidationMarkdownOpensWithGrowth(t *testing.T) {
	page := fileOf(t, growing(func(n float64) float64 { return 3*math.Sqrt(n) - 2 }), "validate.md")
	want := "- **roots**, Light load (serial): claimed 3√N: **holds**. Measured 3·√N − 2"
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

// Where another growth describes the runs better than the claimed one the page
// says which.
func TestValidationNamesABetterGrowth(t *testing.T) {
	page := pageOf(t, growing(func(n float64) float64 { return 2 * n }))
	if want := "Of the growths compared N describes the simulation best"; !strings.Contains(page, want) {
		t.Errorf("the page does not say %q", want)
	}
}

// The answer is green where all exact claims hold, amber where another claim fails, and
// red where an exact one does.
func TestValidationGround(t *testing.T) {
	d := growing(math.Sqrt)
	for _, x := range []struct {
		kind  claim.Kind
		s     claims.Status
		class string
		says  string
	}{
		{claim.Exact, claims.Holds, "sound", "Every claim that was judged holds"},
		{claim.Exact, claims.KnownFalse, "sound", "but for those known to be false"},
		{claim.Exact, claims.NotRun, "sound", "Not run: 1 claim."},
		{claim.Mean, claims.Partly, "sound", "1 hold only in part, and none fails"},
		{claim.Mean, claims.Fails, "look", "and 1 do not hold"},
		{claim.Exact, claims.Partly, "unsound", "1 exact claim not known to be false did not hold in every run"},
		{claim.Exact, claims.Fails, "unsound", "1 exact claim not known to be false did not hold in every run"},
	} {
		d.Claims[0].Kind, d.Claims[0].Verdict = x.kind, x.s
		d.Count()
		page := pageOf(t, d)
		if !strings.Contains(page, `class="verdict `+x.class+`"`) || !strings.Contains(page, x.says) {
			t.Errorf("%s claim, %s: not %s, or it does not say %q", x.kind, x.s, x.class, x.says)
		}
	}
}

// What was refuted as expected is not shown as a fault, and every claim has one
// line that tells what the filter needs.
func TestValidationColoursFaultsAlone(t *testing.T) {
	page := pageOf(t, verdicts())
	for status, class := range map[string]string{"known false": "false", "fails": "bad", "holds": "good", "not measurable here": "open"} {
		want := `<span class="` + class + `" title="` + status + `"><span class="word">` + status + `</span></span></summary>`
		if !strings.Contains(page, want) {
			t.Errorf("%q is not of class %s", status, class)
		}
	}
	if n := strings.Count(page, `class="claim" data-algorithm="a&lt;b" data-verdict="`); n != len(verdicts().Claims) {
		t.Errorf("%d lines for %d claims", n, len(verdicts().Claims))
	}
}
