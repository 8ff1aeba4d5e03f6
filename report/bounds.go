package report

import (
	"math"
	"slices"

	"dmebench/report/plots"
	"dmebench/report/stats"
	"dmebench/report/units"
	"dmebench/result"
)

// bound is by how much a metric of the cell may be wrong because clocks of several
// hosts were compared for it; 0 where no such time is in it.
func (c *cell) bound(metric string) float64 {
	switch metric {
	case result.SyncDelayP50, result.SyncDelayMean, result.SyncDelayP99:
		return c.clockBound()
	case result.SyncDelayOverT:
		if t := c.estimates[result.MeanDelay]; t.N > 0 && t.Median > 0 {
			return c.clockBound() / t.Median
		}
	}
	return 0
}

// tooShort counts the repetitions whose synchronization delay is shorter than clocks
// can tell. Where there is one the others' median is none of the cell: they are those
// whose delay was long enough.
func (c *cell) tooShort() int {
	n := 0
	for _, r := range c.good {
		if r.SyncDelayTooShort() {
			n++
		}
	}
	return n
}

// widen lets the error bar of a point reach further by a bound on the error of each
// of its values.
func widen(p plots.Point, bound float64) plots.Point {
	if math.IsNaN(p.Lo) || math.IsNaN(p.Hi) { // too few repetitions for an interval
		p.Lo, p.Hi = p.Y, p.Y
	}
	p.Lo, p.Hi = p.Lo-bound, p.Hi+bound
	return p
}

// plusMinus writes an estimate of a metric with its bound, where it has one.
func plusMinus(m result.Metric, e stats.Estimate, scale units.Scale, bound float64) shownEstimate {
	q := show(e, scale)
	switch {
	case e.N == 0 || bound == 0:
	case m.Time():
		q.Text = units.Bounded(e.Median, bound)
		q.Hint += "; by the hosts’ clocks ± " + units.Time(bound)
	default:
		q.Text += " ± " + units.Number(bound)
		q.Hint += "; by the hosts’ clocks ± " + units.Number(bound)
	}
	return q
}

// byThroughput compares the synchronization delay by the clocks of several hosts
// with that by throughput, which needs no clocks, where there is one.
func (c *collection) byThroughput(ch chart) []picture {
	f := ch.over("sync-delay-by-throughput", "Mean synchronization delay, by clocks and by throughput")
	f.X, f.Y, f.Names = ch.abscissa, axisOf(result.SyncDelayMean), ch.names
	f.Keys = []plots.Key{
		{Label: "exit to next entry; bars reach further by the clocks’ bound", Role: plots.Measured},
		{Label: "1/throughput − E", Role: plots.Tail},
	}
	f.read = ch.howToRead(result.SyncDelayMean)
	f.Y.Label = "mean synchronization delay"
	known := false
	for _, ln := range ch.lines {
		clocks := plots.Series{Label: ln.label, Style: ln.style, Role: plots.Measured, Points: ch.points(ln.label, result.SyncDelayMean)}
		load := plots.Series{Style: ln.style, Role: plots.Tail, Points: ch.points(ln.label, result.SyncDelayLoad)}
		if len(clocks.Points) == 0 {
			load.Label = ln.label
		}
		known = known || len(load.Points) > 0
		f.Series = append(f.Series, clocks, load)
	}
	if !known {
		return nil
	}
	return []picture{f}
}

// ofClocks returns the key of a figure whose bars clocks have widened, where any has.
func (ch chart) ofClocks(metric string) []plots.Key {
	widened := slices.ContainsFunc(ch.spots, func(s spot) bool {
		for _, cell := range s.cells {
			if cell.bound(metric) > 0 {
				return true
			}
		}
		return false
	})
	if !widened {
		return nil
	}
	return []plots.Key{{Label: "bars reach further than the 95% interval by the clocks’ bound", Role: plots.Measured}}
}
