// Package export writes results in the formats of other tools: the Go benchmark
// format for benchstat ([Benchfmt]), HdrHistogram's percentile text ([Hgrm]) and
// log ([Hlog]), and tables for spreadsheets and data frames ([CSV]).
//
// A run that did not end well is in none of them but the table of runs, where
// its status stands. The same results give the same bytes.
//
// A result keeps no record of single critical sections: what comes closest is the
// distribution of their times, at the resolution of its histogram. Where records were
// asked for they lie in files beside the results, and [Entries] makes a table of them.
package export

import (
	"errors"
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dmebench/report/cells"
	"dmebench/runs"
	"dmebench/units"
)

// File is one file of an export.
type File struct {
	Name string
	Data []byte
}

// errNothing is the error where there is nothing to export.
var errNothing = errors.New("export: no run ended well, so that there is nothing to export; 'dmebench report' shows why")

type cell struct {
	*cells.Cell
	slug string // begins the names of its files; unique
}

func usable(set *runs.Set) ([]cell, error) {
	var all []cell
	taken := make(units.Names)
	for _, c := range cells.Of(&set.Header.Experiment, set.Runs).Cells() {
		if len(c.Good) > 0 {
			spec := c.First.Result.Spec
			all = append(all, cell{c, taken.Take(fmt.Sprintf("%s-n%d-%s-%s", c.Label, c.Nodes, spec.Transport, spec.Workload))})
		}
	}
	if len(all) == 0 {
		return nil, errNothing
	}
	return all, nil
}

type quantity struct {
	name string
	of   func(*runs.Result) string // encoded; "" where there is none
}

func quantities() []quantity {
	return []quantity{
		{"response", func(r *runs.Result) string { return r.Histograms.Response }},
		{"waiting", func(r *runs.Result) string { return r.Histograms.Waiting }},
		{"sync-delay", func(r *runs.Result) string { return r.Histograms.SyncDelay }},
	}
}

// distribution decodes one of a run's distributions; nil where there is none.
func (q quantity) distribution(r runs.Run) (*hdrhistogram.Histogram, error) {
	encoded := q.of(r.Result)
	if encoded == "" {
		return nil, nil
	}
	h, err := hdrhistogram.Decode([]byte(encoded))
	if err != nil {
		return nil, fmt.Errorf("export: %s, repetition %d, %s: %w; is the result file damaged?", r.Label, r.Repetition+1, q.name, err)
	}
	return h, nil
}
