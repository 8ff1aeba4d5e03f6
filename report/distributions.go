package report

import (
	"fmt"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dmebench/report/plots"
	"dmebench/report/stats"
	"dmebench/report/units"
	"dmebench/result"
)

// distributions are those of response and waiting time at the largest size that most
// series have: how many of the times are at most so long, and the response time by
// percentile, which shows the tail.
func (c *collection) distributions(s *set) []picture {
	here := s.mostCommon(func(r *result.Result) bool { return r.Histograms.Response != "" || r.Histograms.Waiting != "" })
	if here.cells == nil {
		return nil
	}
	response := s.merged(here, func(r *result.Result) string { return r.Histograms.Response }, c.warn(s, here))
	waiting := s.merged(here, func(r *result.Result) string { return r.Histograms.Waiting }, nil)
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
	here spot, of func(*result.Result) string, fail func(label string, err error),
) map[string]*hdrhistogram.Histogram {
	all := make(map[string]*hdrhistogram.Histogram)
	for _, ln := range s.lines {
		cell := here.cells[ln.label]
		if cell == nil {
			continue
		}
		var encoded []string
		for _, r := range cell.good {
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
	}{{2, result.ResponseP50}, {10, result.ResponseP90}, {100, result.ResponseP99}, {1000, result.ResponseP999}} {
		e := c.estimates[r.metric]
		tooShort := func(x *result.Result) bool {
			return x.ResponseTime == nil || float64(x.ResponseTime.Count) < r.inverse
		}
		if e.N == 0 || slices.ContainsFunc(c.good, tooShort) {
			continue
		}
		p := pointOf(r.inverse, e)
		p.Note = fmt.Sprintf("%s: %s", c.label, describe(e, units.Time))
		points = append(points, p)
	}
	return points
}
