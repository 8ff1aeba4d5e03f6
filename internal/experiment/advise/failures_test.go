package advise

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"dmebench/algorithms"
	"dmebench/internal/platform/layout"
	"dmebench/workload/fault"
)

// The data that the program has is what docs/survival.md says, for every algorithm that
// can be recommended.
func TestFailuresAreThoseOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/survival.md")
	if err != nil {
		t.Fatal(err)
	}
	cells := make(map[string]map[string]string)
	var faults []string
	for line := range strings.Lines(string(page)) {
		row := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range row {
			row[i] = strings.ToLower(strings.TrimSpace(row[i]))
		}
		switch {
		case row[0] == "algorithm" && faults == nil:
			faults = row
		case strings.HasPrefix(line, "## "):
			faults = []string{}
		case len(faults) > 0 && len(row) == len(faults):
			cells[row[0]] = make(map[string]string)
			for i, text := range row {
				for _, word := range outcomes {
					if strings.HasPrefix(text, word) {
						cells[row[0]][faults[i]] = word
					}
				}
			}
		}
	}
	for _, a := range algorithms.All() {
		if a.AsPublished {
			continue
		}
		want := Failure{Crash: "–", Restart: cells[a.Name]["restart"], Pause: cells[a.Name]["pause"], Partition: cells[a.Name]["partition"]}
		for kind, word := range cells[a.Name] {
			if strings.HasPrefix(kind, "crash") {
				want.Crash = worse(want.Crash, word)
			}
		}
		got := failureOf(a.Name)
		if got.Crash != want.Crash || got.Restart != want.Restart || got.Pause != want.Pause || got.Partition != want.Partition {
			t.Errorf("%s: %+v, the page says %+v; DMEBENCH_TESTS=full go test ./docs -run TestSurvivalPage -rewrite", a.Name, got, want)
		}
	}
}

// What was found out does not contradict what algorithms say of themselves.
func TestFailuresAreThoseDeclared(t *testing.T) {
	for _, a := range algorithms.All() {
		if a.AsPublished {
			continue
		}
		f, supports := failureOf(a.Name), fault.Supported(a)
		if f.Crash == "goes on" != slices.Contains(supports, "crash") && f.Crash != "unknown" {
			t.Errorf("%s supports %v, and when a node crashes it %s", a.Name, supports, f.Crash)
		}
		if f.Restart == "–" == slices.Contains(supports, "restart") {
			t.Errorf("%s supports %v, and when a node comes back it %s", a.Name, supports, f.Restart)
		}
	}
}

func TestUnknownFailures(t *testing.T) {
	if f := failureOf("one-of-my-own"); f.Crash != "unknown" || f.Partition != "unknown" {
		t.Errorf("%+v", f)
	}
}

// answered is an answer that several tests look at.
var answered = sync.OnceValue(func() *Advice {
	q := question()
	q.Repetitions = 10 // with fewer, no test tells so many apart
	a, err := Ask(context.Background(), q, Options{Catalog: algorithms.All(), Run: simulated})
	if err != nil {
		panic(err)
	}
	return a
})

// The answer begins with failures: every candidate has its place there, before any
// figure, and what is chosen is not praised without its price.
func TestFailuresComeFirst(t *testing.T) {
	a := answered()
	var named []string
	for _, f := range a.Failures {
		named = append(named, f.Algorithms...)
	}
	ranked := a.ranks()
	slices.Sort(named)
	slices.Sort(ranked)
	if !slices.Equal(named, ranked) {
		t.Errorf("failures of %v, and these are ranked: %v", named, ranked)
	}
	if first := a.Failures[0]; first.Crash != "goes on" || !slices.Contains(first.Algorithms, "maekawa") {
		t.Errorf("first %+v", first)
	}
	text := written(t, a)
	failures, ranking := strings.Index(text, "crashes  comes back"), strings.Index(text, "wait p99")
	if failures < 0 || ranking < failures {
		t.Errorf("failures at %d, the ranking at %d:\n%s", failures, ranking, text)
	}
	says := strings.Join(strings.Fields(a.IfNodesFail), " ")
	want := a.Choose + ": stops when a node crashes, goes on when one pauses, stops when one is cut off; "
	if text = strings.Join(strings.Fields(text), " "); !strings.HasPrefix(says, want) ||
		!strings.Contains(says, "among the algorithms that go on when a node crashes") || !strings.Contains(text, says) {
		t.Errorf("%s\n%s", says, text)
	}
}

// Ties share a place, wherever in the ranking, and intervals are written by their ends.
func TestRankingOfAdvice(t *testing.T) {
	a := answered()
	by := a.contest.Column(a.contest.By)
	for i, x := range a.contest.Entrants {
		for _, y := range a.contest.Entrants[:i] {
			if *x.Cells[by].Median == *y.Cells[by].Median && slices.Equal(x.Cells[by].Values, y.Cells[by].Values) && x.Place != y.Place {
				t.Errorf("%s is %d, %s is %d, and they are the same", x.Label, x.Place, y.Label, y.Place)
			}
		}
	}
	if last := a.contest.Entrants[len(a.contest.Entrants)-1]; last.Place == 0 {
		t.Errorf("%s has no place", last.Label)
	}
	text := written(t, a)
	if strings.Contains(text, "±") || !strings.Contains(text, " ms [") {
		t.Errorf("intervals are to be [low, high]:\n%s", text)
	}
}

func written(t *testing.T, a *Advice) string {
	t.Helper()
	var text strings.Builder
	if err := a.WriteText(&text, layout.Style{Width: 200}); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
