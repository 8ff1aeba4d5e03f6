package report

import "dmebench/result"

// Metric is a [result.Metric].
type Metric struct {
	Name string
	Of   func(*result.Result) *float64
}

// Metrics lists the metrics of a run, in the order of summary.csv.
func Metrics() []Metric {
	var all []Metric
	for _, m := range result.Metrics() {
		all = append(all, Metric{m.Name, m.Read})
	}
	return all
}

// Usable is [result.Usable].
func Usable(r *result.Result) bool { return result.Usable(r) }

// SummaryCSV returns summary.csv as [Build] writes it: a row for each cell with
// medians and their 95% intervals.
func SummaryCSV(in Input) []byte { return collect(in).csv() }
