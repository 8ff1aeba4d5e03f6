package compare

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"dmebench/internal/platform/layout"
	"dmebench/runs"
	"dmebench/units"
)

// WriteText writes the comparison for a person: a table for each metric with
// medians, their 95% intervals as a percentage, and the change with its p-value;
// '~' stands where there is no significant one.
func (c *Comparison) WriteText(w io.Writer) error {
	var out strings.Builder
	fmt.Fprintf(&out, "A: %s\nB: %s\n", c.A, c.B)
	about := c.describe()
	if len(about.common) > 0 {
		fmt.Fprintf(&out, "%s\n", strings.Join(about.common, " · "))
	}
	for _, t := range c.Tables {
		out.WriteString("\n")
		t.write(&out, about)
	}
	if notes := c.notes(); len(notes) > 0 {
		out.WriteString("\n")
		for _, n := range notes {
			fmt.Fprintf(&out, "note: %s\n", n)
		}
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

// write writes one table, in sections for the settings that cells differ in.
func (t Table) write(out *strings.Builder, about description) {
	g := layout.NewTable(t.Metric, "", "A", "", "B", "", "change", "")
	section := ""
	for _, r := range t.Rows {
		if s := strings.Join(about.section(r.Cell), " · "); s != section {
			section = s
			g.Add("– " + s)
		}
		g.Add(r.Cell.Label, about.value(r.Cell, "nodes"), t.metric.Text(r.A.Median), r.A.spread(),
			t.metric.Text(r.B.Median), r.B.spread(), r.delta(), r.evidence())
	}
	if m := t.Mean; m != nil {
		g.Add("geometric mean", "", t.metric.Text(&m.A), "", t.metric.Text(&m.B), "", percent(m.Change), "")
	}
	_ = g.WriteAligned(out, "llrlrlrl") // a Builder takes everything
}

// spread is the larger half of the interval, relative to the median.
func (s Sample) spread() string {
	if text := units.Spread(s.Median, s.Lo, s.Hi); text != "" {
		return "± " + text
	}
	return ""
}

func (r Row) delta() string {
	switch {
	case r.P == nil:
		return units.Missing
	case !r.Significant:
		return "~"
	case r.Change == nil:
		return "?" // from nothing to something
	}
	return percent(*r.Change)
}

func (r Row) evidence() string {
	n := fmt.Sprintf("n=%d", r.A.N)
	if r.A.N != r.B.N {
		n = fmt.Sprintf("n=%d+%d", r.A.N, r.B.N)
	}
	if r.P == nil {
		return "(" + n + ")"
	}
	return fmt.Sprintf("(p=%.3f %s)", *r.P, n)
}

func percent(x float64) string { return fmt.Sprintf("%+.2f%%", 100*x) }

// notes lists what limits the answer, each once, with the number of cells.
func (c *Comparison) notes() []string {
	var order []string
	cells := make(map[string]map[id]bool)
	for _, t := range c.Tables {
		for _, r := range t.Rows {
			for _, n := range r.Notes {
				if cells[n] == nil {
					cells[n] = make(map[id]bool)
					order = append(order, n)
				}
				cells[n][r.Cell.id()] = true
			}
		}
	}
	var all []string
	for _, n := range order {
		where := fmt.Sprintf("%d cells", len(cells[n]))
		if len(cells[n]) == 1 {
			where = "1 cell"
		}
		all = append(all, fmt.Sprintf("%s (%s)", n, where))
	}
	return append(all, c.Notes...)
}

// description is what cells have in common, and what a table must show.
type description struct {
	common    []string
	differing []string // dimensions, without nodes
	perNode   bool     // requests are written per node
}

func (c *Comparison) describe() description {
	seen, labels := make(map[id]Cell), make(map[string]bool)
	d := description{perNode: true}
	for _, t := range c.Tables {
		for _, r := range t.Rows {
			seen[r.Cell.id()] = r.Cell
			labels[r.Cell.Label] = true
			d.perNode = d.perNode && r.Cell.requests()%max(1, r.Cell.nodes) == 0
		}
	}
	for _, dim := range runs.Dimensions() {
		values, byLabel := make(map[string]bool), make(map[string]bool)
		last := ""
		for _, cell := range seen {
			last = d.value(cell, dim)
			if unremarkable(dim, cell.key.Get(dim)) {
				last = ""
			}
			values[last] = true
			byLabel[cell.Label+"\x00"+last] = true
		}
		named := (dim == "algorithm" || dim == "set") && len(byLabel) == len(labels) // the label says it
		switch {
		case dim == "nodes": // stands in every row
		case len(values) > 1 && !named:
			d.differing = append(d.differing, dim)
		case len(values) == 1 && dim != "algorithm" && last != "":
			d.common = append(d.common, last)
		}
	}
	return d
}

// requests is how many requests the cell's runs made in all; 0 where a duration
// ended them, or where the number is compared across.
func (c Cell) requests() int {
	n, _ := strconv.Atoi(c.key.Get("requests"))
	return n
}

// unremarkable reports whether a setting is the default.
func unremarkable(dim, value string) bool {
	return value == "" || dim == "nodes_per_worker" && value == "1" || dim == "warmup" && value == runs.DefaultWarmup
}

// value writes a setting of a cell; "" where it was not given.
func (d description) value(c Cell, dim string) string {
	value := c.key.Get(dim)
	switch {
	case value == "" || dim == "transport" || dim == "workload" || dim == "set":
		return value
	case dim == "nodes":
		return "N=" + value
	case dim == "requests" && d.perNode && c.nodes > 0:
		return fmt.Sprintf("%d requests per node", c.requests()/c.nodes)
	}
	return strings.ReplaceAll(dim, "_", " ") + " " + value
}

// section is the settings that not all cells have in common, other than N.
func (d description) section(c Cell) []string {
	var parts []string
	for _, dim := range d.differing {
		if value := d.value(c, dim); value != "" {
			parts = append(parts, value)
		}
	}
	return parts
}

// WriteText writes the comparison for a person: a table for each metric, with a
// column for each value of the dimension; or, where they do not fit side by side, a
// line for each.
func (c *Columns) WriteText(w io.Writer, style layout.Style) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n%s side by side; each is compared with %s\n", c.Results, c.Column, c.Names[0])
	for _, t := range c.Tables {
		table, columns := t.wide(c), "ll"
		if style.Width > 0 && table.Width() > style.Width {
			table, columns = t.long(c), "lll"
		}
		out.WriteString("\n")
		if err := table.WriteAligned(&out, columns); err != nil {
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
func (t ColumnTable) sections(table *layout.Table, f func(ColumnRow)) {
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
func (t ColumnTable) wide(c *Columns) *layout.Table {
	head := []string{t.Metric, ""}
	for i, name := range c.Names {
		head = append(head, name)
		if i > 0 {
			head = append(head, "")
		}
	}
	table := layout.NewTable(head...)
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
func (t ColumnTable) long(c *Columns) *layout.Table {
	table := layout.NewTable(t.Metric, "", "", "", "", "")
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

func (t ColumnTable) value(s ColumnSample) string {
	return strings.TrimSpace(t.metric.Text(s.Median) + " " + s.spread())
}

func (s ColumnSample) delta() string {
	return Row{P: s.P, Significant: s.Significant, Change: s.Change}.delta()
}

func (s ColumnSample) evidence(base ColumnSample) string {
	return Row{A: base.Sample, B: s.Sample, P: s.P}.evidence()
}
