package report_test

import (
	"regexp"
	"strings"
	"testing"
)

var (
	command = regexp.MustCompile(`\\(?:[a-zA-Z]+|.)`)
	braces  = regexp.MustCompile(`^[^{}]*$`)
)

// checkLaTeX checks what LaTeX would trip over: braces, environments, formulas and signs
// with a meaning.
func checkLaTeX(t *testing.T, text string) {
	t.Helper()
	text = regexp.MustCompile(`(?m)(^|[^\\])%.*$`).ReplaceAllString(text, "$1")
	var open []string
	for _, m := range regexp.MustCompile(`\\(begin|end)\{(\w+)\}`).FindAllStringSubmatch(text, -1) {
		switch {
		case m[1] == "begin":
			open = append(open, m[2])
		case len(open) == 0 || open[len(open)-1] != m[2]:
			t.Fatalf("\\end{%s} closes %q", m[2], open)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("not closed: %q", open)
	}
	bare := strings.ReplaceAll(command.ReplaceAllString(strings.ReplaceAll(text, `\\`, " "), " "), "\n", " ")
	if strings.Count(bare, "$")%2 != 0 {
		t.Error("an odd number of $")
	}
	for depth := -1; depth != len(bare); { // take the innermost pairs away, as long as there are some
		depth = len(bare)
		bare = regexp.MustCompile(`\{[^{}]*\}`).ReplaceAllString(bare, "")
	}
	if !braces.MatchString(bare) {
		t.Errorf("braces do not match: %.200s", bare)
	}
	outside := regexp.MustCompile(`\$[^$]*\$`).ReplaceAllString(bare, "")
	if i := strings.IndexAny(outside, "#~^_"); i >= 0 && outside[i] != '~' {
		t.Errorf("a bare %q in %.80s", outside[i], outside[i:])
	}
	for _, r := range bare {
		if strings.ContainsRune("−≤≥√µ·…–", r) {
			t.Errorf("a sign that LaTeX's fonts may not have: %q", r)
		}
	}
}

// A table for LaTeX has as many cells in each row as columns, and nothing that LaTeX would
// take for a command, whatever algorithms are called; so have the captions.
func TestTablesForLaTeX(t *testing.T) {
	odd := `100%_of {K−1} \input{x} $&#~^ <µ> "√N"`
	in := experiment(t, []string{odd, "raymond"}, []string{"saturate", "poisson"}, []int{3, 13}, 6)
	for _, r := range in.Runs {
		r.Result.Spec.CS = "exp:100us"
		if r.Label == "raymond" && r.Result.Nodes == 13 {
			r.Result.SyncDelayOverT = nil
		}
	}
	b := build(t, in)
	for _, name := range []string{"results-tcp-saturate.tex", "results-tcp-poisson.tex"} {
		text := string(b.file(t, "tables/"+name))
		checkLaTeX(t, text)
		columns := regexp.MustCompile(`\\begin\{tabular\}\{([lr]+)\}`).FindStringSubmatch(text)
		if columns == nil || !strings.Contains(text, `\toprule`) || !strings.Contains(text, `\bottomrule`) {
			t.Fatalf("no tabular with rules:\n%s", text)
		}
		rows := 0
		for line := range strings.Lines(text) {
			if row, ok := strings.CutSuffix(strings.TrimSpace(line), `\\`); ok {
				rows++
				if n := strings.Count(strings.ReplaceAll(row, `\&`, ""), "&") + 1; n != len(columns[1]) {
					t.Errorf("%s: %d cells for %d columns: %s", name, n, len(columns[1]), row)
				}
			}
		}
		if rows != 5 { // a head, and two series at two sizes
			t.Errorf("%s: %d rows", name, rows)
		}
		if waits := strings.Contains(text, "waiting time p99"); waits != strings.Contains(name, "poisson") {
			t.Errorf("%s: waiting time is there: %v", name, waits)
		}
	}
	captions := string(b.file(t, "captions.tex"))
	checkLaTeX(t, captions)
	for _, m := range regexp.MustCompile(`includegraphics\{(plots/[^}]*)\}`).FindAllStringSubmatch(captions, -1) {
		b.file(t, m[1]+".svg")
	}
	if n := strings.Count(captions, `\begin{figure}`); n != len(b.captions(t)) || n == 0 {
		t.Errorf("%d figures for LaTeX, and %d captions", n, len(b.captions(t)))
	}
}
