package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dmebench/internal/platform"
	"dmebench/report/cells"
	"dmebench/report/page"
	"dmebench/runs"
	"dmebench/units"
)

// changing is what differs between two warnings of one kind: numbers with their
// units, but not the digits of a name such as p99.
var changing = platform.Pattern(`\b\d+([.,]\d+)*(e[-+]?\d+)?( ?(ns|µs|us|ms|s|m|h|%|B|KB|MB|KiB|MiB)\b)?`)

// told is a warning with the runs that gave it.
type told struct {
	text, label string // the label, or the host
	cell        int    // its place on the page, −1 if it concerns none
	runs, cells int
}

// addWarnings groups what runs, statistics and files warned about, the most frequent
// first, and says so at the cells that it concerns.
func (p *paper) addWarnings() {
	var all []told
	for _, w := range p.warnings {
		all = append(all, told{text: w, cell: -1})
	}
	all = append(all, p.hostWarnings()...)
	for _, r := range p.runs {
		cell, ok := p.cellOf[r.Result]
		if !ok {
			cell = -1
		}
		for _, w := range r.Result.Warnings {
			all = append(all, told{text: w, label: r.Label, cell: cell, runs: 1})
		}
	}
	for i, cell := range p.cells {
		for _, w := range cell.warnings() {
			all = append(all, told{text: w, label: cell.Label, cell: i, cells: 1})
		}
	}
	groups := cells.Grouped(all, func(t told) string { return changing().ReplaceAllString(t.text, "…") })
	slices.SortStableFunc(groups, func(a, b []told) int { return len(b) - len(a) })
	for i, group := range groups {
		w := p.summarize(group)
		for _, t := range group {
			if t.cell >= 0 && !slices.Contains(w.Cells, t.cell) {
				w.Cells = append(w.Cells, t.cell)
				cell := &p.data.Cells[t.cell]
				cell.Warnings = append(cell.Warnings, i)
			}
		}
		p.data.Warnings = append(p.data.Warnings, w)
	}
}

// ranges writes what warnings of one kind say, with the least and the greatest of numbers
// that differ: "101 to 340 µs late".
func ranges(group []told) string {
	at := -1
	return changing().ReplaceAllStringFunc(group[0].text, func(string) string {
		at++
		var all []string // the numbers at this place
		for _, t := range group {
			all = append(all, changing().FindAllString(t.text, -1)[at])
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
func (c *collection) summarize(group []told) page.Warning {
	w := page.Warning{Text: ranges(group)}
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
		parts = append(parts, units.Counted(runs, "run"))
	}
	if cells > 0 {
		parts = append(parts, units.Counted(cells, "cell"))
	}
	if len(labels) > 0 && !slices.Equal(slices.Sorted(slices.Values(labels)), slices.Sorted(slices.Values(c.labels))) {
		parts = append(parts, enumerated(labels))
	}
	w.Where = strings.Join(parts, "; ")
	return w
}

// warnings returns what limits the estimates of a cell, each once.
func (c *cell) warnings() []string {
	all := slices.Concat(c.bimodal(), c.hostWarnings())
	if c.unread != nil {
		all = append(all, fmt.Sprintf("no percentile curve: %v", c.unread))
	}
	if c.Twins > 0 {
		all = append(all, fmt.Sprintf("%s with the seed of another one: the same run again, which does not count",
			units.Counted(c.Twins, "simulation")))
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
