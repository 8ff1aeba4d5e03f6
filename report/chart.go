package report

import (
	"fmt"
	"slices"
	"strings"

	"dmebench/dme/claim"
	"dmebench/report/plots"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// chart is what the figures over one abscissa have in common: the numbers of
// nodes of a set, or the values of an axis at one number of nodes.
type chart struct {
	against  string   // what its abscissa is called in names of files: "n", or that of an axis
	place    string   // of the measurements, as names of files have it: "tcp saturate"
	size     string   // likewise the number of nodes, where there is one: "n7"
	about    []string // the same for a reader
	abscissa plots.Axis
	names    []string // of the places, where they are words
	lines    []line
	spots    []spot
	between  bool // predictions are evaluated between the spots too
}

// line is a series with its look.
type line struct {
	label string
	style int
}

// spot is a place on the abscissa, with a cell for each line that was measured
// there.
type spot struct {
	x       float64
	nodes   int
	text    string  // what it is, as a sentence has it
	offered float64 // requests per second that are asked for; 0 where that is not what varies
	number  float64 // of an axis: its value, in nanoseconds where it is a duration
	time    bool    // it is one
	cells   map[string]*cell
}

// lines gives labels the looks that they have all over the page.
func (c *collection) lines(labels []string) []line {
	var lines []line
	for _, label := range labels {
		lines = append(lines, line{label, slices.Index(c.labels, label)})
	}
	return lines
}

// over makes a picture of a quantity over the abscissa: "throughput-vs-n-tcp-saturate".
func (ch chart) over(quantity, title string) picture {
	return ch.picture(quantity+" vs "+ch.against, title, ch.size, ch.about)
}

// picture makes one of anything else that the chart shows, named after it, the place and
// the number of nodes where it is of one: "response-cdf-tcp-saturate-n13".
func (ch chart) picture(what, title, size string, about []string) picture {
	p := picture{kind: units.Slug(what), about: about}
	p.Name = units.Slug(strings.Join([]string{what, ch.place, size}, " "))
	p.Title, p.Subtitle = title, strings.Join(about, separator)
	return p
}

// separator stands between conditions.
const separator = " · "

// quantity is what a figure shows over an abscissa.
type quantity struct {
	name      string         // of the figure's file
	title     string         // "" for that of the metric
	median    string         // the metric
	theory    claim.Quantity // zero for none
	forTheory bool           // drawn only where a claim speaks of it
}

func quantities() []quantity {
	return []quantity{
		{name: "messages-per-cs", title: "Messages per critical section", median: runs.MessagesPerCS, theory: claim.MessagesPerCS},
		{name: "transmissions-per-cs", title: "Transmissions per critical section (a broadcast is one)",
			median: runs.TransmissionsPerCS, theory: claim.TransmissionsPerCS},
		{name: "throughput", title: "Throughput", median: runs.Throughput, theory: claim.Throughput},
		{name: "response-p50", title: "Response time (request to exit), median", median: runs.ResponseP50},
		{name: "response-p99", title: "Response time (request to exit), 99th percentile", median: runs.ResponseP99},
		{name: "response-mean", title: "Response time (request to exit), mean", median: runs.ResponseMean,
			theory: claim.ResponseTime, forTheory: true},
		{name: "waiting-p50", title: "Waiting time (intended arrival to entry), median", median: runs.WaitingP50},
		{name: "waiting-p99", title: "Waiting time (intended arrival to entry), 99th percentile", median: runs.WaitingP99},
		{name: "sync-delay", title: "Synchronization delay (exit to next entry), median", median: runs.SyncDelayP50},
		{name: "sync-delay-over-t", title: "Synchronization delay (exit to next entry), mean, in units of T",
			median: runs.SyncDelayOverT, theory: claim.SyncDelay},
	}
}

// axisOf is the ordinate of a metric.
func axisOf(metric string) plots.Axis {
	m, _ := runs.LookupMetric(metric)
	a := plots.Axis{Label: lowerFirst(m.Title), Kind: plots.Values}
	if m.Time() {
		a.Kind = plots.Times
	}
	return a
}

// lowerFirst begins a title in lower case, but for an abbreviation: "T", "CS".
func lowerFirst(title string) string {
	if len(title) < 2 || title[1] < 'a' {
		return title
	}
	return strings.ToLower(title[:1]) + title[1:]
}

// pictures returns what there is to draw over the chart's abscissa.
func (c *collection) pictures(ch chart) []picture {
	var all []picture
	for _, q := range quantities() {
		if q.median == runs.TransmissionsPerCS && !ch.broadcasts() {
			continue
		}
		f := ch.over(q.name, q.title)
		f.X, f.Y, f.Names, f.Keys = ch.abscissa, axisOf(q.median), ch.names, ch.ofClocks(q.median)
		f.Series, f.predicted = c.series(ch, q)
		if q.median == runs.Throughput {
			ch.markKnees(&f.Figure)
		}
		if ch.between && len(ch.spots) == 1 && len(ch.lines) > 1 {
			ch.sideBySide(&f)
		}
		f.leftOut = c.why(ch, q, f)
		f.read = ch.howToRead(q.median)
		if !f.Empty() {
			all = append(all, f)
		}
	}
	return append(all, c.byThroughput(ch)...)
}

// series returns the medians of a quantity, each line's followed by its predictions.
func (c *collection) series(ch chart, q quantity) (all []plots.Series, predicted []saying) {
	for _, ln := range ch.lines {
		all = append(all, plots.Series{Label: ln.label, Style: ln.style, Role: plots.Measured, Points: ch.points(ln.label, q.median)})
		curves, said := c.curves(ch, ln, q.theory)
		all, predicted = append(all, curves...), append(predicted, said...)
	}
	return all, predicted
}

// sideBySide turns a picture of several series on one number of nodes, which would stand in
// a crowd above it, into one with a place for each series.
func (ch chart) sideBySide(f *picture) {
	f.about = append(slices.Clone(f.about), ch.spots[0].text)
	f.Subtitle = strings.Join(f.about, separator)
	f.X, f.Names = plots.Axis{Label: "algorithm", Kind: plots.Names}, nil
	place := make(map[int]float64) // by style
	for i, ln := range ch.lines {
		place[ln.style] = float64(i)
		f.Names = append(f.Names, ln.label)
	}
	for i := range f.Series {
		for k := range f.Series[i].Points {
			f.Series[i].Points[k].X = place[f.Series[i].Style]
		}
	}
}

// measuredIn reports whether any series has a median.
func measuredIn(all []plots.Series) bool {
	return slices.ContainsFunc(all, func(s plots.Series) bool { return s.Role == plots.Measured && len(s.Points) > 0 })
}

// broadcasts reports whether any run of the chart broadcast natively.
func (ch chart) broadcasts() bool {
	native := func(r *runs.Result) bool { return r.Messages.Transmissions != r.Messages.Total }
	return slices.ContainsFunc(ch.spots, func(s spot) bool {
		for _, cell := range s.cells {
			if slices.ContainsFunc(cell.Good, native) {
				return true
			}
		}
		return false
	})
}

// points returns a line's medians with their intervals. Where a cell was run
// and has no value the line is interrupted; between words there is nothing that
// it could lead through.
func (ch chart) points(label, metric string) []plots.Point {
	var points []plots.Point
	gap := false
	for _, s := range ch.spots {
		cell := s.cells[label]
		if cell == nil {
			continue
		}
		e := cell.estimates[metric]
		if e.N == 0 {
			gap = true
			continue
		}
		p := pointOf(s.x, e)
		p.Others = outside(e, cell.values(metric))
		p.Gap, gap = gap || ch.names != nil, false
		p.Note = fmt.Sprintf("%s, %s: %s", label, s.text, describe(e, formatOf(metric)))
		if bound := cell.bound(metric); bound > 0 {
			p = widen(p, bound)
			p.Note += "; by the hosts’ clocks ± " + formatOf(metric)(bound)
		}
		points = append(points, p)
	}
	return points
}

// pointOf is an estimate with its interval, if it has one.
func pointOf(x float64, e stats.Estimate) plots.Point {
	p := plots.At(x, e.Median)
	if e.Bounded() {
		p.Lo, p.Hi = e.Lo, e.Hi
	}
	return p
}

// outside returns the values outside of the interval of an estimate that has one.
func outside(e stats.Estimate, values []float64) []float64 {
	if !e.Bounded() {
		return nil
	}
	values = slices.DeleteFunc(values, func(x float64) bool { return !(x < e.Lo || x > e.Hi) })
	slices.Sort(values)
	return slices.Compact(values)
}

// formatOf returns how values of a metric are written.
func formatOf(metric string) func(float64) string {
	m, _ := runs.LookupMetric(metric)
	switch {
	case !m.Time():
		return units.Number
	case strings.HasSuffix(m.Title, "p99"):
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
		return fmt.Sprintf("%s, range %s to %s of %d repetitions, too few for an interval",
			write(e.Median), write(e.Min), write(e.Max), e.N)
	}
	return fmt.Sprintf("%s, 95%% interval %s to %s, %d repetitions", write(e.Median), write(e.Lo), write(e.Hi), e.N)
}

// curves returns the predictions for a line. Over nodes that is the sharpest
// claim and a second one, or with many lines the sharpest alone, lest nothing can
// be read. Over another axis it is the sharpest that speaks of every place where
// the line was measured. What is said of each stands beside them.
func (c *collection) curves(ch chart, ln line, q claim.Quantity) (curves []plots.Series, said []saying) {
	var at []float64
	var cells []*cell
	for _, s := range ch.spots {
		if cell := s.cells[ln.label]; cell != nil && (ch.between || len(cell.Good) > 0) {
			at, cells = append(at, s.x), append(cells, cell)
		}
	}
	if q == (claim.Quantity{}) || len(cells) == 0 {
		return nil, nil
	}
	most := 2
	if !ch.between || len(ch.lines) > 6 {
		most = 1
	}
	for _, k := range c.theory.speakingOf(q, cells[len(cells)-1].First.Result.Spec) {
		if len(curves) == most || k.KnownFalse != "" && len(curves) > 0 {
			break // the table has it
		}
		curve := plots.Series{Label: atCurve(k), Style: ln.style, Role: plots.Exact}
		if k.Kind == claim.UpperBound || k.Kind == claim.LowerBound {
			curve.Role = plots.Bound
		}
		for i, cell := range cells {
			if x, ok := c.theory.predictCell(k, cell); ok {
				p := plots.At(at[i], x)
				p.Gap = ch.names != nil
				curve.Points = append(curve.Points, p)
			}
		}
		if len(curve.Points) == 0 || !ch.between && len(curve.Points) < len(cells) {
			continue
		}
		if ch.between && !timed(q) {
			curve.Points = append(curve.Points, c.betweenSizes(k, cells)...)
			slices.SortFunc(curve.Points, func(a, b plots.Point) int { return int(a.X - b.X) })
		}
		if !slices.ContainsFunc(curves, func(other plots.Series) bool { return coincide(other, curve) }) {
			curves, said = append(curves, curve), append(said, saying{of: ln.label, text: formula(k), second: len(curves) > 0})
		}
	}
	return curves, said
}

// betweenSizes evaluates a claim at numbers of nodes that were not measured.
func (c *collection) betweenSizes(k claim.Claim, cells []*cell) []plots.Point {
	var measured []int
	for _, cell := range cells {
		measured = append(measured, cell.Nodes)
	}
	like := cells[len(cells)-1].First.Result.Spec
	var points []plots.Point
	for _, n := range curveSizes(measured) {
		like.Nodes = n
		if x, ok := c.theory.predict(k, like); ok && !slices.Contains(measured, n) {
			points = append(points, plots.At(float64(n), x))
		}
	}
	return points
}

// coincide reports whether two predictions have the same values: one says as much
// as both.
func coincide(a, b plots.Series) bool {
	return slices.EqualFunc(a.Points, b.Points, func(p, q plots.Point) bool { return p.X == q.X && p.Y == q.Y })
}
