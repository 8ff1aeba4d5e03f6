package report_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dmebench/runs"
)

// contrasted is an experiment in which suzuki-kasami serves twice as many as the others.
func contrasted(t *testing.T, labels []string, workloads []string, sizes []int, repetitions int) built {
	in := experiment(t, labels, workloads, sizes, repetitions)
	in.Header.Experiment.Description = "Is a token <faster>?"
	for i, r := range in.Runs {
		x := float64(1000 + r.Repetition)
		if r.Label == "suzuki-kasami" {
			x *= 2
		}
		in.Runs[i].Result.Throughput = &x
	}
	return build(t, in)
}

// The page begins with what was asked, how runs ended, what limits that, and who is
// best; figures come after that.
func TestPageBeginsWithTheAnswer(t *testing.T) {
	b := contrasted(t, []string{"maekawa", "suzuki-kasami", "raymond"}, []string{"saturate", "serial"}, []int{3, 13}, 6)
	text := regexp.MustCompile(`(?s)<style>.*?</style>|<[^>]*>`).ReplaceAllString(b.page, " ")
	text = strings.Join(strings.Fields(text), " ")
	at := 0
	for _, want := range []string{
		"Is a token &lt;faster&gt;?",
		"3 algorithms (maekawa, suzuki-kasami, raymond) on 3 and 13 nodes, over tcp, under saturate and serial; 6 repetitions of each.",
		"72 runs: 72 ok", "Look at the warnings: 12 of 12 cells carry one.", "Warnings", "generator late by 101 to 106 µs (p99)",
		"Which algorithm is best", "tcp · saturate · CS 100 µs · 50 requests per node",
		"N = 3 suzuki-kasami has the highest throughput, 2,005 CS/s (95% interval 2,000 to 2,010); ", "is next with 50% less (each p≤0.006).",
		"N = 13 suzuki-kasami has the highest throughput", "algorithm throughput (CS/s) waiting time p50",
		"tcp · saturate · CS 100 µs · 50 requests per node · N = 13 by throughput 1 suzuki-kasami 2,005 2,000–2,010 best",
		"2 maekawa 1,002 1,000–1,005 −50%, p=0.006", "Medians over repetitions", "The same table for other numbers of nodes", "· N = 3",
		"Messages against delay",
	} {
		i := strings.Index(text[at:], want)
		if i < 0 {
			t.Fatalf("no %q after\n%s\nin\n%s", want, text[max(0, at-100):at], text[at:min(len(text), at+1500)])
		}
		at += i
	}
	if first := strings.Index(b.page, "<svg "); first < strings.Index(b.page, "Which algorithm is best") {
		t.Error("a figure stands before the answer")
	}
	if !strings.Contains(b.page, `class="verdict look"`) {
		t.Error("the banner is not amber though all cells carry a warning")
	}
	if _, err := os.Stat(filepath.Join(b.dir, "plots", "summary.svg")); err != nil {
		t.Error(err)
	}
}

// The banner is green where most cells carry no warning, and red where runs went wrong.
func TestBanner(t *testing.T) {
	for name, x := range map[string]struct {
		warned, failed int
		want           string
	}{
		"without a warning": {0, 0, "sound"}, "few warnings": {1, 0, "sound"}, "most": {3, 0, "look"}, "a failed run": {3, 1, "unsound"},
	} {
		in := experiment(t, []string{"maekawa", "raymond"}, []string{"saturate"}, []int{3, 7}, 6)
		cells := make(map[string]bool)
		for i, r := range in.Runs {
			cell := fmt.Sprint(r.Label, r.Result.Nodes)
			if !cells[cell] && len(cells) == x.warned {
				in.Runs[i].Result.Warnings = nil
				continue
			}
			cells[cell] = true
		}
		for i := range x.failed {
			in.Runs[i].Result.Status = runs.Failed
		}
		b := build(t, in)
		if !strings.Contains(b.page, `class="verdict `+x.want+`"`) {
			t.Errorf("%s: no banner of class %s", name, x.want)
		}
		if hint := strings.Contains(b.page, "Look at the warnings"); hint != (x.warned == 3) {
			t.Errorf("%s: the banner points at warnings: %v", name, hint)
		}
	}
}

// Many kinds of warnings are folded, all but the first.
func TestManyWarningsAreFolded(t *testing.T) {
	in := experiment(t, []string{"maekawa", "raymond"}, []string{"saturate"}, []int{3}, 6)
	in.Runs[0].Result.Warnings = []string{"alpha", "beta", "gamma", "delta"}
	page := build(t, in).page
	fold := strings.Index(page, "<summary>2 more</summary>")
	if fold < 0 || !strings.Contains(page[fold:], "<li>delta") || strings.Contains(page[fold:], "<li>alpha") {
		t.Errorf("fold at %d", fold)
	}
}

// With one algorithm there is nothing to compare, and the page says what it measured.
func TestOneAlgorithm(t *testing.T) {
	b := contrasted(t, []string{"suzuki-kasami"}, []string{"saturate"}, []int{3}, 6)
	b.wants(t, "What was measured", "suzuki-kasami on 3 nodes, over tcp, under saturate; 6 repetitions of each.",
		"suzuki-kasami has a throughput of 2,005 CS/s (95% interval 2,000 to 2,010); there is no other to compare it with.")
	if strings.Contains(b.page, "Which algorithm is best") || strings.Contains(b.page, "Messages against delay") {
		t.Error("one algorithm is ranked")
	}
}
