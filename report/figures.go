package report

import (
	"fmt"
	"slices"

	"dmebench/dme"
	"dmebench/report/plots"
	"dmebench/report/stats"
	"dmebench/report/units"
	"dmebench/result"
)

// setFigures returns the figures of a set that have something to show. A set that
// is a point of a curve has those alone that the curve does not say.
func (c *collection) setFigures(s *set) []plots.Figure {
	var figures []plots.Figure
	switch f := c.familyOf(s); {
	case f == nil:
		figures = append(c.figures(s.chart), s.kindFigure(), c.fairnessFigure(s), s.workFigure(), c.percentiles(s))
	case !f.numeric:
		figures = []plots.Figure{c.percentiles(s)}
	}
	return slices.DeleteFunc(figures, plots.Figure.Empty)
}

// fairnessFigure shows how evenly and in which order the nodes entered, and how
// evenly they worked. Under serial load nobody competes: there the order of
// entries says something about the workload alone, and only the work is shown.
func (c *collection) fairnessFigure(s *set) plots.Figure {
	f := plots.Figure{Name: s.name("fairness"), Title: "Fairness and division of work", Subtitle: s.about}
	serial := s.workload == "serial"
	if serial {
		f.Title = "Division of work"
	}
	for _, p := range []struct {
		quantity
		ordinate string
		order    bool
	}{
		{quantity{title: "Jain's index of the entries", median: result.JainIndex}, "Jain's index", true},
		{quantity{title: "Longest run of one node", median: result.LongestRun, theory: dme.LongestRun}, "entries in a row", true},
		{quantity{title: "Largest bypass of a request", median: result.MaxBypass, theory: dme.Bypass}, "entries by others", true},
		{quantity{title: "Largest bypass by one node", median: result.MaxBypassByOne, theory: dme.BypassByOne, forTheory: true},
			"entries by one other", true},
		{quantity{title: "Messages of the busiest node", median: result.WorkMaxOverMean, theory: dme.WorkSpread}, "busiest / mean", false},
	} {
		series, shown, told := c.series(s.chart, p.quantity)
		if shown && (told || !p.forTheory) && !(p.order && serial) {
			f.Panels = append(f.Panels, plots.Panel{
				Title: p.title, X: s.abscissa, Y: plots.Axis{Label: p.ordinate, Kind: plots.Values}, Series: series,
			})
		}
	}
	return f
}

// percentiles is the distribution of the response time at the largest size
// that most series have.
func (c *collection) percentiles(s *set) plots.Figure {
	common := s.largestCommon()
	f := plots.Figure{
		Name:     s.name("response-time-percentiles"),
		Title:    "Response time by percentile, " + common.text,
		Subtitle: s.about,
		X:        plots.Axis{Label: "percentile, all repetitions together", Kind: plots.Ranks},
		Y:        plots.Axis{Label: "response time", Kind: plots.Times},
		Keys:     []plots.Key{{Label: "median of the repetitions' percentiles, with its 95% interval", Role: plots.Dots}},
	}
	for _, ln := range s.lines {
		cell := common.cells[ln.label]
		if cell == nil {
			continue
		}
		var encoded []string
		for _, r := range cell.good {
			encoded = append(encoded, r.Histograms.Response)
		}
		h, err := stats.Merge(encoded)
		if err != nil {
			c.warnings = append(c.warnings, fmt.Sprintf("%s, %s (%s): no percentile curve: %v", ln.label, common.text, s, err))
			continue
		}
		curve := plots.Series{Label: ln.label, Style: ln.style, Role: plots.Curve}
		for _, r := range stats.Percentiles(h) {
			curve.Points = append(curve.Points, plots.At(r.Inverse, r.Value))
		}
		f.Series = append(f.Series, curve, plots.Series{Style: ln.style, Role: plots.Dots, Points: cell.ranks()})
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

// largestCommon returns the size at which most series have a distribution,
// among equals the largest.
func (s *set) largestCommon() (common spot) {
	most := 0
	for _, here := range s.spots {
		have := 0
		for _, cell := range here.cells {
			if slices.ContainsFunc(cell.good, func(r *result.Result) bool { return r.Histograms.Response != "" }) {
				have++
			}
		}
		if have >= most {
			common, most = here, have
		}
	}
	return common
}
