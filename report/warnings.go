package report

import (
	"regexp"
	"slices"
	"strings"

	"dmebench/result"
)

// warning is one kind of warning, however often it was given.
type warning struct {
	Text    string // with "…" for what differs
	Example string // the first, where they differ
	Where   string // how many, and of what
}

// changing is what differs between two warnings of one kind: numbers with their
// units, but not the digits of a name such as p99.
var changing = regexp.MustCompile(`\b\d[\d.,]*(e[-+]?\d+)?( ?(ns|µs|us|ms|s|m|h|%|B|KB|MB|KiB|MiB)\b)?`)

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
				all = append(all, told{text: w, label: cell.label, cells: 1})
			}
		}
	}
	groups := Grouped(all, func(t told) string { return changing.ReplaceAllString(t.text, "…") })
	slices.SortStableFunc(groups, func(a, b []told) int { return len(b) - len(a) })
	var list []warning
	for _, group := range groups {
		list = append(list, c.summarize(group))
	}
	return list
}

// summarize makes one warning of those of one kind.
func (c *collection) summarize(group []told) warning {
	w := warning{Text: group[0].text}
	runs, cells := 0, 0
	var labels []string
	for _, t := range group {
		runs, cells = runs+t.runs, cells+t.cells
		if t.text != group[0].text {
			w.Text, w.Example = changing.ReplaceAllString(t.text, "…"), group[0].text
		}
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
	for _, m := range result.Metrics() {
		e := c.estimates[m.Name]
		for _, w := range e.Warnings {
			if e.N > 0 && !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	return all
}
