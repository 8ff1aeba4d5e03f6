// Package export writes results in the formats of other tools: the Go benchmark format for
// benchstat ([Benchfmt]), HdrHistogram's percentile text ([Hgrm]) and log ([Hlog]), and tables for
// spreadsheets and data frames ([CSV]).
//
// A run that did not end well is in none of them but the table of runs, where its status stands.
// The same results give the same bytes.
//
// A result keeps no record of single critical sections: what comes closest is the distribution of
// their times, at the resolution of its histogram. If records were asked for they lie in files
// beside the results, and [Entries] makes a table of them.
package export

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dmebench/report/cells"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// File is one file of an export.
type File struct {
	Name string
	Data []byte
}

// errNothing is the error if there is nothing to export.
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
	of   func(*runs.Result) string // encoded; "" if there is none
}

func quantities() []quantity {
	return []quantity{
		{"response", func(r *runs.Result) string { return r.Histograms.Response }},
		{"waiting", func(r *runs.Result) string { return r.Histograms.Waiting }},
		{"sync-delay", func(r *runs.Result) string { return r.Histograms.SyncDelay }},
	}
}

// distribution decodes one of a run's distributions; nil if there is none.
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

// Parameters of the percentile text: as HdrHistogram's own tools use them.
const (
	ticksPerHalfDistance = 5
	nsPerMs              = 1e6
)

// Hgrm returns a percentile text for each cell and quantity, over all
// repetitions together, with values in milliseconds, as HdrHistogram's plotter
// reads it.
func Hgrm(set *runs.Set) ([]File, error) {
	groups, err := usable(set)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, c := range groups {
		for _, q := range quantities() {
			h, err := stats.Merge(units.Texts(c.Good, q.of))
			if err != nil {
				return nil, fmt.Errorf("export: %s, %s: %w", c.slug, q.name, err)
			}
			if h == nil {
				continue
			}
			whole := hdrhistogram.New(1, h.HighestTrackableValue(), int(h.SignificantFigures()))
			h.MergeInto(whole)
			var out bytes.Buffer
			if _, err := whole.PercentilesPrint(&out, ticksPerHalfDistance, nsPerMs); err != nil {
				return nil, fmt.Errorf("export: %s, %s: %w", c.slug, q.name, err)
			}
			files = append(files, File{c.slug + "-" + q.name + ".hgrm", out.Bytes()})
		}
	}
	return files, noTimes(files)
}

// Hlog returns a histogram log of version 1.3 for each cell: an interval for each repetition, with
// the quantity as its tag. Values are nanoseconds.
//
// A result does not say when its run began. The intervals therefore follow one another from the
// start of the sweep (1970 if that is not known), and each is as long as the run's entries take at
// its throughput, or one second.
func Hlog(set *runs.Set) ([]File, error) {
	groups, err := usable(set)
	if err != nil {
		return nil, err
	}
	started := set.Header.Started
	if started.IsZero() {
		started = time.Unix(0, 0)
	}
	var files []File
	for _, c := range groups {
		var out bytes.Buffer
		held, err := c.log(&out, started.UnixMilli())
		if err != nil {
			return nil, err
		}
		if held {
			files = append(files, File{c.slug + ".hlog", out.Bytes()})
		}
	}
	return files, noTimes(files)
}

// log writes the log of a cell; held is false if there is no histogram.
func (c cell) log(out *bytes.Buffer, startMs int64) (held bool, err error) {
	w := hdrhistogram.NewHistogramLogWriter(out)
	w.SetBaseTime(startMs)
	spec := c.First.Result.Spec
	// Writing to a buffer does not fail.
	_ = w.OutputLogFormatVersion()
	_ = w.OutputComment(fmt.Sprintf("[dmebench: %s, %d nodes, %s, %s; an interval is a repetition, one after another; values in ns]",
		strings.ReplaceAll(c.Label, "\n", " "), spec.Nodes, spec.Transport, spec.Workload))
	_ = w.OutputBaseTime(startMs)
	_ = w.OutputStartTime(startMs)
	_ = w.OutputLegend()
	at := startMs
	for _, r := range c.Runs {
		end := at + lengthMs(r.Result)
		for _, q := range quantities() {
			h, err := q.distribution(r)
			if err != nil {
				return false, err
			}
			if h == nil {
				continue
			}
			h.SetTag(q.name)
			h.SetStartTimeMs(at)
			h.SetEndTimeMs(end)
			if err := w.OutputIntervalHistogram(h); err != nil {
				return false, fmt.Errorf("export: %s: %w", c.slug, err)
			}
			held = true
		}
		at = end
	}
	return held, nil
}

// lengthMs is about how long a run took, and at least a millisecond.
func lengthMs(r *runs.Result) int64 {
	if r.Throughput == nil || *r.Throughput <= 0 {
		return 1000
	}
	return max(1, int64(1000*float64(r.Entries) / *r.Throughput))
}

// noTimes is the error if no result holds a distribution.
func noTimes(files []File) error {
	if len(files) == 0 {
		return fmt.Errorf("export: no result holds a distribution of times")
	}
	return nil
}
