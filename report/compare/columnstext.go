package compare

import (
	"fmt"
	"io"
	"strings"

	"dmebench/internal/tables"
	"dmebench/internal/terminal"
)

// WriteText writes the comparison for a person: a table for each metric, with a
// column for each value of the dimension; or, where they do not fit side by side, a
// line for each.
func (c *Columns) WriteText(w io.Writer, style terminal.Style) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n%s side by side; each is compared with %s\n", c.Results, c.Column, c.Names[0])
	for _, t := range c.Tables {
		table := t.wide(c)
		left := 2
		if style.Width > 0 && table.Width() > style.Width {
			table, left = t.long(c), 3
		}
		out.WriteString("\n")
		if err := table.WriteAligned(&out, left); err != nil {
			return err
		}
	}
	if len(c.Notes) > 0 {
		out.WriteString("\n")
		for _, n := range c.Notes {
			fmt.Fprintf(&out, "note: %s\n", style.Wrap(n, len("note: ")))
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// sections calls f for each row, after a line for each change of the load.
func (t ColumnTable) sections(table *tables.Table, f func(ColumnRow)) {
	title := ""
	for _, r := range t.Rows {
		if r.Title != title {
			title = r.Title
			table.Add("– " + title)
		}
		f(r)
	}
}

// wide has a row for each cell, and two columns for each value of the dimension.
func (t ColumnTable) wide(c *Columns) *tables.Table {
	head := []string{t.Metric, ""}
	for i, name := range c.Names {
		head = append(head, name)
		if i > 0 {
			head = append(head, "")
		}
	}
	table := tables.New(head...)
	t.sections(table, func(r ColumnRow) {
		row := []string{r.Label, r.size()}
		for i, s := range r.Columns {
			row = append(row, t.value(s))
			if i > 0 {
				row = append(row, strings.TrimSpace(s.delta()+" "+s.evidence(r.Columns[0])))
			}
		}
		table.Add(row...)
	})
	return table
}

// long has a row for each value of the dimension in each cell.
func (t ColumnTable) long(c *Columns) *tables.Table {
	table := tables.New(t.Metric, "", "", "", "", "")
	t.sections(table, func(r ColumnRow) {
		for i, s := range r.Columns {
			label, size, change, evidence := "", "", "", ""
			if i == 0 {
				label, size = r.Label, r.size()
			} else {
				change, evidence = s.delta(), s.evidence(r.Columns[0])
			}
			table.Add(label, size, c.Names[i], t.value(s), change, evidence)
		}
	})
	return table
}

func (r ColumnRow) size() string {
	if r.Nodes == 0 {
		return ""
	}
	return fmt.Sprintf("N=%d", r.Nodes)
}

// value is the median with its interval.
func (t ColumnTable) value(s ColumnSample) string {
	return strings.TrimSpace(Table{metric: t.metric}.number(s.Median) + " " + s.spread())
}

func (s ColumnSample) delta() string {
	return Row{P: s.P, Significant: s.Significant, Change: s.Change}.delta()
}

func (s ColumnSample) evidence(base ColumnSample) string {
	return Row{A: base.Sample, B: s.Sample, P: s.P}.evidence()
}
