// Package columns names the columns of all tables that are written for other programs:
// what means the same is called the same in each of them.
package columns

import (
	"slices"
	"strings"

	"dmebench/runs"
)

// own lists the columns that are neither a dimension of a run nor a metric;
// docs/results-format.md says what each means.
var own = []string{
	// Which run, or which cell.
	"label", "repetition", "seed",

	// What came of it.
	"status", "requests_made", "entries", "violations", "pending", "warnings", "lost_updates", "undecided",

	// Of a cell: its repetitions.
	"workers", "repetitions", "repetitions_ok", "repetitions_violated", "repetitions_stalled",
	"repetitions_failed", "entries_ok",

	// Of a distribution.
	"quantity", "from_ns", "to_ns", "count",

	// Of a host, and of the way between two.
	"host", "address", "labels", "nodes_there", "cores", "cores_busy", "cores_busy_workers", "memory_free_bytes",
	"clock_offset_ns", "clock_bound_ns", "clock_drift_ppm", "clock_set_ns", "from", "to", "sent", "lost",
	"rtt_min_ns", "rtt_median_ns", "rtt_p99_ns", "by",

	// Of a claim, at one number of nodes.
	"claim", "formula", "load", "kind", "source", "verdict", "condition", "standing", "runs", "predicted", "mean",
	"mean_ci999_low", "mean_ci999_high", "closest", "tolerance", "tolerance_for", "evidence", "min", "max",

	// Of an algorithm under a kind of fault.
	"fault", "safe", "live", "struck", "unsafe", "stopped", "safe_by", "live_by", "only",
}

// Suffixes of a metric's name, for the bounds of the 95% interval of its median.
const (
	Low  = "_ci95_low"
	High = "_ci95_high"
)

// Own returns the columns that are neither a dimension of a run nor a metric.
func Own() []string { return slices.Clone(own) }

// Known reports whether there is a column of that name.
func Known(name string) bool {
	metric := strings.TrimSuffix(strings.TrimSuffix(name, Low), High)
	return slices.Contains(own, name) ||
		slices.Contains(runs.Dimensions(), name) ||
		slices.ContainsFunc(runs.Metrics(), func(m runs.Metric) bool { return m.Name == metric })
}

// Header returns the first row of a table. A name that is none is a fault of the
// program.
func Header(names ...string) []string {
	for _, name := range names {
		if !Known(name) {
			panic("columns: there is no column " + name)
		}
	}
	return names
}

// Early are the dimensions that every table of runs has, in their order. The others
// came later, stand last, and only where runs have a value ([runs.LateDimensions]).
func Early() []string {
	return slices.DeleteFunc(runs.Dimensions(), func(name string) bool { return name == "resource" || name == "hosts" })
}
