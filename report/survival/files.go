package survival

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"dmebench/internal/platform/layout"
	"dmebench/runs"
)

// Matrix is the table in words: a row for each algorithm, a column for each kind
// of fault.
func Matrix(d *Document) *layout.Table {
	t := layout.NewTable("ALGORITHM")
	for _, f := range d.Faults() {
		t.Extend(strings.ToUpper(f.Fault))
	}
	for _, r := range d.Rows() {
		t.Add(r[0].Algorithm)
		for _, c := range r {
			t.Extend(c.Marked())
		}
	}
	return t
}

const elsewhere = "`dmebench validate --faults` fills this table, and writes the details of every cell into the folder of `--out`: " +
	"`survival.html`, a page that sorts and filters them, by algorithm, fault and outcome; a cell opens what was searched, " +
	"why it stopped, and the command that shows it. " +
	"`survival.json` has the same for programs, `survival.csv` the counts and times."

// Markdown returns the table, and what the texts claim of failures. The details of each
// cell stand on the page for a browser.
func Markdown(d *Document) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# What each algorithm survives\n\n%s\n\n%s\n\n%s\n\n%s\n\n", d.Conditions(), Words, Marks, elsewhere)
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

// CSV has a row for each algorithm and kind of fault. Unknown values are empty.
func (d *Document) CSV() []byte {
	header := []string{"algorithm", "fault", "safe", "live", "runs", "struck", "unsafe", "stopped", "safe_by", "live_by", "only"}
	for _, metric := range []string{"recovered_ns", "served_ns", "recovery_messages"} {
		header = append(header, metric, metric+runs.LowSuffix, metric+runs.HighSuffix)
	}
	header = append(header, "updates")
	rows := [][]string{runs.TableHead(header...)}
	for _, c := range d.Cells {
		row := []string{c.Algorithm, c.Fault, string(c.Safe), string(c.Live)}
		for _, n := range []int{c.Runs, c.Struck, c.Unsafe, c.Stopped} {
			row = append(row, strconv.Itoa(n))
		}
		row = append(row, string(c.SafeBy), string(c.LiveBy), strings.Join(c.Only, "; "))
		for _, m := range []*Measure{c.Recovery, c.Served, c.Messages} {
			if m == nil {
				row = append(row, "", "", "")
				continue
			}
			row = append(row, present(&m.Median), present(m.Low), present(m.High))
		}
		rows = append(rows, append(row, string(c.Updates)))
	}
	return layout.CSV(rows)
}

func present(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', -1, 64)
}
