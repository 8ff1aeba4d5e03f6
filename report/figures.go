package report

import (
	"fmt"
	"slices"
	"strings"

	"dmebench/dme"
	"dmebench/report/plots"
	"dmebench/report/stats"
	"dmebench/report/units"
	"dmebench/result"
)

// against describes a figure of one quantity against N.
type against struct {
	suffix, title string
	ordinate      plots.Axis
	median, tail  string       // metrics; tail may be ""
	theory        dme.Quantity // zero for none
	forTheory     bool         // drawn only where a claim speaks of it
}

func overSizes() []against {
	values := func(label string) plots.Axis { return plots.Axis{Label: label, Kind: plots.Values} }
	times := func(label string) plots.Axis { return plots.Axis{Label: label, Kind: plots.Times} }
	return []against{
		{suffix: "messages", title: "Messages per critical section", ordinate: values("messages per CS"),
			median: messagesPerCS, theory: dme.MessagesPerCS},
		{suffix: "transmissions", title: "Transmissions per critical section (a broadcast is one)", ordinate: values("transmissions per CS"),
			median: transmissionsPerCS, theory: dme.TransmissionsPerCS},
		{suffix: "throughput", title: "Throughput", ordinate: values("throughput (CS/s)"),
			median: throughput, theory: dme.Throughput},
		{suffix: "response", title: "Response time (request to exit)", ordinate: times("response time"),
			median: responseP50, tail: responseP99},
		{suffix: "response-mean", title: "Mean response time (request to exit)", ordinate: times("mean response time"),
			median: responseMean, theory: dme.ResponseTime, forTheory: true},
		{suffix: "waiting", title: "Waiting time (intended arrival to entry)", ordinate: times("waiting time"),
			median: waitingP50, tail: waitingP99},
		{suffix: "sync-delay", title: "Synchronization delay (exit to next entry)", ordinate: times("synchronization delay, p50"),
			median: syncDelayP50},
		{suffix: "sync-delay-over-t", title: "Mean synchronization delay in units of T", ordinate: values("synchronization delay / T"),
			median: syncDelayOverT, theory: dme.SyncDelay},
	}
}

// figures returns the figures of a set that have something to show.
func (c *collection) figures(s *set) []plots.Figure {
	var figures []plots.Figure
	for _, a := range overSizes() {
		if c.familyOf(s) != nil || a.median == transmissionsPerCS && !s.broadcasts() {
			continue
		}
		f := plots.Figure{
			Name: s.slug + "-" + a.suffix, Title: a.title, Subtitle: s.String(),
			X: plots.Axis{Label: "nodes N", Kind: plots.Sizes}, Y: a.ordinate,
		}
		for _, label := range s.labels {
			style := slices.Index(c.labels, label)
			f.Series = append(f.Series, plots.Series{
				Label: label, Style: style, Role: plots.Measured, Points: s.points(label, a.median, a.ordinate),
			})
			if a.tail != "" {
				f.Series = append(f.Series, plots.Series{
					Style: style, Role: plots.Tail, Points: s.points(label, a.tail, a.ordinate),
				})
			}
			if a.theory != (dme.Quantity{}) {
				f.Series = append(f.Series, c.curves(s, label, style, a.theory)...)
			}
		}
		if a.tail != "" {
			f.Keys = []plots.Key{{Label: "median, p50", Role: plots.Measured}, {Label: "99th percentile", Role: plots.Tail}}
		}
		if measured(f) && (!a.forTheory || predicted(f)) {
			figures = append(figures, f)
		}
	}
	for _, f := range c.others(s) {
		if !f.Empty() {
			figures = append(figures, f)
		}
	}
	return figures
}

// others returns the figures of a set that are not of one quantity against N. Of
// a set that is a point of a curve, the curve says enough.
func (c *collection) others(s *set) []plots.Figure {
	if f := c.familyOf(s); f != nil {
		if f.numeric {
			return nil
		}
		return []plots.Figure{c.percentiles(s)}
	}
	return []plots.Figure{c.kindFigure(s), c.fairnessFigure(s), c.workByNode(s), c.percentiles(s)}
}

// measured reports whether a figure shows more than predictions.
func measured(f plots.Figure) bool {
	return slices.ContainsFunc(f.Series, func(s plots.Series) bool {
		return s.Role == plots.Measured && len(s.Points) > 0
	})
}

// predicted reports whether a figure shows a prediction.
func predicted(f plots.Figure) bool {
	return slices.ContainsFunc(f.Series, func(s plots.Series) bool {
		return (s.Role == plots.Exact || s.Role == plots.Bound) && len(s.Points) > 0
	})
}

// String says what a set is: "tcp · saturate · CS 100 µs · 50 requests per node".
func (s *set) String() string {
	return strings.Join(append([]string{s.transport, s.workload}, s.about...), " · ")
}

// points returns a series' medians with their intervals. Where a cell was run
// and has no value the line is interrupted.
func (s *set) points(label, metric string, ordinate plots.Axis) []plots.Point {
	var points []plots.Point
	gap := false
	for _, n := range s.sizes {
		cell := s.cells[place{label, n}]
		if cell == nil {
			continue
		}
		e := cell.estimates[metric]
		if e.N == 0 {
			gap = true
			continue
		}
		p := plots.At(float64(n), e.Median)
		if e.Bounded() {
			p.Lo, p.Hi = e.Lo, e.Hi
		}
		p.Gap, gap = gap, false
		p.Note = fmt.Sprintf("%s, N = %d: %s", label, n, describe(e, write(ordinate, metric)))
		points = append(points, p)
	}
	return points
}

// write returns how values of a metric are written.
func write(ordinate plots.Axis, metric string) func(float64) string {
	if ordinate.Kind != plots.Times {
		return units.Number
	}
	if metric == responseP99 || metric == waitingP99 {
		return func(x float64) string { return "p99 " + units.Time(x) }
	}
	return units.Time
}

// describe writes an estimate as a sentence.
func describe(e stats.Estimate, write func(float64) string) string {
	switch {
	case e.N == 1:
		return write(e.Median) + ", one repetition"
	case !e.Bounded():
		return fmt.Sprintf("%s, range %s to %s of %d repetitions, too few for an interval", write(e.Median), write(e.Min), write(e.Max), e.N)
	}
	return fmt.Sprintf("%s, 95%% interval %s to %s, %d repetitions", write(e.Median), write(e.Lo), write(e.Hi), e.N)
}

// curves returns the predictions for a series: the sharpest claim and a second
// one, or with many series the sharpest alone, lest nothing can be read.
func (c *collection) curves(s *set, label string, style int, q dme.Quantity) []plots.Series {
	var measured []int
	var like *cell
	for _, n := range s.sizes {
		if cell := s.cells[place{label, n}]; cell != nil {
			measured = append(measured, n)
			like = cell
		}
	}
	most := 2
	if len(s.labels) > 6 {
		most = 1
	}
	sizes := curveSizes(measured)
	if timed(q) {
		sizes = measured
	}
	var curves []plots.Series
	for _, claim := range c.theory.speakingOf(q, like.spec) {
		if claim.KnownFalse != "" && len(curves) > 0 {
			break // the table has it
		}
		role := plots.Exact
		if claim.Kind == dme.UpperBound || claim.Kind == dme.LowerBound {
			role = plots.Bound
		}
		curve := plots.Series{Label: formula(claim), Style: style, Role: role}
		speaks := false // of a size that was measured
		for _, n := range sizes {
			if x, ok := c.predictAt(claim, s, label, n, like.spec); ok {
				curve.Points = append(curve.Points, plots.At(float64(n), x))
				speaks = speaks || s.cells[place{label, n}] != nil
			}
		}
		if speaks && len(curves) < most && !slices.ContainsFunc(curves, func(c plots.Series) bool { return coincide(c, curve) }) {
			curves = append(curves, curve)
		}
	}
	return curves
}

// coincide reports whether two predictions have the same values: one says as much
// as both.
func coincide(a, b plots.Series) bool {
	return slices.EqualFunc(a.Points, b.Points, func(p, q plots.Point) bool { return p.X == q.X && p.Y == q.Y })
}

// predictAt evaluates a claim at a size, which need not have been measured; like
// is the specification of one that was.
func (c *collection) predictAt(claim dme.Claim, s *set, label string, n int, like result.Spec) (float64, bool) {
	if cell := s.cells[place{label, n}]; cell != nil {
		return c.theory.predictCell(claim, cell)
	}
	like.Nodes = n
	return c.theory.predict(claim, like)
}

// percentiles is the distribution of the response time at the largest size
// that most series have.
func (c *collection) percentiles(s *set) plots.Figure {
	n := s.largestCommon()
	f := plots.Figure{
		Name:     fmt.Sprintf("%s-percentiles-n%d", s.slug, n),
		Title:    fmt.Sprintf("Response time by percentile, N = %d", n),
		Subtitle: s.String(),
		X:        plots.Axis{Label: "percentile, all repetitions together", Kind: plots.Ranks},
		Y:        plots.Axis{Label: "response time", Kind: plots.Times},
	}
	for _, label := range s.labels {
		cell := s.cells[place{label, n}]
		if cell == nil {
			continue
		}
		var encoded []string
		for _, r := range cell.good {
			encoded = append(encoded, r.Histograms.Response)
		}
		h, err := stats.Merge(encoded)
		if err != nil {
			c.warnings = append(c.warnings, fmt.Sprintf("%s, N = %d (%s): no percentile curve: %v", label, n, s, err))
			continue
		}
		curve := plots.Series{Label: label, Style: slices.Index(c.labels, label), Role: plots.Curve}
		for _, r := range stats.Percentiles(h) {
			curve.Points = append(curve.Points, plots.At(r.Inverse, r.Value))
		}
		f.Series = append(f.Series, curve, plots.Series{Style: curve.Style, Role: plots.Dots, Points: cell.ranks()})
	}
	f.Keys = []plots.Key{{Label: "median of the repetitions' percentiles, with its 95% interval", Role: plots.Dots}}
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
	}{{2, responseP50}, {10, responseP90}, {100, responseP99}, {1000, responseP999}} {
		e := c.estimates[r.metric]
		tells := func(x *result.Result) bool {
			return x.ResponseTime != nil && float64(x.ResponseTime.Count) >= r.inverse
		}
		if e.N == 0 || slices.ContainsFunc(c.good, func(x *result.Result) bool { return !tells(x) }) {
			continue
		}
		p := plots.At(r.inverse, e.Median)
		if e.Bounded() {
			p.Lo, p.Hi = e.Lo, e.Hi
		}
		p.Note = fmt.Sprintf("%s: %s", c.label, describe(e, units.Time))
		points = append(points, p)
	}
	return points
}

// largestCommon returns the size at which most series have a distribution,
// among equals the largest.
func (s *set) largestCommon() int {
	best, most := 0, 0
	for _, n := range s.sizes {
		have := 0
		for _, label := range s.labels {
			cell := s.cells[place{label, n}]
			if cell != nil && slices.ContainsFunc(cell.good, hasResponse) {
				have++
			}
		}
		if have >= most {
			best, most = n, have
		}
	}
	return best
}

func hasResponse(r *result.Result) bool { return r.Histograms.Response != "" }
