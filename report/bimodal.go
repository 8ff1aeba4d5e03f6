package report

import (
	"fmt"
	"math"
	"slices"

	"dmebench/runs"
	"dmebench/units"
)

// Repetitions that fall into two groups have no common median: the middle lies in one of the
// groups, or between them if nothing was measured. On a shared machine that is what processes do
// that come to lie on one core in some runs and on two in others.
//
// Two groups are said to be there if a gap parts the sorted logarithms so that each side has at
// least fewestInMode values, the gap is at least apart(n) times as wide as the wider of the two
// sides, and the sides' middles differ by at least the factor modesDiffer. Logarithms, because
// times scatter by factors; a single outlier is never a group.
//
// If all n values come from one distribution, be it normal, uniform or exponential in their
// logarithms, the first two conditions alone are met by chance in less than 1% of samples; a test
// draws them.
const (
	fewestRepetitions = 6
	fewestInMode      = 2
	modesDiffer       = 1.5
)

// apart is how many times as wide as the groups the gap between them must be:
// with few values the widest gap is wide by chance. It is a bound on the 99th
// percentiles of that ratio, found by drawing samples.
func apart(n int) float64 { return max(2, 24/float64(n-1)) }

// modes are two groups of values.
type modes struct {
	low, high   float64 // the middles of the groups
	lows, highs int     // values in each
}

// twoModes reports the two groups that positive values fall into, if they do.
func twoModes(values []float64) (modes, bool) {
	n := len(values)
	sorted := slices.Sorted(slices.Values(values))
	if n < fewestRepetitions || !(sorted[0] > 0) || math.IsInf(sorted[n-1], 0) {
		return modes{}, false
	}
	width := func(from, to int) float64 { return math.Log(sorted[to] / sorted[from]) }
	for k := fewestInMode; k <= n-fewestInMode; k++ {
		m := modes{low: middle(sorted[:k]), high: middle(sorted[k:]), lows: k, highs: n - k}
		if width(k-1, k) >= apart(n)*max(width(0, k-1), width(k, n-1)) && m.high >= modesDiffer*m.low {
			return m, true
		}
	}
	return modes{}, false
}

// middle is the median of sorted values.
func middle(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// bimodal says which quantities of the cell's repetitions have two modes.
func (c *cell) bimodal() (warnings []string) {
	for _, name := range []string{runs.Throughput, runs.ResponseP50, runs.SyncDelayP50, runs.MeanDelay} {
		metric, _ := runs.LookupMetric(name)
		m, ok := twoModes(metric.Values(c.Good))
		if !ok {
			continue
		}
		show := units.Number
		if metric.Time() {
			show = units.Time
		}
		warnings = append(warnings, fmt.Sprintf("repetitions fall into two groups: %s is near %s in %d and near %s in %d; "+
			"their median describes neither; look for what differs, such as the cores on which processes ran",
			lowerFirst(metric.Title), show(m.low), m.lows, show(m.high), m.highs))
	}
	return warnings
}
