package advise

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"dmebench/internal/tables"
	"dmebench/internal/terminal"
	"dmebench/report/circumstance"
	"dmebench/report/rank"
)

// survival is what 'dmebench validate --faults' says of every algorithm, the data of
// docs/survival.md; both are written by 'go test ./docs -run TestSurvivalPage -full -rewrite'.
//
//go:embed survival.csv
var survival string

// Failure is what becomes of some algorithms when one node fails: "goes on", "stops",
// "unsafe", "unknown", or "–" where it cannot happen to them.
type Failure struct {
	Crash      string   `json:"crash"`     // of any node, whatever it was doing: the worst case
	Restart    string   `json:"restart"`   // a crash, after which the node comes back
	Pause      string   `json:"pause"`     // of the node in the critical section
	Partition  string   `json:"partition"` // one that heals; messages across it are lost
	Algorithms []string `json:"algorithms"`
}

// Outcomes of a failure. What is worse is later.
const (
	cannot  = "–"
	goesOn  = "goes on"
	unknown = "unknown"
	stops   = "stops"
	unsafe  = "unsafe"
)

// failureOf reads what the table says of an algorithm; nothing is known of one that is
// not in it.
func failureOf(name string) Failure {
	f := Failure{Crash: cannot, Restart: cannot, Pause: cannot, Partition: cannot, Algorithms: []string{name}}
	known := false
	rows, err := csv.NewReader(strings.NewReader(survival)).ReadAll()
	if err != nil {
		panic("advise: survival.csv: " + err.Error()) // it is part of the program
	}
	for _, row := range rows[1:] {
		cell := func(column string) string { return row[slices.Index(rows[0], column)] }
		if cell("algorithm") != name {
			continue
		}
		known = true
		kind, _, _ := strings.Cut(cell("fault"), "-") // of crashes there are several
		of := map[string]*string{"crash": &f.Crash, "restart": &f.Restart, "pause": &f.Pause, "partition": &f.Partition}[kind]
		if of != nil {
			*of = worse(*of, outcome(cell("safe"), cell("live"), cell("runs")))
		}
	}
	if !known {
		f.Crash, f.Restart, f.Pause, f.Partition = unknown, unknown, unknown, unknown
	}
	return f
}

// outcome is a cell of the table in a word.
func outcome(safe, live, runs string) string {
	switch {
	case runs == "0":
		return cannot
	case safe == "no":
		return unsafe
	case live == "no":
		return stops
	case safe == "yes" && live == "yes":
		return goesOn
	}
	return unknown
}

func worse(a, b string) string {
	order := []string{cannot, goesOn, unknown, stops, unsafe}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

// failures groups algorithms of which the table says the same, the most robust first.
func failures(names []string) []Failure {
	all := []Failure{}
	badness := func(f Failure) int {
		n := 0
		for _, o := range []string{f.Crash, f.Restart, f.Pause, f.Partition} {
			n = 5*n + slices.Index([]string{goesOn, cannot, unknown, stops, unsafe}, o)
		}
		return n
	}
	for _, name := range names {
		f := failureOf(name)
		if k := slices.IndexFunc(all, func(g Failure) bool { return badness(g) == badness(f) }); k >= 0 {
			all[k].Algorithms = append(all[k].Algorithms, name)
		} else {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b Failure) int { return badness(a) - badness(b) })
	return all
}

// sayFailures says what the chosen one does when a node fails, and who goes on where it
// does not.
func (a *Advice) sayFailures(chosen rank.Entrant, by int) {
	f := failureOf(chosen.Algorithm)
	var parts []string
	for _, o := range []struct{ word, says string }{
		{unsafe, "is unsafe"}, {stops, "stops"}, {unknown, "has not been tried"}, {goesOn, "goes on"},
	} {
		var when []string
		for _, x := range []struct{ outcome, when string }{
			{f.Crash, "crashes"}, {f.Pause, "pauses"}, {f.Partition, "is cut off"},
		} {
			if x.outcome == o.word {
				when = append(when, x.when)
			}
		}
		if when != nil {
			parts = append(parts, o.says+" when a node "+strings.Join(when, " or "))
		}
	}
	a.IfNodesFail = chosen.Label + " " + circumstance.List(parts)
	if f.Crash == goesOn {
		return
	}
	for _, e := range a.contest.Entrants {
		if x := e.Cells[by]; failureOf(e.Algorithm).Crash == goesOn && x.Median != nil && !slices.Contains(a.Behind, e.Label) {
			a.IfNodesFail += fmt.Sprintf("; of those that go on when a node crashes %s is best here, with a %s of %s "+
				"(--crash-tolerant considers these alone)", e.Label, a.deciding(), a.value(*x.Median))
			return
		}
	}
}

// writeFailures prints the table of failures.
func (a *Advice) writeFailures(out *strings.Builder, style terminal.Style) {
	if len(a.Failures) == 0 {
		return
	}
	t := tables.New("  crashes", "comes back", "pauses", "is cut off", "algorithms")
	for _, f := range a.Failures {
		t.Add("  "+f.Crash, f.Restart, f.Pause, f.Partition, strings.Join(f.Algorithms, ", "))
	}
	fmt.Fprintln(out, style.Strong("When a node"))
	_ = t.WriteFitted(out, style.Width) // a Builder takes everything
	fmt.Fprintf(out, "%s\n\n", style.Wrap("goes on: all others are served; stops: somebody waits for ever; unsafe: two are in the critical "+
		"section at once; 'dmebench validate --faults -a NAME' tries it and shows why", 0))
}
