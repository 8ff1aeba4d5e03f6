// Package tables writes tables: for a terminal, and for a Markdown page.
package tables

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// Table is rows of cells, which may differ in number. The zero Table is empty.
type Table struct{ rows [][]string }

// New returns a table of one row, its head.
func New(head ...string) *Table { return &Table{[][]string{head}} }

// Add adds a row.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// Extend adds cells to the last row.
func (t *Table) Extend(cells ...string) {
	last := &t.rows[len(t.rows)-1]
	*last = append(*last, cells...)
}

// WriteText writes the table with its columns two spaces apart.
func (t *Table) WriteText(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range t.rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// WriteAligned writes the table with its columns two spaces apart, the first so many
// to the left and the others, which are figures, to the right. A row of a single cell
// stands across all columns. No line ends in spaces.
func (t *Table) WriteAligned(out io.Writer, left int) error {
	widths := t.widths()
	var b strings.Builder
	for _, row := range t.rows {
		if len(row) == 1 {
			b.WriteString(row[0] + "\n")
			continue
		}
		var line strings.Builder
		for i, cell := range row {
			if i > 0 {
				line.WriteString("  ")
			}
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i < left {
				line.WriteString(cell + pad)
			} else {
				line.WriteString(pad + cell)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// Width is how many columns of a terminal the table takes, not counting rows of a
// single cell.
func (t *Table) Width() int {
	sum := 0
	for i, w := range t.widths() {
		sum += w
		if i > 0 {
			sum += 2
		}
	}
	return sum
}

// widths are those of the columns, in characters.
func (t *Table) widths() []int {
	var widths []int
	for _, row := range t.rows {
		if len(row) == 1 {
			continue
		}
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// WriteMarkdown writes the table as Markdown has it; its first row is the head.
func (t *Table) WriteMarkdown(out io.Writer) error {
	var b strings.Builder
	for i, row := range t.rows {
		for _, cell := range row {
			fmt.Fprintf(&b, "| %s ", strings.ReplaceAll(cell, "|", "\\|"))
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
