package compare

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"dmebench/report/plots"
	"dmebench/report/units"
)

// labelsPerFigure keeps the lines of a figure, two for each label, apart.
const labelsPerFigure = 3

// Figures returns the overlays of A and B over the number of nodes: one for each
// metric and each setting of network and workload, and more where there are more
// series than a figure can hold. There is none where nodes are compared across.
func (c *Comparison) Figures() []plots.Figure {
	if slices.Contains(c.Across, "nodes") {
		return nil
	}
	about := c.describe()
	a, b := filepath.Base(c.A.Name), filepath.Base(c.B.Name)
	if a == b {
		a, b = c.A.Name, c.B.Name
	}
	origins := fmt.Sprintf("A is %s, B is %s", a, b)
	var figures []plots.Figure
	for _, t := range c.Tables {
		for i, panel := range t.panels(about) {
			title := t.metric.Title
			f := plots.Figure{
				Name:     fmt.Sprintf("%s-%d", strings.ReplaceAll(t.Metric, "_", "-"), i+1),
				Title:    title,
				Subtitle: strings.Join(slices.Concat(about.common, panel.about, []string{origins}), " · "),
				X:        plots.Axis{Label: "nodes N", Kind: plots.Sizes},
				Y:        plots.Axis{Label: strings.ToLower(title[:1]) + title[1:], Kind: plots.Values},
			}
			if t.metric.Time() {
				f.Y.Kind = plots.Times
			}
			for k, label := range panel.labels {
				f.Series = append(f.Series,
					t.series(panel.rows[label], label, "A", 2*k, func(r Row) Sample { return r.A }),
					t.series(panel.rows[label], label, "B", 2*k+1, func(r Row) Sample { return r.B }))
			}
			if !f.Empty() {
				figures = append(figures, f)
			}
		}
	}
	return figures
}

// panel is the rows of a figure.
type panel struct {
	about  []string // what tells it from other panels
	labels []string
	rows   map[string][]Row
}

// panels divides the rows by everything but label and number of nodes.
func (t Table) panels(about description) []*panel {
	var all []*panel
	current := make(map[string]*panel) // by settings
	home := make(map[string]*panel)    // by settings and label
	for _, r := range t.Rows {
		parts := about.section(r.Cell)
		settings := strings.Join(parts, "\x00")
		at := settings + "\x00" + r.Cell.Label
		if home[at] == nil {
			p := current[settings]
			if p == nil || len(p.labels) == labelsPerFigure {
				p = &panel{about: parts, rows: make(map[string][]Row)}
				current[settings] = p
				all = append(all, p)
			}
			p.labels = append(p.labels, r.Cell.Label)
			home[at] = p
		}
		home[at].rows[r.Cell.Label] = append(home[at].rows[r.Cell.Label], r)
	}
	return all
}

// series is one side of a label.
func (t Table) series(rows []Row, label, side string, style int, of func(Row) Sample) plots.Series {
	s := plots.Series{Label: side + ": " + part(label, side), Style: style, Role: plots.Measured}
	gap := false
	for _, r := range rows {
		sample := of(r)
		if sample.Median == nil {
			gap = true
			continue
		}
		p := plots.At(float64(r.Cell.nodes), *sample.Median)
		note := fmt.Sprintf("%s, N = %d: %s", s.Label, r.Cell.nodes, t.number(sample.Median))
		if sample.Lo != nil && sample.Hi != nil {
			p.Lo, p.Hi = *sample.Lo, *sample.Hi
			note += fmt.Sprintf(", 95%% interval %s to %s", t.number(sample.Lo), t.number(sample.Hi))
		}
		p.Note = fmt.Sprintf("%s, %s repetitions", note, units.Count(uint64(sample.N)))
		p.Gap, gap = gap, false
		s.Points = append(s.Points, p)
	}
	return s
}

// part is what one side calls a cell.
func part(label, side string) string {
	a, b, differ := strings.Cut(label, " → ")
	if differ && side == "B" {
		return b
	}
	return a
}
