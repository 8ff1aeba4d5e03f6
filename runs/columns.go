package runs

import (
	"slices"
	"strings"
)

// columns lists those of all tables that are written for other programs, but dimensions
// and metrics: what means the same is called the same in each table.
// docs/results-format.md says what each means.
var columns = []string{
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
	"fault", "safe", "live", "struck", "unsafe", "stopped", "safe_by", "updates", "live_by", "only",
}

// Suffixes of a metric's name, for the bounds of the 95% interval of its median.
const (
	LowSuffix  = "_ci95_low"
	HighSuffix = "_ci95_high"
)

// Columns returns the columns of tables that are neither a dimension of a run nor a metric.
func Columns() []string { return slices.Clone(columns) }

// IsColumn reports whether tables have a column of that name.
func IsColumn(name string) bool {
	_, metric := LookupMetric(strings.TrimSuffix(strings.TrimSuffix(name, LowSuffix), HighSuffix))
	return metric || slices.Contains(columns, name) || slices.Contains(Dimensions(), name)
}

// LateColumns names the columns that tables of these runs have at their ends, those for
// what came of a shared resource and of several hosts, as far as any run has them.
func LateColumns(runs []*Result) []string {
	dimensions := LateDimensions(runs)
	var all []string
	for _, c := range []struct{ column, of string }{{"lost_updates", "resource"}, {"undecided", hostsDimension}} {
		if slices.Contains(dimensions, c.of) {
			all = append(all, c.column)
		}
	}
	return append(all, dimensions...)
}

// TableHead returns the first row of a table. A name of no column is a fault of the
// program.
func TableHead(names ...string) []string {
	for _, name := range names {
		if !IsColumn(name) {
			panic("runs: there is no column " + name)
		}
	}
	return names
}
