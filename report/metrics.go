package report

import "dmebench/result"

// metric is one number that a run has, or has not.
type metric struct {
	name string // with its unit, as a column of summary.csv
	of   func(*result.Result) *float64
}

// The metrics that the page and the figures ask for by name.
const (
	messagesPerCS      = "messages_per_cs"
	steadyPerCS        = "messages_per_cs_steady"
	transmissionsPerCS = "transmissions_per_cs"
	throughput         = "throughput_cs_per_s"
	responseMean       = "response_time_mean_ns"
	responseP50        = "response_time_p50_ns"
	responseP90        = "response_time_p90_ns"
	responseP99        = "response_time_p99_ns"
	responseP999       = "response_time_p999_ns"
	waitingP50         = "waiting_time_p50_ns"
	waitingP99         = "waiting_time_p99_ns"
	syncDelayP50       = "sync_delay_p50_ns"
	meanDelay          = "t_ns"
	syncDelayOverT     = "sync_delay_over_t"
	meanHold           = "cs_ns"
	jain               = "jain_index"
	workMaxOverMean    = "work_max_over_mean"
	longestRun         = "longest_run"
	maxBypass          = "max_bypass"
	maxBypassByOne     = "max_bypass_by_one"
)

// metrics lists them all, in the order of summary.csv.
func metrics() []metric {
	return []metric{
		{messagesPerCS, func(r *result.Result) *float64 { return r.Messages.PerCS }},
		{steadyPerCS, func(r *result.Result) *float64 { return r.Messages.SteadyPerCS }},
		{transmissionsPerCS, func(r *result.Result) *float64 {
			if r.Entries == 0 {
				return nil
			}
			x := float64(r.Messages.Transmissions) / float64(r.Entries)
			return &x
		}},
		{throughput, func(r *result.Result) *float64 { return r.Throughput }},
		{"offered_cs_per_s", func(r *result.Result) *float64 { return r.Offered }},
		{responseMean, of(response, func(q *result.Quantiles) float64 { return q.Mean })},
		{responseP50, of(response, p50)},
		{responseP90, of(response, func(q *result.Quantiles) float64 { return float64(q.P90) })},
		{responseP99, of(response, p99)},
		{responseP999, of(response, func(q *result.Quantiles) float64 { return float64(q.P999) })},
		{"response_time_max_ns", of(response, func(q *result.Quantiles) float64 { return float64(q.Max) })},
		{waitingP50, of(waiting, p50)},
		{waitingP99, of(waiting, p99)},
		{syncDelayP50, of(syncDelay, p50)},
		{"sync_delay_mean_ns", of(syncDelay, func(q *result.Quantiles) float64 { return q.Mean })},
		{"sync_delay_p99_ns", of(syncDelay, p99)},
		{meanDelay, func(r *result.Result) *float64 { return r.T }},
		{syncDelayOverT, func(r *result.Result) *float64 { return r.SyncDelayOverT }},
		{meanHold, func(r *result.Result) *float64 { return r.CS }},
		{"lateness_p99_ns", of(func(r *result.Result) *result.Quantiles { return r.Lateness }, p99)},
		{jain, func(r *result.Result) *float64 { return r.Fairness.Jain }},
		{workMaxOverMean, func(r *result.Result) *float64 { return r.Work.MaxOverMean }},
		{longestRun, inOrder(func(r *result.Result) uint64 { return r.Fairness.LongestRun })},
		{maxBypass, inOrder(func(r *result.Result) uint64 { return r.Fairness.MaxBypass })},
		{maxBypassByOne, func(r *result.Result) *float64 {
			f := r.Fairness
			if f.LongestRun == 0 || f.MaxBypass > 0 && f.ByOne == 0 { // of before it was measured
				return nil
			}
			x := float64(f.ByOne)
			return &x
		}},
		{"out_of_order", inOrder(func(r *result.Result) uint64 { return r.Fairness.OutOfOrder })},
	}
}

func response(r *result.Result) *result.Quantiles  { return r.ResponseTime }
func waiting(r *result.Result) *result.Quantiles   { return r.WaitingTime }
func syncDelay(r *result.Result) *result.Quantiles { return r.SyncDelay }

func p50(q *result.Quantiles) float64 { return float64(q.P50) }
func p99(q *result.Quantiles) float64 { return float64(q.P99) }

// of is a number taken from a distribution that may be absent.
func of(times func(*result.Result) *result.Quantiles, take func(*result.Quantiles) float64) func(*result.Result) *float64 {
	return func(r *result.Result) *float64 {
		q := times(r)
		if q == nil || q.Count == 0 {
			return nil
		}
		x := take(q)
		return &x
	}
}

// inOrder is a number taken from the order of entries, where there was one: the
// longest run of a node is at least one.
func inOrder(take func(*result.Result) uint64) func(*result.Result) *float64 {
	return func(r *result.Result) *float64 {
		if r.Fairness.LongestRun == 0 {
			return nil
		}
		x := float64(take(r))
		return &x
	}
}
