package report

import (
	"strings"

	"dmebench/result"
)

// Metric is one number that a run has, or has not.
type Metric struct {
	Name string                        // with its unit, as a column of summary.csv
	Of   func(*result.Result) *float64 // nil where the run has no sample
}

// Metrics lists the metrics of a run, in the order of summary.csv.
func Metrics() []Metric {
	var all []Metric
	for _, m := range metrics() {
		all = append(all, Metric{m.name, m.of})
	}
	return all
}

// Time reports whether the metric is a time in nanoseconds.
func (m Metric) Time() bool { return strings.HasSuffix(m.Name, "_ns") }

// Usable reports whether a run's numbers may be used: it ended well, and mutual
// exclusion held.
func Usable(r *result.Result) bool { return r != nil && good(r) }

// SummaryCSV returns summary.csv as [Build] writes it: a row for each cell with
// medians and their 95% intervals.
func SummaryCSV(in Input) []byte { return collect(in).csv() }
