package advise

import (
	"cmp"
	_ "embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"dmebench/internal/platform/layout"
	"dmebench/report/rank"
	"dmebench/report/survival"
)

// table is what 'dmebench validate --faults' says of every algorithm, the data of
// docs/survival.md; both are written by 'DMEBENCH_TESTS=full go test ./docs -run TestSurvivalPage -rewrite'.
//
//go:embed survival.csv
var table string

// Failure is what becomes of some algorithms when one node fails: "goes on", "stops", "unsafe",
// "unknown", or "–" if it cannot happen to them.
type Failure struct {
	Crash      string   `json:"crash"`     // of any node, at any moment: the worst case
	Restart    string   `json:"restart"`   // a crash, after which the node comes back
	Pause      string   `json:"pause"`     // of the node in the critical section; "fenced": a resource can refuse the late one
	Partition  string   `json:"partition"` // one that heals; messages across it are lost
	Algorithms []string `json:"algorithms"`
}

// outcomes of a failure, the worse the later.
var outcomes = []string{"–", "goes on", "fenced", "unknown", "stops", "unsafe"}

func worse(a, b string) string {
	return outcomes[max(slices.Index(outcomes, a), slices.Index(outcomes, b))]
}

// failureOf reads what the table says of an algorithm, if anything.
func failureOf(name string) Failure {
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		panic("advise: survival.csv: " + err.Error()) // never happens: embedded in the program
	}
	of := make(map[string]string)
	for _, row := range rows[1:] {
		cell := func(column string) string { return row[slices.Index(rows[0], column)] }
		if cell("algorithm") != name {
			continue
		}
		c := survival.Cell{
			Safe: survival.Answer(cell("safe")), Live: survival.Answer(cell("live")), Updates: survival.Answer(cell("updates")),
		}
		if cell("runs") == "0" {
			c.WhyNot = "it cannot be"
		}
		kind, _, _ := strings.Cut(cell("fault"), "-") // of crashes there are several
		of[kind] = worse(of[kind], c.Outcome())
	}
	outcome := func(kind string) string { return cmp.Or(of[kind], "unknown") }
	return Failure{outcome("crash"), outcome("restart"), outcome("pause"), outcome("partition"), []string{name}}
}

// failures groups algorithms with the same table entries, the most robust first.
func failures(names []string) []Failure {
	all := []Failure{}
	for _, name := range names {
		f := failureOf(name)
		k := slices.IndexFunc(all, func(g Failure) bool {
			return g.Crash == f.Crash && g.Restart == f.Restart && g.Pause == f.Pause && g.Partition == f.Partition
		})
		if k < 0 {
			all = append(all, f)
		} else {
			all[k].Algorithms = append(all[k].Algorithms, name)
		}
	}
	slices.SortStableFunc(all, func(a, b Failure) int { return slices.Index(outcomes, a.Crash) - slices.Index(outcomes, b.Crash) })
	return all
}

// sayFailures says what the chosen one does when a node fails, and which others go on.
func (a *Advice) sayFailures(chosen rank.Entrant, by int) {
	f := failureOf(chosen.Algorithm)
	a.IfNodesFail = fmt.Sprintf("%s: %s when a node crashes, %s when one pauses, %s when one is cut off",
		chosen.Label, f.Crash, f.Pause, f.Partition)
	for _, e := range a.contest.Entrants {
		x := e.Cells[by].Median
		if f.Crash != "goes on" && failureOf(e.Algorithm).Crash == "goes on" && x != nil && !slices.Contains(a.Behind, e.Label) {
			a.IfNodesFail += fmt.Sprintf("; among the algorithms that go on when a node crashes, %s is best here: its %s "+
				"(--survive crash considers only these)", e.Label, a.deciding(*x))
			return
		}
	}
}

func (a *Advice) writeFailures(out *strings.Builder, style layout.Style) {
	t := layout.NewTable("  crashes", "comes back", "pauses", "is cut off", "algorithms")
	for _, f := range a.Failures {
		t.Add("  "+f.Crash, f.Restart, f.Pause, f.Partition, strings.Join(f.Algorithms, ", "))
	}
	fmt.Fprintln(out, style.Strong("When a node"))
	_ = t.WriteFitted(out, style.Width) // a Builder takes everything
	fmt.Fprintf(out, "%s\n\n", style.Wrap("goes on: all other nodes are served; stops: some node waits for ever; "+
		"unsafe: two nodes are in the critical section at once; fenced: they are, and their tokens tell a resource "+
		"which is late; 'dmebench validate --faults -a NAME' tries it and shows why", 0))
}
