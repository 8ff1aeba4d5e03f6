// Package tables writes tables: for a terminal, and for a Markdown page.
package tables

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
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
