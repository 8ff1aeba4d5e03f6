package report

import (
	"math"
	"slices"

	"dmebench/report/plots"
	"dmebench/report/stats"
	"dmebench/report/units"
	"dmebench/result"
)

// mostSteps is in how many steps a run is shown over time: enough to see it rise, level
// off and taper, and so few that each has some entries.
const mostSteps = 50

// overTime shows how the runs of all series went from their start on, at the largest
// size that most have: throughput and the tail of the waiting time. Around faults runs
// are shown from the first fault on, each series for itself.
func (c *collection) overTime(s *set) []picture {
	here := s.mostCommon(func(r *result.Result) bool { return r.Series != nil && len(r.Series.Entries) > 1 })
	if s.faulty() || here.cells == nil {
		return nil
	}
	flows := make(map[string]*course)
	longest := 0.0
	for _, ln := range s.lines {
		if cell := here.cells[ln.label]; cell != nil {
			if co := cell.fromStart(); co != nil {
				flows[ln.label] = co
				longest = max(longest, co.middle[len(co.middle)-1])
			}
		}
	}
	scale := units.TimeScale(longest)
	x := plots.Axis{Label: "time since the start of the run (" + scale.Unit + ")", Kind: plots.Elapsed}
	rate := s.at(here, "throughput-over-time", "Throughput over time")
	rate.X, rate.Y = x, plots.Axis{Label: "entries per second", Kind: plots.Linear}
	rate.read = "Entries in each part of a run, median over the repetitions."
	tail := s.at(here, "waiting-p99-over-time", "Waiting time over time, 99th percentile")
	tail.X, tail.Y = x, plots.Axis{Label: "waiting time p99", Kind: plots.Times}
	tail.read = "Of those that entered in a part of a run the greatest 99th percentile, median over the repetitions."
	for _, ln := range s.lines {
		if co := flows[ln.label]; co != nil {
			rate.Series = append(rate.Series, co.line(ln, scale, co.rate))
			tail.Series = append(tail.Series, co.line(ln, scale, co.tail))
		}
	}
	return []picture{rate, tail}
}

// line draws one quantity of a course.
func (co *course) line(ln line, scale units.Scale, estimates []stats.Estimate) plots.Series {
	s := plots.Series{Label: ln.label, Style: ln.style, Role: plots.Curve}
	gap := false
	for i, e := range estimates {
		if e.N == 0 {
			gap = true
			continue
		}
		p := plots.At(co.middle[i]/scale.Divisor, e.Median)
		p.Gap, gap = gap, false
		s.Points = append(s.Points, p)
	}
	return s
}

// fromStart returns how the runs that ended well went, as far as all of them lasted; nil
// where their results do not tell.
func (c *cell) fromStart() *course {
	co := &course{}
	shortest := math.Inf(1)
	for _, r := range c.good {
		s := r.Series
		if s == nil || s.IntervalNS <= 0 || len(s.Entries) < 2 {
			continue
		}
		co.runs = append(co.runs, r)
		co.length = max(co.length, float64(s.IntervalNS))
		shortest = min(shortest, float64(len(s.Entries))*float64(s.IntervalNS))
	}
	if len(co.runs) == 0 {
		return nil
	}
	co.length = max(co.length, shortest/mostSteps)
	for from := 0.0; from+co.length <= shortest*(1+1e-9); from += co.length {
		var rates, tails []float64
		for _, r := range co.runs {
			rates = append(rates, entriesWithin(r.Series, from, from+co.length)/co.length*1e9)
			if worst, ok := worstWithin(r.Series, from, from+co.length); ok {
				tails = append(tails, worst)
			}
		}
		if 2*len(tails) < len(co.runs) {
			tails = nil
		}
		co.middle = append(co.middle, from+co.length/2)
		co.rate, co.tail = append(co.rate, stats.Median(rates)), append(co.tail, stats.Median(tails))
	}
	if len(co.middle) < 2 {
		return nil
	}
	return co
}

// worstWithin is the greatest 99th percentile of the intervals that begin in a time of
// the run; ok is false where nobody entered in any of them.
func worstWithin(s *result.Series, from, to float64) (worst float64, ok bool) {
	for i := int(math.Ceil(from/float64(s.IntervalNS) - 1e-9)); i < len(s.P99NS) && float64(i)*float64(s.IntervalNS) < to-1e-9; i++ {
		if s.P99NS[i] != nil {
			worst, ok = max(worst, float64(*s.P99NS[i])), true
		}
	}
	return worst, ok
}

// mostCommon returns the size at which most series have a run of which something holds,
// among equals the largest; without cells where there is none.
func (s *set) mostCommon(holds func(*result.Result) bool) (common spot) {
	most := 1
	for _, here := range s.spots {
		have := 0
		for _, cell := range here.cells {
			if slices.ContainsFunc(cell.good, holds) {
				have++
			}
		}
		if have >= most {
			common, most = here, have
		}
	}
	return common
}
