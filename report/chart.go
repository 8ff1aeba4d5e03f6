package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dmebench/dme/claim"
	"dmebench/report/plots"
	"dmebench/runs"
	"dmebench/stats"
)

// chart is cells over one abscissa: the numbers of nodes of a set, or the values of an
// axis at one number of nodes.
type chart struct {
	against  string   // what its abscissa is called in names of files: "n", or that of an axis
	place    string   // of the measurements, as names of files have it: "tcp saturate"
	size     string   // the number of nodes, if there is one: "n7"
	about    []string // the same for a reader
	abscissa plots.Axis
	names    []string // of the places, if they are words
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
	offered float64 // requests per second that are asked for; 0 if that is not what varies
	number  float64 // of an axis: its value, in nanoseconds if it is a duration
	time    bool    // number is a duration
	cells   map[string]*cell
}

func (s spot) size() string { return fmt.Sprintf("N = %d", s.nodes) }

// inOrder returns the cells, series by series.
func (ch chart) inOrder() (all []*cell) {
	for _, ln := range ch.lines {
		for _, here := range ch.spots {
			if cell := here.cells[ln.label]; cell != nil {
				all = append(all, cell)
			}
		}
	}
	return all
}

// broadcasts reports whether any run of the chart broadcast natively.
func (ch chart) broadcasts() bool {
	native := func(r *runs.Result) bool { return r.Messages.Transmissions != r.Messages.Total }
	return slices.ContainsFunc(ch.inOrder(), func(c *cell) bool { return slices.ContainsFunc(c.Good, native) })
}

// separator stands between conditions.
const separator = " · "

// quantity describes a metric beside its name.
type quantity struct {
	metric string
	title  string         // of figures; "" for that of the metric
	theory claim.Quantity // zero for none
}

// quantities are the metrics with more to say, and those that a pattern of names finds.
func quantities() []quantity {
	return []quantity{
		{metric: runs.MessagesPerCS, title: "Messages per critical section", theory: claim.MessagesPerCS},
		{metric: runs.TransmissionsPerCS, title: "Transmissions per critical section (a broadcast is one)", theory: claim.TransmissionsPerCS},
		{metric: runs.Throughput, title: "Throughput", theory: claim.Throughput},
		{metric: runs.ResponseP50, title: "Response time (request to exit), median"},
		{metric: runs.ResponseP99, title: "Response time (request to exit), 99th percentile"},
		{metric: runs.ResponseMean, title: "Response time (request to exit), mean", theory: claim.ResponseTime},
		{metric: runs.WaitingP50, title: "Waiting time (intended arrival to entry), median"},
		{metric: runs.WaitingP99, title: "Waiting time (intended arrival to entry), 99th percentile"},
		{metric: runs.SyncDelayP50, title: "Synchronization delay (exit to next entry), median"},
		{metric: runs.SyncDelayOverT, title: "Synchronization delay (exit to next entry), mean, in units of T", theory: claim.SyncDelay},
		{metric: runs.LongestRun, theory: claim.LongestRun}, {metric: runs.MaxBypass, theory: claim.Bypass},
		{metric: runs.MaxBypassByOne, theory: claim.BypassByOne}, {metric: runs.WorkMaxOverMean, theory: claim.WorkSpread},
	}
}

// quantityOf describes a metric; usual is false if that is its name alone.
func quantityOf(metric string) (q quantity, usual bool) {
	m, _ := runs.LookupMetric(metric)
	q = quantity{metric: metric, title: m.Title}
	if i := slices.IndexFunc(quantities(), func(q quantity) bool { return q.metric == metric }); i >= 0 {
		q = quantities()[i]
	}
	usual = q.title != m.Title && q.title != ""
	q.title = cmp.Or(q.title, m.Title)
	return q, usual
}

// axisOf is the ordinate of a metric.
func axisOf(metric string) plots.Axis {
	m, _ := runs.LookupMetric(metric)
	a := plots.Axis{Label: m.Phrase(), Kind: plots.Values}
	if m.Time() {
		a.Kind = plots.Times
	}
	return a
}

// over draws a metric over the chart's abscissa, with at most that many predictions of each
// line.
func (c *collection) over(ch chart, metric string, most int) panel {
	q, _ := quantityOf(metric)
	v := panel{about: ch.about, read: ch.howToRead(metric)}
	v.X, v.Y, v.Names = ch.abscissa, axisOf(metric), ch.names
	for _, ln := range ch.lines {
		v.Series = append(v.Series, plots.Series{Label: ln.label, Style: ln.style, Role: plots.Measured, Points: ch.points(ln.label, metric)})
		if len(ch.lines) > 6 { // or nothing could be read
			most = 1
		}
		for _, k := range c.curves(ch, ln, q.theory, most) {
			role := plots.Exact
			if k.Kind == claim.UpperBound || k.Kind == claim.LowerBound {
				role = plots.Bound
			}
			v.Series = append(v.Series, plots.Series{Label: sign(k.Kind) + brief(k.Formula), Style: ln.style, Role: role, Points: k.points})
			v.predicted = append(v.predicted, saying{ln.label, formula(k.Claim)})
		}
	}
	if ch.between && len(ch.spots) == 1 {
		v.about = append(slices.Clone(v.about), ch.spots[0].size())
	}
	offered := plots.Series{Label: "offered load", Style: plots.Plain, Role: plots.Bound}
	for _, s := range ch.spots {
		if metric == runs.Throughput && s.offered > 0 {
			offered.Points = append(offered.Points, plots.At(s.x, s.offered))
		}
	}
	v.Series = append(v.Series, offered)
	return v
}

// points returns a line's medians with their intervals. If a cell was run and has no value the line
// is interrupted; between words there is nothing that it could lead through.
func (ch chart) points(label, metric string) []plots.Point {
	var points []plots.Point
	gap := false
	for _, s := range ch.spots {
		cell := s.cells[label]
		if cell == nil {
			continue
		}
		e, _ := cell.widened(metric)
		if e.N == 0 {
			gap = true
			continue
		}
		p := plots.At(s.x, e.Median)
		if e.Bounded() {
			p.Lo, p.Hi = e.Lo, e.Hi
		}
		p.Gap, gap = gap || ch.names != nil, false
		points = append(points, p)
	}
	return points
}

// howToRead says what the points of a chart are.
func (ch chart) howToRead(metric string) string {
	text := fmt.Sprintf("Medians of the repetitions with their %.0f%% confidence intervals, if there are enough for one",
		100*stats.Confidence)
	if slices.ContainsFunc(ch.inOrder(), func(c *cell) bool { return c.bound(metric) > 0 }) {
		text += "; bars reach further by the clocks’ bound"
	}
	return text + "."
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

// curve is a claim where a line was measured.
type curve struct {
	claim.Claim
	points []plots.Point
}

// curves returns the predictions for a line. Over nodes that is the sharpest claim and
// those after it, at most that many, also between what was measured if no time is needed.
// Over another axis it is the sharpest that speaks of every place where the line was measured.
func (c *collection) curves(ch chart, ln line, q claim.Quantity, most int) (all []curve) {
	var at []spot
	for _, s := range ch.spots {
		if cell := s.cells[ln.label]; cell != nil && (ch.between || len(cell.Good) > 0) {
			at = append(at, s)
		}
	}
	if q == (claim.Quantity{}) || len(at) == 0 {
		return nil
	}
	if !ch.between {
		most = 1
	}
	like := at[len(at)-1].cells[ln.label].First.Result.Spec
	for _, k := range c.theory.predicting(q, like) {
		if len(all) == most || k.KnownFalse != "" && len(all) > 0 {
			break // the table has it
		}
		var points []plots.Point
		var sizes []int
		for _, s := range at {
			sizes = append(sizes, s.nodes)
			if y, ok := c.theory.predictCell(k, s.cells[ln.label]); ok {
				p := plots.At(s.x, y)
				p.Gap = ch.names != nil
				points = append(points, p)
			}
		}
		if len(points) == 0 || !ch.between && len(points) < len(at) {
			continue
		}
		if ch.between && !timed(q) {
			for _, n := range curveSizes(sizes) {
				like.Nodes = n
				if y, ok := c.theory.predict(k, like); ok && !slices.Contains(sizes, n) {
					points = append(points, plots.At(float64(n), y))
				}
			}
			slices.SortFunc(points, func(a, b plots.Point) int { return cmp.Compare(a.X, b.X) })
		}
		same := func(o curve) bool {
			return slices.EqualFunc(o.points, points, func(p, q plots.Point) bool { return p.X == q.X && p.Y == q.Y })
		}
		if !slices.ContainsFunc(all, same) { // one stands for both
			all = append(all, curve{k, points})
		}
	}
	return all
}

// waitingIsResponse reports whether in all cells the waiting time is what is left of the response
// time without the time inside: if nodes want to enter only when they are told, or as soon as they
// have left, a request waits before it is sent only because of the harness.
func (ch chart) waitingIsResponse() bool {
	return !slices.ContainsFunc(ch.inOrder(), func(c *cell) bool {
		return !slices.Contains([]string{"saturate", "serial"}, c.First.Result.Spec.Workload)
	})
}

// sameDelay reports whether messages took equally long in all cells, and the
// synchronization delay is known in units of that.
func (ch chart) sameDelay() bool {
	lowest, highest := math.Inf(1), 0.0
	for _, cell := range ch.inOrder() {
		t, over := cell.estimates[runs.MeanDelay], cell.estimates[runs.SyncDelayOverT]
		if len(cell.Good) == 0 {
			continue
		}
		if t.N == 0 || over.N == 0 && cell.estimates[runs.SyncDelayP50].N > 0 {
			return false
		}
		lowest, highest = min(lowest, t.Min), max(highest, t.Max)
	}
	return lowest <= highest*1.001 && highest <= lowest*1.001
}
