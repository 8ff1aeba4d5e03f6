package runs

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"dmebench/units"
)

// Direction says which of two values of a metric is better.
type Direction string

// A metric without a direction is a condition of the run, not its outcome.
const (
	Higher  Direction = "higher"
	Lower   Direction = "lower"
	Neither Direction = ""
)

// Metric is one number that a run has, or has not.
type Metric struct {
	Name   string // with its unit, as a column of summary.csv
	Title  string // for a reader, such as "Response time p99"
	Unit   string // what is divided by what; a time in nanoseconds ends in "-ns"; as benchstat has it
	Better Direction
	Read   func(*Result) *float64 // nil if the run has no sample
}

// Time reports whether the metric is a time in nanoseconds.
func (m Metric) Time() bool { return strings.HasSuffix(m.Name, "_ns") }

// Phrase is the title within a sentence: in lower case, but for a name or an abbreviation.
func (m Metric) Phrase() string {
	if len(m.Title) < 2 || m.Title[1] < 'a' || m.Name == JainIndex {
		return m.Title
	}
	return strings.ToLower(m.Title[:1]) + m.Title[1:]
}

// Text writes a value of the metric for people, a time with its unit; "–" for none.
func (m Metric) Text(x *float64) string {
	switch {
	case x == nil:
		return units.Missing
	case m.Time():
		return units.Time(*x)
	}
	return units.Number(*x)
}

// Values returns the metric of every run that has it.
func (m Metric) Values(runs []*Result) []float64 {
	var values []float64
	for _, r := range runs {
		if x := m.Read(r); x != nil {
			values = append(values, *x)
		}
	}
	return values
}

// Usable reports whether a run's numbers may be used: it ended well, and mutual
// exclusion held.
func Usable(r *Result) bool { return r != nil && r.Status == OK && r.Safety.Violations == 0 }

// LookupMetric returns the metric of that name.
func LookupMetric(name string) (m Metric, ok bool) {
	i := slices.IndexFunc(metrics, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return m, false
	}
	return metrics[i], true
}

// Metrics lists the metrics of a run, in the order of summary.csv.
func Metrics() []Metric { return slices.Clone(metrics) }

// Names of the metrics that programs ask for.
const (
	MessagesPerCS      = "messages_per_cs"
	SteadyPerCS        = "messages_per_cs_steady"
	TransmissionsPerCS = "transmissions_per_cs"
	BetweenSitesPerCS  = "between_sites_per_cs"
	Throughput         = "throughput_cs_per_s"
	Offered            = "offered_cs_per_s"
	ResponseMean       = "response_time_mean_ns"
	ResponseP50        = "response_time_p50_ns"
	ResponseP90        = "response_time_p90_ns"
	ResponseP99        = "response_time_p99_ns"
	ResponseP999       = "response_time_p999_ns"
	WaitingP50         = "waiting_time_p50_ns"
	WaitingP99         = "waiting_time_p99_ns"
	SyncDelayP50       = "sync_delay_p50_ns"
	MeanDelay          = "t_ns"
	HandoverDelay      = "t_handover_ns"
	SyncDelayMean      = "sync_delay_mean_ns"
	SyncDelayP99       = "sync_delay_p99_ns"
	SyncDelayBound     = "sync_delay_bound_ns"
	SyncDelayLoad      = "sync_delay_by_throughput_ns"
	SyncDelayOverT     = "sync_delay_over_t"
	MeanHold           = "cs_ns"
	JainIndex          = "jain_index"
	WorkMaxOverMean    = "work_max_over_mean"
	BusiestPerCS       = "busiest_node_messages_per_cs"
	LongestRun         = "longest_run"
	MaxBypass          = "max_bypass"
	MaxBypassByOne     = "max_bypass_by_one"
	Recovered          = "recovered_ns"
	Served             = "served_ns"
	RecoveryMessages   = "recovery_messages"
	RequestsLost       = "requests_lost"
)

var metrics = []Metric{
	{MessagesPerCS, "Messages per CS", "msgs/CS", Lower, func(r *Result) *float64 { return r.Messages.PerCS }},
	{SteadyPerCS, "Messages per CS, steady part", "steady-msgs/CS", Lower, func(r *Result) *float64 { return r.Messages.SteadyPerCS }},
	{TransmissionsPerCS, "Transmissions per CS", "transmissions/CS", Lower, func(r *Result) *float64 {
		if r.Entries == 0 {
			return nil
		}
		x := float64(r.Messages.Transmissions) / float64(r.Entries)
		return &x
	}},
	{BetweenSitesPerCS, "Messages between sites per CS", "far-msgs/CS", Lower, func(r *Result) *float64 {
		if r.Entries == 0 || r.Messages.BetweenSites == nil {
			return nil
		}
		x := float64(*r.Messages.BetweenSites) / float64(r.Entries)
		return &x
	}},
	{Throughput, "Throughput (CS/s)", "CS/s", Higher, func(r *Result) *float64 { return r.Throughput }},
	{Offered, "Offered load (CS/s)", "offered-CS/s", Neither, func(r *Result) *float64 { return r.Offered }},
	{ResponseMean, "Mean response time", "response-mean-ns", Lower, of(response, mean)},
	{ResponseP50, "Response time p50", "response-p50-ns", Lower, of(response, p50)},
	{ResponseP90, "Response time p90", "response-p90-ns", Lower, of(response, func(q *Quantiles) float64 { return float64(q.P90) })},
	{ResponseP99, "Response time p99", "response-p99-ns", Lower, of(response, p99)},
	{ResponseP999, "Response time p99.9", "response-p999-ns", Lower, of(response, func(q *Quantiles) float64 { return float64(q.P999) })},
	{"response_time_max_ns", "Longest response time", "response-max-ns", Lower,
		of(response, func(q *Quantiles) float64 { return float64(q.Max) })},
	{WaitingP50, "Waiting time p50", "waiting-p50-ns", Lower, of(waiting, p50)},
	{WaitingP99, "Waiting time p99", "waiting-p99-ns", Lower, of(waiting, p99)},
	{SyncDelayP50, "Synchronization delay p50", "sync-delay-p50-ns", Lower, of(syncDelay, p50)},
	{SyncDelayMean, "Mean synchronization delay", "sync-delay-mean-ns", Lower, of(syncDelay, mean)},
	{SyncDelayP99, "Synchronization delay p99", "sync-delay-p99-ns", Lower, of(syncDelay, p99)},
	{MeanDelay, "T, mean delay of a message", "t-ns", Neither, func(r *Result) *float64 { return r.T }},
	{HandoverDelay, "T between handovers", "t-handover-ns", Neither, func(r *Result) *float64 { return r.THandover }},
	{SyncDelayOverT, "Synchronization delay / T", "sync-delay/T", Lower, func(r *Result) *float64 { return r.SyncDelayOverT }},
	{MeanHold, "Duration of a CS as held", "cs-ns", Neither, func(r *Result) *float64 { return r.CS }},
	{"lateness_p99_ns", "Lateness of the generator p99", "lateness-p99-ns", Lower,
		of(func(r *Result) *Quantiles { return r.Lateness }, p99)},
	{JainIndex, "Jain's index of fairness", "jain-index", Higher, func(r *Result) *float64 { return r.Fairness.Jain }},
	{WorkMaxOverMean, "Work of the busiest node over the mean", "work-max-over-mean", Lower,
		func(r *Result) *float64 { return r.Work.MaxOverMean }},
	{BusiestPerCS, "Messages of the busiest node per CS", "busiest-msgs/CS", Lower, busiest},
	{LongestRun, "Longest run of one node", "longest-run", Lower, inOrder(func(f Fairness) uint64 { return f.LongestRun })},
	{MaxBypass, "Most entries by others while a node waits", "max-bypass", Lower, inOrder(func(f Fairness) uint64 { return f.MaxBypass })},
	{MaxBypassByOne, "Most entries by one other while a node waits", "max-bypass-by-one", Lower, func(r *Result) *float64 {
		if r.Fairness.MaxBypass > 0 && r.Fairness.ByOne == 0 { // of before it was measured
			return nil
		}
		return inOrder(func(f Fairness) uint64 { return f.ByOne })(r)
	}},
	{"out_of_order", "Entries out of the order of requests", "out-of-order", Lower,
		inOrder(func(f Fairness) uint64 { return f.OutOfOrder })},
	{Recovered, "Time from a fault to the next entry", "recovered-ns", Lower,
		costliest(func(f *Fault) *float64 { return of64(f.RecoveredNS) })},
	{Served, "Time from a fault until all who waited were served", "served-ns", Lower,
		costliest(func(f *Fault) *float64 { return of64(f.ServedNS) })},
	{RecoveryMessages, "Messages from a fault to the next entry", "recovery-msgs", Lower,
		costliest(func(f *Fault) *float64 { return of64(f.Messages) })},
	{RequestsLost, "Requests lost by faults", "requests-lost", Lower, func(r *Result) *float64 {
		if len(r.Faults) == 0 {
			return nil
		}
		sum := 0.0
		for i := range r.Faults {
			sum += float64(r.Faults[i].Lost)
		}
		return &sum
	}},
	{SyncDelayBound, "Bound of the clocks on any synchronization delay", "sync-delay-bound-ns", Neither,
		func(r *Result) *float64 { return of64(r.SyncDelayBound) }},
	{SyncDelayLoad, "Synchronization delay, 1/throughput − E", "sync-delay-by-throughput-ns", Lower,
		func(r *Result) *float64 { return r.SyncDelayLoad }},
}

// busiest is what the busiest node sends and handles for each entry of any node.
func busiest(r *Result) *float64 {
	w := r.Work
	if r.Entries == 0 || len(w.SentByNode) == 0 || len(w.SentByNode) != len(w.HandledByNode) {
		return nil
	}
	most := uint64(0)
	for i, sent := range w.SentByNode {
		most = max(most, sent+w.HandledByNode[i])
	}
	x := float64(most) / float64(r.Entries)
	return &x
}

// costliest is the largest value of the run's faults. A fault at which no node waited has none; if
// one waited for ever, the run has none.
func costliest(cost func(*Fault) *float64) func(*Result) *float64 {
	return func(r *Result) (most *float64) {
		for i := range r.Faults {
			f := &r.Faults[i]
			x := cost(f)
			switch {
			case x == nil && f.Waiting > 0:
				return nil
			case x != nil && (most == nil || *x > *most):
				most = x
			}
		}
		return most
	}
}

func of64[N int64 | uint64](x *N) *float64 {
	if x == nil {
		return nil
	}
	y := float64(*x)
	return &y
}

func response(r *Result) *Quantiles  { return r.ResponseTime }
func waiting(r *Result) *Quantiles   { return r.WaitingTime }
func syncDelay(r *Result) *Quantiles { return r.SyncDelay }

func mean(q *Quantiles) float64 { return q.Mean }
func p50(q *Quantiles) float64  { return float64(q.P50) }
func p99(q *Quantiles) float64  { return float64(q.P99) }

func of(times func(*Result) *Quantiles, take func(*Quantiles) float64) func(*Result) *float64 {
	return func(r *Result) *float64 {
		q := times(r)
		if q == nil || q.Count == 0 {
			return nil
		}
		x := take(q)
		return &x
	}
}

// inOrder is a number taken from the order of entries, if there was one: the longest run of a node
// is at least one.
func inOrder(take func(Fairness) uint64) func(*Result) *float64 {
	return func(r *Result) *float64 {
		if r.Fairness.LongestRun == 0 {
			return nil
		}
		x := float64(take(r.Fairness))
		return &x
	}
}

// short names metrics as people call them; a percentile alone is that of the waiting time.
var short = map[string]string{
	"p50":        WaitingP50,
	"p99":        WaitingP99,
	"throughput": Throughput,
	"messages":   MessagesPerCS,
	"jain":       JainIndex,
	"bypass":     MaxBypass,
	"sync-delay": SyncDelayP50,
}

// FindMetrics returns the metrics that a person means by these names.
func FindMetrics(names []string) (metrics []Metric, err error) {
	for _, name := range names {
		m, err := FindMetric(name)
		if err != nil {
			return nil, err
		}
		metrics = append(metrics, m)
	}
	return metrics, nil
}

// FindMetric returns the metric that a person means by name: its name, in any case, with - for _,
// and without its unit or the word "time" if they say nothing ("response-p99"); or one of the short
// names. An error suggests what was meant.
func FindMetric(name string) (Metric, error) {
	if full, ok := short[strings.ToLower(name)]; ok {
		name = full
	}
	if m, ok := LookupMetric(name); ok {
		return m, nil
	}
	names := slices.Sorted(maps.Keys(short))
	for _, m := range metrics {
		if plain(m.Name) == plain(name) {
			return m, nil
		}
		names = append(names, m.Name)
	}
	if percentile.MatchString(name) {
		names = slices.DeleteFunc(names, func(n string) bool { return !percentile.MatchString(n) })
		return Metric{}, fmt.Errorf("unknown metric %q; the percentiles there are %s", name, strings.Join(names, ", "))
	}
	return Metric{}, units.UnknownName("metric", name, names,
		"there are "+strings.Join(slices.Sorted(maps.Keys(short)), ", ")+", and every column of summary.csv such as response_time_p99_ns")
}

var percentile = regexp.MustCompile(`(?i)(^|[_-])p[0-9]`)

func plain(name string) string {
	name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
	for _, unit := range []string{"_ns", "_cs_per_s"} {
		name = strings.TrimSuffix(name, unit)
	}
	return strings.Replace(name, "_time_", "_", 1)
}

// Slug is the name of the metric in names of files: "response-p99". [FindMetric] takes it.
func (m Metric) Slug() string {
	if m.Name == SyncDelayP50 {
		return "sync-delay"
	}
	return strings.ReplaceAll(plain(m.Name), "_", "-")
}

// columns lists those of all tables that are written for other programs, but dimensions
// and metrics: what means the same is called the same in each table.
// docs/results-format.md says what each means.
var columns = []string{
	// Which run, or which cell.
	"label", "repetition", "seed",

	// Outcomes.
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
