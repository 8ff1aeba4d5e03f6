package survival

import (
	"fmt"
	"strings"

	"dmebench/report/cells"
)

// Word says in a word or two how it went, and in how many of the runs it was so, if it was not in
// all; none is what a search alone has found.
func (c Cell) Word() string {
	word := c.Outcome()
	if word != "goes on" && word != "unknown" && word != "–" && c.so() < c.Runs {
		word += " " + c.Share()
	}
	return word
}

// Share is in how many of the runs it went so: "2/12".
func (c Cell) Share() string {
	if c.Runs == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", c.so(), c.Runs)
}

// so counts the runs that went as the outcome says.
func (c Cell) so() int {
	return map[string]int{"unsafe": c.Unsafe, "fenced": c.Unsafe, "stops": c.Stopped, "goes on": c.Runs}[c.Outcome()]
}

// Outcome is the word alone.
func (c Cell) Outcome() string {
	switch {
	case c.WhyNot != "":
		return "–"
	case c.Safe == No && c.Updates == Yes:
		return "fenced"
	case c.Safe == No:
		return "unsafe"
	case c.Safe == Unknown || c.Live == Unknown:
		return "unknown"
	case c.Live == No:
		return "stops"
	}
	return "goes on"
}

// Marked is Word with a mark for what it stands on, and one if it holds under conditions.
func (c Cell) Marked() string {
	word := c.Word()
	if c.Safe == Yes && c.Live != Unknown {
		word += map[Evidence]string{BySchedules: "¹", ByRuns: "²"}[c.weakest()]
	}
	if len(c.Only) > 0 {
		word += "³"
	}
	return word
}

// weakest is the weaker evidence of what is so: a no needs no more than one schedule.
func (c Cell) weakest() Evidence {
	for _, by := range []Evidence{ByRuns, BySchedules} {
		if c.SafeBy == by || c.Live == Yes && c.LiveBy == by {
			return by
		}
	}
	return c.SafeBy
}

// StandsOn is the evidence of the outcome.
func (c Cell) StandsOn() Evidence {
	if c.Outcome() == "stops" {
		return c.LiveBy
	}
	return c.weakest()
}

// The meaning of the words and the marks of the table.
const (
	Words = "'goes on': mutual exclusion held, and the requests of all nodes that were up were served. " +
		"'stops': it held, and a node waited for ever. 'unsafe': two nodes were in the critical section at once. " +
		"'fenced': they were, and a resource refused the late one by its fencing token, so that no update was lost. " +
		"'2/12': in 2 of 12 runs; 0: in a search alone. 'unknown': not tested."
	Marks = "Without a mark a word rests on all runs and on all states of a small system. " +
		"¹ The search was too large to visit all states: it rests on a part of them, and on random schedules. " +
		"² No search can see it: it rests on the runs alone. ³ Safe under conditions, which its cell names when opened. " +
		"Each column is one kind of fault alone."
)

// Searched says what the search has done.
func (c Cell) Searched() string {
	s := c.Search
	if s == nil {
		return ""
	}
	var parts []string
	never := ""
	if s.Verdict != "" {
		parts, never = append(parts, s.Verdict), "never two inside in "
	}
	switch {
	case s.Safe != Yes:
	case s.Complete:
		parts = append(parts, fmt.Sprintf("%sall %d states of %d nodes", never, s.States, s.Nodes))
	case s.States > 0:
		parts = append(parts, fmt.Sprintf("%smore than %d states of %d nodes, not all", never, roundedDown(s.States), s.Nodes))
	}
	if s.Safe == Yes && s.Random > 0 {
		parts = append(parts, fmt.Sprintf("%d random schedules", s.Random))
	}
	return strings.Join(parts, ", ")
}

// roundedDown leaves the first digit of a number: where exactly a search ends that
// reaches its limit depends on how its workers share the work.
func roundedDown(n uint64) uint64 {
	unit := uint64(1)
	for n/unit >= 10 {
		unit *= 10
	}
	return n / unit * unit
}

// Faults returns a cell of each kind of fault.
func (d *Document) Faults() (all []Cell) {
	for _, same := range cells.Grouped(d.Cells, func(c Cell) string { return c.Fault }) {
		all = append(all, same[0])
	}
	return all
}

// Rows divides the cells by algorithms.
func (d *Document) Rows() [][]Cell {
	return cells.Grouped(d.Cells, func(c Cell) string { return c.Algorithm })
}

// Conditions says under which conditions the runs were made.
func (d *Document) Conditions() string {
	return fmt.Sprintf("%d runs of each under heavy load and under light load over %s, N = %d or the next that the algorithm has, "+
		"seeds %d to %d. Times are those under heavy load, or under light load if only an idle node is hit. "+
		"Searches have up to one crash or two lost messages at any moment; for a partition, one lost message.",
		d.Repetitions, strings.Join(d.Networks, " and "), d.Nodes, d.Seed, d.Seed+uint64(max(0, d.Repetitions-1)))
}
