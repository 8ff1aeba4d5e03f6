package export

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dmebench/runs"
	"dmebench/stats"
)

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
			var encoded []string
			for _, r := range c.Good {
				encoded = append(encoded, q.of(r))
			}
			h, err := stats.Merge(encoded)
			if err != nil {
				return nil, fmt.Errorf("export: %s, %s: %w", c.slug, q.name, err)
			}
			if h == nil {
				continue
			}
			var out bytes.Buffer
			if _, err := h.PercentilesPrint(&out, ticksPerHalfDistance, nsPerMs); err != nil {
				return nil, fmt.Errorf("export: %s, %s: %w", c.slug, q.name, err)
			}
			files = append(files, File{c.slug + "-" + q.name + ".hgrm", out.Bytes()})
		}
	}
	return files, noTimes(files)
}

// Hlog returns a histogram log of version 1.3 for each cell: an interval for
// each repetition, with the quantity as its tag. Values are nanoseconds.
//
// A result does not say when its run began. The intervals therefore follow one
// another from the start of the sweep (1970 where that is not known), and each
// is as long as the run's entries take at its throughput, or one second.
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

// log writes the log of a cell; held is false where there is no histogram.
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

// noTimes is the error where no result holds a distribution.
func noTimes(files []File) error {
	if len(files) == 0 {
		return fmt.Errorf("export: no result holds a distribution of times")
	}
	return nil
}
