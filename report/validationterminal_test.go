package report_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"dmebench/claims"
	"dmebench/internal/platform/layout"
	"dmebench/report"
)

func onTerminal(t *testing.T, d *claims.Document, style layout.Style, verbose bool) []string {
	t.Helper()
	var out strings.Builder
	if err := report.ValidationOnTerminal(&out, d, style, verbose); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// On a terminal every line fits the width; each claim has one line that begins with
// its algorithm; what fails comes last, with its reason, and then the counts.
func TestValidationOnTerminal(t *testing.T) {
	d := verdicts()
	d.Claims[1].Formula = strings.Repeat("3(√N − 1) and ", 12) + "so on"
	d.Claims[0].Detail = ": " + strings.Repeat("33, not 30, ", 20)
	partly := d.Claims[0]
	partly.Verdict, partly.Detail = claims.Partly, " serial (N = 4 8 16 32)"+strings.Repeat(", saturate, exponential delays (N = 7 13)", 9)
	d.Claims = append(d.Claims, partly)
	d.Count()
	escape := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, width := range []int{40, 80, 132} {
		lines := onTerminal(t, d, layout.Style{Width: width, Colour: true}, false)
		var order []string
		for _, line := range lines {
			plain := escape.ReplaceAllString(line, "")
			if n := utf8.RuneCountInString(plain); n > width {
				t.Errorf("%d columns on a terminal of %d: %q", n, width, plain)
			}
			if word, found := strings.CutPrefix(plain, "a<b  "); found {
				word, _, _ = strings.Cut(word, "  ")
				order = append(order, word)
			}
		}
		want := []string{"holds", "holds", "not measurable here", "known false", "holds in part", "fails"}
		if !slices.Equal(order, want) {
			t.Errorf("verdicts in the order %q, want %q", order, want)
		}
		text := strings.Join(strings.Fields(escape.ReplaceAllString(strings.Join(lines, "\n"), "")), " ")
		if !strings.Contains(text, "not for N = 1,000 under serial over tcp: up to 33 a<b fails") {
			t.Errorf("what holds in part does not say where not:\n%s", text)
		}
		if i := strings.Index(text, " 6 claims:"); i < strings.LastIndex(text, "33, not 30") {
			t.Errorf("the counts do not come last:\n%s", text)
		}
	}
	lines := onTerminal(t, d, layout.Style{Width: 80, Colour: true}, false)
	if first := lines[0]; !strings.Contains(first, "\x1b[32mholds\x1b[0m") {
		t.Errorf("%q is not green", first)
	}
	if text := strings.Join(lines, "\n"); strings.Count(text, "\x1b[31m") != 1 {
		t.Errorf("what fails is not the only thing in red:\n%s", text)
	}
}

// With --verbose each claim has its reason; without a terminal's colours there are none.
func TestValidationOnTerminalVerbose(t *testing.T) {
	text := strings.Join(onTerminal(t, verdicts(), layout.Style{Width: 80}, true), "\n")
	for _, want := range []string{"    a reason (shown: 33)\n    a paper;", "    (in 6 runs)\n", "    nothing tells it\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Errorf("colours without a terminal that has them:\n%s", text)
	}
	brief := strings.Join(onTerminal(t, verdicts(), layout.Style{Width: 80}, false), "\n")
	if strings.Contains(brief, "a reason") {
		t.Errorf("a reason for what was refuted as expected:\n%s", brief)
	}
}

// A verdict that rests on a tolerance names it, with size and reason, and a bound says
// how close it comes: on the terminal, on lines, on both pages and in the table.
func TestTolerancesAndBoundsAreTold(t *testing.T) {
	const size, reason = 0.2, "over a real network a handler takes time too"
	d := verdicts()
	granted := &d.Claims[1]
	granted.Tolerances = []claims.Tolerance{{Size: size, Reason: reason, Points: 3}}
	granted.Points[0].Tolerance, granted.Points[0].ToleranceFor = size, reason
	granted.Detail += "; with a tolerance of " + granted.Tolerances[0].String()
	granted.Text = string(granted.Verdict) + granted.Detail
	bound := d.Claims[0]
	bound.Verdict, bound.Detail, bound.Kind, bound.Closest = claims.Holds, " (in 6 runs searched)", "upper bound", number(0.125)
	bound.Points = []claims.Point{bound.Points[0]}
	bound.Points[0].Closest, bound.Points[0].Source = number(0.125), claims.Search
	met := bound
	met.Closest = number(1)
	d.Claims = append(d.Claims, bound, met)
	brief := strings.Join(onTerminal(t, d, layout.Style{}, false), "\n")
	verbose := strings.Join(onTerminal(t, d, layout.Style{}, true), "\n")
	files, err := report.Validation(d)
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	if err := report.ValidationLines(&lines, d); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"the terminal": brief, "the terminal, verbose": verbose, "lines": lines.String()}
	for _, f := range files {
		texts[f.Name] = string(f.Data)
	}
	for where, text := range texts {
		if !strings.Contains(text, reason) || !strings.Contains(text, "20%") && !strings.Contains(text, "0.2") {
			t.Errorf("%s: the tolerance is not named", where)
		}
	}
	if n := strings.Count(verbose, reason); n != 1 {
		t.Errorf("verbose, the terminal names a tolerance %d times", n)
	}
	for where, want := range map[string][]string{
		"the terminal":  {", not approached: 12.5% at most", ", reached"},
		"validate.html": {"not approached: 12.5% at most", "reached", "tolerance of 20%"},
		"validate.json": {`"closest": 0.125`, `"source": "search"`, `"tolerance_for"`},
		"validate.csv":  {",0.125,,,search", "0.2," + reason + ",runs"},
	} {
		for _, part := range want {
			if !strings.Contains(texts[where], part) {
				t.Errorf("%s does not say %q", where, part)
			}
		}
	}
	if strings.Count(brief, "not approached")+strings.Count(brief, ", reached") != 2 {
		t.Errorf("claims that are no bounds come close to one:\n%s", brief)
	}
}
