// Package export writes results in the formats of other tools: the Go benchmark
// format for benchstat ([Benchfmt]), HdrHistogram's percentile text ([Hgrm]) and
// log ([Hlog]), and tables for spreadsheets and data frames ([CSV]).
//
// A run that did not end well is in none of them but the table of runs, where
// its status stands. The same results give the same bytes.
//
// A result keeps no record of single critical sections. What comes closest is
// the distribution of their times, at the resolution of its histogram.
package export

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"dmebench/report"
	"dmebench/report/cells"
	"dmebench/result"
)

// File is one file of an export.
type File struct {
	Name string
	Data []byte
}

// errNothing is the error where there is nothing to export.
var errNothing = errors.New("export: no run ended well, so that there is nothing to export; «dmebench report» shows why")

// cell is the usable repetitions of one cell.
type cell struct {
	label string
	spec  result.Spec
	slug  string // begins the names of its files; unique
	runs  []report.Run
}

// usable groups the runs that ended well, in the order of their first
// repetitions.
func usable(runs []report.Run) ([]*cell, error) {
	var all []*cell
	byKey := make(map[string]*cell)
	taken := make(map[string]int)
	for _, r := range runs {
		if !report.Usable(r.Result) {
			continue
		}
		spec := cells.Spec(r.Result)
		label := cmp.Or(r.Label, spec.Algorithm)
		key := label + "\x00" + cells.Key(spec)
		c := byKey[key]
		if c == nil {
			c = &cell{label: label, spec: spec, slug: slug(fmt.Sprintf("%s-n%d-%s-%s", label, spec.Nodes, spec.Transport, spec.Workload))}
			if taken[c.slug]++; taken[c.slug] > 1 {
				c.slug = fmt.Sprintf("%s-%d", c.slug, taken[c.slug])
			}
			byKey[key] = c
			all = append(all, c)
		}
		c.runs = append(c.runs, r)
	}
	if len(all) == 0 {
		return nil, errNothing
	}
	return all, nil
}

// slug keeps of s what every file system can hold.
func slug(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.')
	})
	return strings.Join(words, "-")
}
