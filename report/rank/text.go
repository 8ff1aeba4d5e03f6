package rank

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"dmebench/internal/platform/layout"
	"dmebench/runs"
	"dmebench/units"
)

// marks of a cell in a table of text.
var marks = map[Standing]string{First: "*", Level: "~", Unknown: "?", Worse: " ", Absent: " "}

// Legend says what the marks and the figures of a table mean, in paragraphs.
func (r *Ranking) Legend() []string {
	medians := "medians over repetitions ± the larger half of their 95% interval"
	if r.Bounds {
		medians = "medians over repetitions, with the 95% interval [low, high] of what decides; ties with the first of a place share it"
	}
	return []string{
		fmt.Sprintf("* best of its column; ~ not distinguishable from it; ? too few repetitions to tell; no mark: worse "+
			"(Mann-Whitney test, Holm's correction, p ≤ %v)", r.Alpha),
		medians + "; msgs/CS: messages per critical section; busiest: those that the busiest node sends and handles",
	}
}

// WriteText writes all contests for a person: for each what it is, what its tests
// say in words, and a table.
func (r *Ranking) WriteText(w io.Writer, style layout.Style) error {
	var out strings.Builder
	for i, c := range r.Contests {
		if i > 0 {
			out.WriteString("\n")
		}
		fmt.Fprintf(&out, "%s\n  %s\n", style.Strong(c.Heading()), style.Wrap(c.Verdict, 2))
		if len(c.Entrants) > 0 {
			c.table(style.Width, r.Bounds).WriteAligned(&out, "ll")
		}
		for _, n := range c.Notes {
			fmt.Fprintf(&out, "  note: %s\n", style.Wrap(n, 8))
		}
	}
	if len(r.Contests) > 0 {
		out.WriteString("\n")
		for _, paragraph := range r.Legend() {
			fmt.Fprintln(&out, style.Wrap(paragraph, 0))
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// Heading names the contest: its circumstances and the number of nodes.
func (c *Contest) Heading() string { return fmt.Sprintf("%s · N = %d", c.Title, c.Nodes) }

// shortest is how much of a label a narrow table keeps.
const shortest = 14

// table is the table of a contest, for a terminal of that many columns; 0: no limit.
// A narrow one leaves out the ends of long labels, then the intervals, then the last columns.
func (c *Contest) table(width int, bounds bool) *layout.Table {
	label := 0
	if width > 0 {
		label = max(shortest, width/3)
	}
	t := c.draw(true, bounds, label, len(c.Columns))
	for n := len(c.Columns); n > 0 && width > 0 && t.Width() > width; n-- {
		t = c.draw(false, bounds, label, n)
	}
	return t
}

// draw makes the table: place, label, and that many of the columns.
func (c *Contest) draw(spreads, bounds bool, label, columns int) *layout.Table {
	head := []string{"", ""}
	for _, col := range c.Columns[:columns] {
		head = append(head, col.head()+"  ")
	}
	t := layout.NewTable(head...)
	for _, e := range c.Entrants {
		place := "?"
		if e.Place > 0 {
			place = strconv.Itoa(e.Place)
		}
		row := []string{"  " + place, layout.Cut(e.Label, label)}
		for i, cell := range e.Cells[:columns] {
			col := c.Columns[i]
			text := col.metric.Text(cell.Median)
			switch {
			case !spreads || cell.N == 0:
			case !bounds:
				text += " " + cell.Spread()
			case col.Metric == c.By && cell.Lo != nil && cell.Hi != nil:
				text += fmt.Sprintf(" [%s, %s]", col.metric.Text(cell.Lo), col.metric.Text(cell.Hi))
			}
			row = append(row, text+" "+marks[cell.Standing])
		}
		t.Add(row...)
	}
	return t
}

// heads are short names of metrics.
var heads = map[string]string{
	runs.Throughput: "CS/s", runs.WaitingP50: "wait p50", runs.WaitingP99: "wait p99",
	runs.MessagesPerCS: "msgs/CS", runs.BusiestPerCS: "busiest",
	runs.ResponseP50: "resp. p50", runs.ResponseP99: "resp. p99",
}

func (col Column) head() string {
	if short := heads[col.Metric]; short != "" {
		return short
	}
	return phrase(col.metric)
}

// Spread writes the larger half of the 95% interval, relative to the median: "±2%".
func (c Cell) Spread() string {
	if text := units.Spread(c.Median, c.Lo, c.Hi); text != "" {
		return "±" + text
	}
	return ""
}
