package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"dmebench/report/cells"
	"dmebench/runs"
)

// warning is one kind of warning, however often it was given.
type warning struct {
	Text  string // with a range for numbers that differ: "oversubscribed: 13 to 25 processes on 2 cores"
	Where string // how many, and of what
}

// changing is what differs between two warnings of one kind: numbers with their
// units, but not the digits of a name such as p99.
var changing = regexp.MustCompile(`\b\d+([.,]\d+)*(e[-+]?\d+)?( ?(ns|µs|us|ms|s|m|h|%|B|KB|MB|KiB|MiB)\b)?`)

// told is a warning with who gave it.
type told struct {
	text, label string
	runs, cells int
}

// warningList groups what runs, statistics and files warned about, the most
// frequent first.
func (c *collection) warningList() []warning {
	var all []told
	for _, w := range c.warnings {
		all = append(all, told{text: w})
	}
	all = append(all, c.hostWarnings()...)
	for _, r := range c.runs {
		for _, w := range r.Result.Warnings {
			all = append(all, told{text: w, label: r.Label, runs: 1})
		}
	}
	for _, s := range c.sets {
		for _, cell := range s.inOrder() {
			for _, w := range cell.warnings() {
				all = append(all, told{text: w, label: cell.Label, cells: 1})
			}
		}
	}
	groups := cells.Grouped(all, func(t told) string { return changing.ReplaceAllString(t.text, "…") })
	slices.SortStableFunc(groups, func(a, b []told) int { return len(b) - len(a) })
	var list []warning
	for _, group := range groups {
		list = append(list, c.summarize(group))
	}
	return list
}

// ranges writes what warnings of one kind say, with the least and the greatest of numbers
// that differ: "101 to 340 µs late".
func ranges(group []told) string {
	at := -1
	return changing.ReplaceAllStringFunc(group[0].text, func(string) string {
		at++
		var all []string // the numbers at this place
		for _, t := range group {
			all = append(all, changing.FindAllString(t.text, -1)[at])
		}
		bySize := func(a, b string) int { return cmp.Compare(sizeOf(a), sizeOf(b)) }
		least, most := slices.MinFunc(all, bySize), slices.MaxFunc(all, bySize)
		if least == most {
			return least
		}
		number, unit := divided(least)
		if _, same := divided(most); unit == same {
			least = number
		}
		return least + " to " + most
	})
}

// divided divides what [changing] matches into the number and its unit.
func divided(text string) (number, unit string) {
	end := strings.LastIndexAny(text, "0123456789") + 1
	return text[:end], text[end:]
}

// sizeOf is what differing numbers are ordered by.
func sizeOf(text string) float64 {
	if d, err := time.ParseDuration(strings.ReplaceAll(text, " ", "")); err == nil {
		return d.Seconds()
	}
	number, _ := divided(text)
	x, _ := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
	return x
}

// summarize makes one warning of those of one kind.
func (c *collection) summarize(group []told) warning {
	w := warning{Text: ranges(group)}
	runs, cells := 0, 0
	var labels []string
	for _, t := range group {
		runs, cells = runs+t.runs, cells+t.cells
		if t.label != "" && !slices.Contains(labels, t.label) {
			labels = append(labels, t.label)
		}
	}
	var parts []string
	if runs > 0 {
		parts = append(parts, plural(runs, "run"))
	}
	if cells > 0 {
		parts = append(parts, plural(cells, "cell"))
	}
	if len(labels) > 0 && len(labels) < len(c.labels) {
		parts = append(parts, strings.Join(labels, ", "))
	}
	w.Where = strings.Join(parts, "; ")
	return w
}

// warnings returns what limits the estimates of a cell, each once.
func (c *cell) warnings() []string {
	all := append(c.bimodal(), c.hostWarnings()...)
	if c.Twins > 0 {
		all = append(all, fmt.Sprintf("%s with the seed of another one: the same run again, which does not count", plural(c.Twins, "simulation")))
	}
	for _, m := range runs.Metrics() {
		e := c.estimates[m.Name]
		for _, w := range e.Warnings {
			if e.N > 0 && !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	return all
}
