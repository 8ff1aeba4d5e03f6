// Package columns names the columns of all tables that are written for other programs:
// what means the same is called the same in each of them.
package columns

import (
	"slices"
	"strings"

	"dmebench/result"
)

// Column is a column of one or more tables.
type Column struct{ Name, Meaning string }

// own lists the columns that are neither a dimension of a run nor a metric.
var own = []Column{
	// Which run, or which cell.
	{"label", "what the experiment calls the algorithm"},
	{"repetition", "from 1"},
	{"seed", "of the run"},

	// What came of it.
	{"status", "`ok`, `violated`, `stalled` or `failed`"},
	{"requests_made", "calls of Request"},
	{"entries", "exits from the critical section"},
	{"violations", "of mutual exclusion"},
	{"pending", "requests that were not served"},
	{"warnings", "how many"},
	{"lost_updates", "of the shared resource; a column only where runs had one"},
	{"undecided", "entries of which it cannot be told whether mutual exclusion held; a column only where runs were made on several hosts"},

	// Of a cell: its repetitions.
	{"workers", "processes"},
	{"repetitions", "all of them"},
	{"repetitions_ok", "the ones that the medians are taken over"},
	{"repetitions_violated", "by status"},
	{"repetitions_stalled", "by status"},
	{"repetitions_failed", "by status"},
	{"entries_ok", "entries of all repetitions that ended well"},

	// Of a distribution.
	{"quantity", "what is counted or timed: `response`, `waiting` or `sync-delay` of a bucket; of a claim what it speaks of"},
	{"from_ns", "smallest time of the bucket"},
	{"to_ns", "largest time of the bucket"},
	{"count", "values in it"},

	// Of a host, and of the way between two.
	{"host", "its name"},
	{"address", "by which the other hosts reach it"},
	{"labels", "as its agent was given"},
	{"nodes_there", "the nodes that lived there"},
	{"cores", "that it has"},
	{"cores_busy", "on average, while the run went on"},
	{"cores_busy_workers", "of these, with the run's workers"},
	{"memory_free_bytes", "least memory that was available"},
	{"clock_offset_ns", "by which its clock was ahead of the coordinator's at the start of the run, " +
		"of a link that of the host that answered ahead of the other's; empty where it is the same clock, or nothing is known of it"},
	{"clock_bound_ns", "bound on the error of that; of a host the largest of any of its times"},
	{"clock_drift_ppm", "by which that clock ran fast"},
	{"clock_set_ns", "by at least how much it was set while the run went on"},
	{"from", "the host that asked"},
	{"to", "the host that answered"},
	{"sent", "exchanges of datagrams that were begun"},
	{"lost", "of these, without an answer"},
	{"rtt_min_ns", "shortest round trip; empty where there was no answer"},
	{"rtt_median_ns", "the median"},
	{"rtt_p99_ns", "the 99th percentile"},
	{"by", "`udp`, or `control` where the clocks were compared by way of the coordinator's"},

	// Of a claim, at one number of nodes.
	{"claim", "its id"},
	{"formula", "what it says of the quantity"},
	{"load", "for which it is made"},
	{"kind", "`exact`, `mean`, `upper bound`, `lower bound` or `asymptotic`"},
	{"source", "paper and section"},
	{"verdict", "on the claim as a whole"},
	{"condition", "under which it was measured"},
	{"standing", "how the claim stands at this point: `agrees`, `differs` or `open`"},
	{"runs", "how many there were"},
	{"predicted", "by the claim"},
	{"mean", "of the runs' values"},
	{"mean_ci999_low", "lower bound of the 99.9% interval of the mean"},
	{"mean_ci999_high", "its upper bound"},
	{"closest", "how close a bound comes that is kept, as a part of it: 1 where it is reached"},
	{"tolerance", "relative to the prediction, where the mean would differ without it"},
	{"tolerance_for", "what that is for"},
	{"evidence", "`runs`, `construction`, or `search` of schedules"},
	{"min", "least value, of runs or of entries where these are told apart"},
	{"max", "greatest value"},

	// Of an algorithm under a kind of fault.
	{"fault", "its kind"},
	{"safe", "`yes`, `no` or `unknown`: mutual exclusion held, in all runs and in the search"},
	{"live", "`yes`, `no` or `unknown`: requests of the nodes that were there were served"},
	{"struck", "runs in which the fault struck"},
	{"unsafe", "runs with two nodes in the critical section at once"},
	{"stopped", "runs in which somebody waited for ever"},
	{"safe_by", "what `safe` stands on: `states`, all of a small system; `schedules`, a part of its states and random schedules; " +
		"`runs` alone; `search`, which found what no run showed"},
	{"live_by", "what `live` stands on, likewise"},
	{"only", "conditions under which alone it is safe; empty where there are none"},
}

// Suffixes of a metric's name, for the bounds of the 95% interval of its median.
const (
	Low  = "_ci95_low"
	High = "_ci95_high"
)

// Own returns the columns that are neither a dimension of a run nor a metric.
func Own() []Column { return slices.Clone(own) }

// Known reports whether there is a column of that name.
func Known(name string) bool {
	metric := strings.TrimSuffix(strings.TrimSuffix(name, Low), High)
	return slices.ContainsFunc(own, func(c Column) bool { return c.Name == name }) ||
		slices.Contains(result.Dimensions(), name) ||
		slices.ContainsFunc(result.Metrics(), func(m result.Metric) bool { return m.Name == metric })
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
// came later, stand last, and only where runs have a value ([result.LateDimensions]).
func Early() []string {
	return slices.DeleteFunc(result.Dimensions(), func(name string) bool { return name == "resource" || name == "hosts" })
}
