package survival

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"dmebench/claims"
	"dmebench/internal/platform/layout"
)

// File is a file to be written as a whole.
type File struct {
	Name string
	Data []byte
}

//go:embed survival.html
var page string

// Files returns the table for programs, for a repository and for a browser.
// style is the CSS of the program's pages.
func Files(d *Document, style string) ([]File, error) {
	b, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return nil, fmt.Errorf("survival: %w", err)
	}
	var html bytes.Buffer
	t, err := template.New("survival").Funcs(template.FuncMap{
		"class": class, "verdict": verdictClass,
		"word": Cell.Marked, "measure": Duration, "count": Count, "search": Cell.searched, "join": strings.Join,
	}).Parse(page)
	if err == nil {
		err = t.Execute(&html, struct {
			*Document
			Style  template.CSS
			Marks  string
			Faults []Cell
			Rows   []row
		}{d, template.CSS(style), marks, d.faults(), d.rows()})
	}
	if err != nil {
		return nil, fmt.Errorf("survival: %w", err)
	}
	return []File{
		{"survival.json", append(b, '\n')}, {"survival.md", Markdown(d)}, {"survival.html", html.Bytes()}, {"survival.csv", d.table()},
	}, nil
}

// row is an algorithm with its cells.
type row struct {
	Algorithm string
	Cells     []Cell
}

func (d *Document) rows() []row {
	var rows []row
	for _, c := range d.Cells {
		if len(rows) == 0 || rows[len(rows)-1].Algorithm != c.Algorithm {
			rows = append(rows, row{Algorithm: c.Algorithm})
		}
		last := &rows[len(rows)-1]
		last.Cells = append(last.Cells, c)
	}
	return rows
}

// faults returns a cell of each kind of fault.
func (d *Document) faults() []Cell {
	var all []Cell
	for _, c := range d.Cells {
		if !slices.ContainsFunc(all, func(o Cell) bool { return o.Fault == c.Fault }) {
			all = append(all, c)
		}
	}
	return all
}

// Word says in a word or two how it went.
func (c Cell) Word() string {
	switch {
	case c.WhyNot != "":
		return "–"
	case c.Safe == No:
		return "unsafe" + part(c.Unsafe, c.Runs)
	case c.Safe == Unknown || c.Live == Unknown:
		return "unknown"
	case c.Live == No:
		return "stops" + part(c.Stopped, c.Runs)
	}
	return "goes on"
}

// Marked is Word with a mark for what it stands on, and one where it holds under
// conditions; see Legend.
func (c Cell) Marked() string {
	word := c.Word()
	if c.Safe == Yes && c.Live != Unknown {
		switch c.weakest() {
		case BySchedules:
			word += "¹"
		case ByRuns:
			word += "²"
		}
	}
	if len(c.Only) > 0 {
		word += "³"
	}
	return word
}

// weakest is the weaker evidence of what is so: a no needs no more than one schedule.
func (c Cell) weakest() Evidence {
	for _, by := range []Evidence{ByRuns, BySchedules} {
		if c.SafeBy == by || c.Live == Yes && c.LiveBy == by {
			return by
		}
	}
	return c.SafeBy
}

// What the words and the marks of the table mean.
const (
	words = "'goes on': mutual exclusion held, and the requests of all nodes that were there were served. " +
		"'stops': it held, and somebody waited for ever. 'unsafe': two nodes were in the critical section at once. " +
		"'2/12': in so many of the runs; 0: in a search alone. 'unknown': nobody could look."
	marks = "Without a mark a word stands on all runs and on all states of a small system. " +
		"¹ The search was too large to visit all states: it stands on a part of them, and on random schedules. " +
		"² No search can see it: it stands on the runs alone. ³ It is safe under conditions that are named below. " +
		"Each column is one kind of fault alone."
	elsewhere = "`dmebench validate --faults` fills this table, and writes the details of every cell beside it: `survival.html`, " +
		"which sorts and filters them, has times and messages until recovery, what was searched, why it stopped, and the command " +
		"that shows it. `survival.json` has the same for programs, `survival.csv` the counts and times."
)

// part says in how many of the runs it was so, where it was not in all; none is
// what a search alone has found.
func part(n, of int) string {
	if n == of {
		return ""
	}
	return fmt.Sprintf(" %d/%d", n, of)
}

func verdictClass(v claims.Verdict) string {
	switch v.Verdict {
	case claims.Holds:
		return "good"
	case claims.Fails, claims.Partly:
		return "bad"
	}
	return "open"
}

func class(c Cell) string {
	switch {
	case c.WhyNot != "":
		return "open"
	case c.Safe == No:
		return "bad"
	case c.Safe == Unknown || c.Live == Unknown:
		return "open"
	case c.Live == No:
		return "part"
	}
	return "good"
}

// searched says what the search has done.
func (c Cell) searched() string {
	s := c.Search
	if s == nil {
		return ""
	}
	var parts []string
	if s.Verdict != "" {
		parts = append(parts, s.Verdict)
	}
	if s.Safe != Yes {
		return strings.Join(parts, ", ")
	}
	never := ""
	if s.Verdict != "" {
		never = "never two inside in "
	}
	switch {
	case s.Complete:
		parts = append(parts, fmt.Sprintf("%sall %d states of %d nodes", never, s.States, s.Nodes))
	case s.States > 0:
		parts = append(parts, fmt.Sprintf("%smore than %d states of %d nodes, not all", never, roundedDown(s.States), s.Nodes))
	}
	if s.Random > 0 {
		parts = append(parts, fmt.Sprintf("%d random schedules", s.Random))
	}
	return strings.Join(parts, ", ")
}

// roundedDown leaves the first digit of a number: where exactly a search ends that
// reaches its limit depends on how its workers share the work.
func roundedDown(n uint64) uint64 {
	unit := uint64(1)
	for n/unit >= 10 {
		unit *= 10
	}
	return n / unit * unit
}

// Duration writes a time with its interval, "" where there is none.
func Duration(m *Measure) string {
	return m.write(func(ns float64) string {
		d := time.Duration(ns)
		switch {
		case d >= time.Second:
			return d.Round(10 * time.Millisecond).String()
		case d >= time.Millisecond:
			return d.Round(10 * time.Microsecond).String()
		}
		return d.Round(100 * time.Nanosecond).String()
	})
}

// Count writes a number with its interval, "" where there is none.
func Count(m *Measure) string {
	return m.write(func(x float64) string { return fmt.Sprintf("%.4g", x) })
}

func (m *Measure) write(text func(float64) string) string {
	switch {
	case m == nil:
		return ""
	case m.Low == nil || m.High == nil:
		return text(m.Median)
	}
	return fmt.Sprintf("%s [%s, %s]", text(m.Median), text(*m.Low), text(*m.High))
}

// Matrix is the table in words: a row for each algorithm, a column for each kind
// of fault.
func Matrix(d *Document) *layout.Table {
	head := []string{"ALGORITHM"}
	for _, f := range d.faults() {
		head = append(head, strings.ToUpper(f.Fault))
	}
	t := layout.NewTable(head...)
	for _, r := range d.rows() {
		t.Add(r.Algorithm)
		for _, c := range r.Cells {
			t.Extend(c.Marked())
		}
	}
	return t
}

// Markdown returns the table, and what the texts claim of failures. What belongs to each
// cell stands on the page for a browser.
func Markdown(d *Document) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# What each algorithm survives\n\n%s\n\n%s\n\n%s\n\n%s\n\n", d.Conditions(), words, marks, elsewhere)
	_ = Matrix(d).WriteMarkdown(&b) // a Buffer takes everything
	if len(d.Claims) > 0 {
		b.WriteString("\n## What the texts claim of failures\n\n")
		t := layout.NewTable("algorithm", "claim", "source", "verdict")
		for _, v := range d.Claims {
			t.Add(v.Algorithm, v.Quantity+": "+v.Formula, v.Source, string(v.Verdict))
		}
		_ = t.WriteMarkdown(&b)
	}
	return b.Bytes()
}

// Conditions says under which conditions the runs were made.
func (d *Document) Conditions() string {
	return fmt.Sprintf("%d runs of each under heavy load and under light load over %s, N = %d or the next that the algorithm has, "+
		"seeds %d to %d. Times are those under heavy load, or under light load where only an idle node is hit. "+
		"Searches have up to one crash or two lost messages at any moment; for a partition, one lost message.",
		d.Repetitions, strings.Join(d.Networks, " and "), d.Nodes, d.Seed, d.Seed+uint64(max(0, d.Repetitions-1)))
}
