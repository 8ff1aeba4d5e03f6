package report

import (
	"cmp"
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

// warningList groups what runs, statistics and files warned about, the most
// frequent first.
func (c *collection) warningList() []warning {
	type group struct {
		warning
		runs, cells int
		differ      bool
		labels      []string
	}
	var order []string
	groups := make(map[string]*group)
	add := func(text, label string, runs, cells int) {
		key := changing.ReplaceAllString(text, "…")
		g := groups[key]
		if g == nil {
			g = &group{warning: warning{Text: key, Example: text}}
			groups[key] = g
			order = append(order, key)
		}
		g.runs, g.cells = g.runs+runs, g.cells+cells
		g.differ = g.differ || text != g.Example
		if label != "" && !slices.Contains(g.labels, label) {
			g.labels = append(g.labels, label)
		}
	}
	for _, w := range c.warnings {
		add(w, "", 0, 0)
	}
	for _, r := range c.runs {
		for _, w := range r.Result.Warnings {
			add(w, r.Label, 1, 0)
		}
	}
	for _, s := range c.sets {
		for _, cell := range s.inOrder() {
			for _, w := range cell.warnings() {
				add(w, cell.label, 0, 1)
			}
		}
	}
	var list []warning
	slices.SortStableFunc(order, func(a, b string) int {
		return cmp.Compare(groups[b].runs+groups[b].cells, groups[a].runs+groups[a].cells)
	})
	for _, key := range order {
		g := groups[key]
		if !g.differ {
			g.Text, g.Example = g.Example, ""
		}
		var parts []string
		if g.runs > 0 {
			parts = append(parts, plural(g.runs, "run"))
		}
		if g.cells > 0 {
			parts = append(parts, plural(g.cells, "cell"))
		}
		if len(g.labels) > 0 && len(g.labels) < len(c.labels) {
			parts = append(parts, strings.Join(g.labels, ", "))
		}
		g.Where = strings.Join(parts, "; ")
		list = append(list, g.warning)
	}
	return list
}

// warnings returns what limits the estimates of a cell, each once.
func (c *cell) warnings() []string {
	all := c.bimodal()
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
