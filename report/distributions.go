package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dmebench/report/plots"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// distributions are those of response and waiting time at the largest size that most
// series have: how many of the times are at most so long, and the response time by
// percentile, which shows the tail.
func (c *collection) distributions(s *set) []picture {
	here := s.mostCommon(func(r *runs.Result) bool { return r.Histograms.Response != "" || r.Histograms.Waiting != "" })
	if here.cells == nil {
		return nil
	}
	response := s.merged(here, func(r *runs.Result) string { return r.Histograms.Response }, c.warn(s, here))
	waiting := s.merged(here, func(r *runs.Result) string { return r.Histograms.Waiting }, nil)
	cdf := s.cumulative(here, "response", "Response time: distribution", response)
	wait := s.cumulative(here, "waiting", "Waiting time: distribution", waiting)
	if s.waitingIsResponse() {
		wait.leftOut = waitingSaysNothing
	}
	return []picture{cdf, wait, s.percentiles(here, response)}
}

// warn returns what tells the reader of a histogram that cannot be read.
func (c *collection) warn(s *set, here spot) func(label string, err error) {
	return func(label string, err error) {
		c.warnings = append(c.warnings, fmt.Sprintf("%s, %s (%s): no percentile curve: %v", label, here.text, s, err))
	}
}

// merged adds up the histograms of each line's repetitions; lines whose cannot be
// read are left out, and fail is told, if it is not nil.
func (s *set) merged(
	here spot, of func(*runs.Result) string, fail func(label string, err error),
) map[string]*hdrhistogram.Histogram {
	all := make(map[string]*hdrhistogram.Histogram)
	for _, ln := range s.lines {
		cell := here.cells[ln.label]
		if cell == nil {
			continue
		}
		var encoded []string
		for _, r := range cell.Good {
			encoded = append(encoded, of(r))
		}
		h, err := stats.Merge(encoded)
		if err != nil && fail != nil {
			fail(ln.label, err)
		}
		if err == nil && h != nil {
			all[ln.label] = h
		}
	}
	return all
}

// at makes a picture of the set at one number of nodes.
func (s *set) at(here spot, what, title string) picture {
	return s.picture(what, title, fmt.Sprintf("n%d", here.nodes), append(slices.Clone(s.about), here.text))
}

// cumulative draws the cumulative distributions of all lines.
func (s *set) cumulative(here spot, of, title string, times map[string]*hdrhistogram.Histogram) picture {
	f := s.at(here, of+"-cdf", title)
	f.X = plots.Axis{Label: of + " time", Kind: plots.Times}
	f.Y = plots.Axis{Label: "share of the critical sections", Kind: plots.Parts}
	f.read = "How many of the times, of all repetitions together, are at most so long; up to 99.9%."
	for _, ln := range s.lines {
		curve := plots.Series{Label: ln.label, Style: ln.style, Role: plots.Curve}
		for _, at := range stats.Cumulative(times[ln.label]) {
			curve.Points = append(curve.Points, plots.At(at.Value, at.Share))
		}
		f.Series = append(f.Series, curve)
	}
	return f
}

// percentiles is the response time against its percentile, which shows the tail.
func (s *set) percentiles(here spot, times map[string]*hdrhistogram.Histogram) picture {
	f := s.at(here, "response-percentiles", "Response time by percentile")
	f.X = plots.Axis{Label: "percentile, all repetitions together", Kind: plots.Ranks}
	f.Y = plots.Axis{Label: "response time", Kind: plots.Times}
	f.Keys = []plots.Key{{Label: "median of the repetitions' percentiles, with its 95% interval", Role: plots.Dots}}
	f.read = "Curves merge the distributions of all repetitions; dots are medians of the percentiles of each, with their intervals."
	for _, ln := range s.lines {
		if times[ln.label] == nil {
			continue
		}
		curve := plots.Series{Label: ln.label, Style: ln.style, Role: plots.Curve}
		for _, r := range stats.Percentiles(times[ln.label]) {
			curve.Points = append(curve.Points, plots.At(r.Inverse, r.Value))
		}
		f.Series = append(f.Series, curve, plots.Series{Style: ln.style, Role: plots.Dots, Points: here.cells[ln.label].ranks()})
	}
	return f
}

// ranks returns the percentiles of the response time as every repetition has
// them for itself: how far the curve of all together can be trusted. What a
// repetition is too short to tell is left out.
func (c *cell) ranks() []plots.Point {
	var points []plots.Point
	for _, r := range []struct {
		inverse float64
		metric  string
	}{{2, runs.ResponseP50}, {10, runs.ResponseP90}, {100, runs.ResponseP99}, {1000, runs.ResponseP999}} {
		e := c.estimates[r.metric]
		tooShort := func(x *runs.Result) bool {
			return x.ResponseTime == nil || float64(x.ResponseTime.Count) < r.inverse
		}
		if e.N == 0 || slices.ContainsFunc(c.Good, tooShort) {
			continue
		}
		p := pointOf(r.inverse, e)
		p.Note = fmt.Sprintf("%s: %s", c.Label, describe(e, units.Time))
		points = append(points, p)
	}
	return points
}

// Repetitions that fall into two groups have no common median: the middle lies
// in one of the groups, or between them where nothing was measured. On a shared
// machine that is what processes do that come to lie on one core in some runs
// and on two in others.
//
// Two groups are said to be there if a gap parts the sorted logarithms so that
// each side has at least fewestInMode values, the gap is at least apart(n) times
// as wide as the wider of the two sides, and the sides' middles differ by at
// least the factor modesDiffer. Logarithms, because times scatter by factors; a
// single outlier is never a group.
//
// Where all n values come from one distribution, be it normal, uniform or
// exponential in their logarithms, the first two conditions alone are met by
// chance in less than 1% of samples; a test draws them.
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
		show := formatOf(name)
		warnings = append(warnings, fmt.Sprintf("repetitions fall into two groups: %s is near %s in %d and near %s in %d; "+
			"their median describes neither; look for what differs, such as the cores on which processes ran",
			lowerFirst(metric.Title), show(m.low), m.lows, show(m.high), m.highs))
	}
	return warnings
}
