package compare

import (
	"fmt"
	"io"
	"strings"

	"dmebench/internal/platform/layout"
	"dmebench/units"
)

// WriteText writes the comparison for a person: a table for each metric with
// medians, their 95% intervals as a percentage, and the change with its p-value;
// '~' means that there is no significant one.
func (c *Comparison) WriteText(w io.Writer) error {
	about := fmt.Sprintf("A: %s\nB: %s\n%s", c.A, c.B, c.common)
	return writeText(w, strings.TrimSpace(about), sides(), c.tables(), c.notes(), layout.Style{})
}

// WriteText writes the comparison for a person: a table for each metric, with a
// column for each value of the dimension; or, if they do not fit side by side, a
// line for each.
func (c *Columns) WriteText(w io.Writer, style layout.Style) error {
	about := fmt.Sprintf("%s\n%s side by side; each is compared with %s", c.Results, c.Column, c.Names[0])
	return writeText(w, about, c.Names, c.Tables, c.Notes, style)
}

func sides() []string { return []string{"A", "B"} }

// tables are those of the comparison with A and B as columns.
func (c *Comparison) tables() []ColumnTable {
	var all []ColumnTable
	for _, t := range c.Tables {
		table := ColumnTable{Metric: t.Metric, metric: t.metric, mean: t.Mean}
		for _, r := range t.Rows {
			table.Rows = append(table.Rows, ColumnRow{
				Title: r.Cell.section, Label: r.Cell.Label, Nodes: r.Cell.nodes, notes: r.Notes,
				Columns: []ColumnSample{{Sample: r.A}, {r.B, r.Difference}},
			})
		}
		all = append(all, table)
	}
	return all
}

func writeText(w io.Writer, about string, names []string, tables []ColumnTable, notes []string, style layout.Style) error {
	var out strings.Builder
	fmt.Fprintln(&out, about)
	for _, t := range tables {
		table, columns := t.text(names, false), "ll"
		if style.Width > 0 && table.Width() > style.Width {
			table, columns = t.text(names, true), "lll"
		}
		out.WriteString("\n")
		_ = table.WriteAligned(&out, columns) // a Builder takes everything
	}
	if len(notes) > 0 {
		out.WriteString("\n")
	}
	for _, n := range notes {
		fmt.Fprintf(&out, "note: %s\n", style.Wrap(n, len("note: ")))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func (o Origin) String() string {
	text := fmt.Sprintf("%s, %d runs", o.Name, o.Runs)
	if o.Runs == 1 {
		text = o.Name + ", 1 run"
	}
	if o.Used < o.Runs {
		text += fmt.Sprintf(", of which %d ended well", o.Used)
	}
	return text
}

// spread is the larger half of the interval, relative to the median.
func (s Sample) spread() string {
	if text := units.Spread(s.Median, s.Lo, s.Hi); text != "" {
		return "± " + text
	}
	return ""
}

func (d Difference) delta() string {
	switch {
	case d.P == nil:
		return units.Missing
	case !d.Significant:
		return "~"
	case d.Change == nil:
		return "?" // from nothing to something
	}
	return percent(*d.Change)
}

func (d Difference) evidence(a, b Sample) string {
	n := fmt.Sprintf("n=%d", a.N)
	if a.N != b.N {
		n = fmt.Sprintf("n=%d+%d", a.N, b.N)
	}
	if d.P == nil {
		return "(" + n + ")"
	}
	return fmt.Sprintf("(p=%.3f %s)", *d.P, n)
}

func percent(x float64) string { return fmt.Sprintf("%+.2f%%", 100*x) }

// notes lists what limits the answer.
func (c *Comparison) notes() []string { return append(counted(c.tables()), c.Notes...) }

// counted lists the notes of rows, each once, with the number of cells.
func counted(tables []ColumnTable) []string {
	type cell struct {
		title, label string
		nodes        int
	}
	var order []string
	of := make(map[string]map[cell]bool)
	for _, t := range tables {
		for _, r := range t.Rows {
			for _, n := range r.notes {
				if of[n] == nil {
					of[n] = make(map[cell]bool)
					order = append(order, n)
				}
				of[n][cell{r.Title, r.Label, r.Nodes}] = true
			}
		}
	}
	all := []string{}
	for _, n := range order {
		where := "1 cell"
		if len(of[n]) > 1 {
			where = fmt.Sprintf("%d cells", len(of[n]))
		}
		all = append(all, fmt.Sprintf("%s (%s)", n, where))
	}
	return all
}

// text has a row for each cell, with its columns side by side, or, if it is to be narrow,
// below one another. Rows of one load stand together.
func (t ColumnTable) text(names []string, narrow bool) *layout.Table {
	head := []string{t.Metric, "", names[0]}
	for _, name := range names[1:] {
		head = append(head, name, "")
	}
	if narrow {
		head = []string{t.Metric, "", "", ""}
	}
	table := layout.NewTable(head...)
	title := ""
	for _, r := range t.Rows {
		if r.Title != title {
			title = r.Title
			table.Add("– " + title)
		}
		row := []string{r.Label, size(r.Nodes)}
		for i, s := range r.Columns {
			parts := []string{strings.TrimSpace(t.metric.Text(s.Median) + " " + s.spread())}
			if i > 0 {
				parts = append(parts, s.delta()+" "+s.evidence(r.Columns[0].Sample, s.Sample))
			}
			if narrow {
				table.Add(append(append(row, names[i]), parts...)...)
				row = []string{"", ""}
			} else {
				row = append(row, parts...)
			}
		}
		if !narrow {
			table.Add(row...)
		}
	}
	if m := t.mean; m != nil {
		table.Add("geometric mean", "", t.metric.Text(&m.A), t.metric.Text(&m.B), percent(m.Change))
	}
	return table
}

// size writes the number of nodes; "" if it is compared across.
func size(nodes int) string {
	if nodes == 0 {
		return ""
	}
	return fmt.Sprintf("N=%d", nodes)
}
