package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dmebench/report/plots"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// course is how a cell's runs went over time, from the first fault of each on:
// intervals of equal length, with what all runs were like in each.
type course struct {
	runs   []*runs.Result
	length float64 // of an interval, in nanoseconds, as all times here
	middle []float64
	rate   []stats.Estimate // entries per second
}

// course returns how the runs that ended well went around their faults, in intervals that all of
// them cover; nil if their results do not have it.
func (c *cell) course() *course {
	co := &course{}
	from, to := math.Inf(-1), math.Inf(1) // what all cover
	for _, r := range c.Good {
		s := r.Series
		if len(r.Faults) == 0 || s == nil || s.IntervalNS <= 0 {
			continue
		}
		co.runs = append(co.runs, r)
		co.length = max(co.length, float64(s.IntervalNS))
		first := firstFault(r)
		from, to = max(from, -first), min(to, float64(len(s.Entries))*float64(s.IntervalNS)-first)
	}
	if len(co.runs) == 0 {
		return nil
	}
	for k := math.Ceil(from / co.length); (k+1)*co.length <= to; k++ {
		co.add(k * co.length)
	}
	if len(co.middle) < 2 {
		return nil
	}
	return co
}

// firstFault is when it struck, since the start of the run.
func firstFault(r *runs.Result) float64 {
	first := r.Faults[0].AtNS
	for _, f := range r.Faults {
		first = min(first, f.AtNS)
	}
	return float64(first)
}

// add adds the interval that begins at a time since the first fault: of each run the one of
// its own that is there in the middle of it.
func (co *course) add(from float64) {
	var rates []float64
	for _, r := range co.runs {
		s := r.Series
		i := min(int((firstFault(r)+from+co.length/2)/float64(s.IntervalNS)), len(s.Entries)-1)
		rates = append(rates, float64(s.Entries[i])/float64(s.IntervalNS)*1e9)
	}
	co.middle, co.rate = append(co.middle, from+co.length/2), append(co.rate, stats.Median(rates))
}

// panel shows the throughput around the faults.
func (co *course) panel(ln line, cell *cell) (v panel) {
	if co == nil {
		return v
	}
	scale := units.TimeScale(max(-co.middle[0], co.middle[len(co.middle)-1]))
	median := plots.Series{Label: "median of the repetitions", Style: ln.style, Role: plots.Course}
	low := plots.Series{Label: co.spread(), Style: ln.style, Role: plots.Bound}
	high := low
	for i, e := range co.rate {
		x, lo, hi := co.middle[i]/scale.Divisor, e.Lo, e.Hi
		if !co.bounded() {
			lo, hi = e.Min, e.Max
		}
		median.Points = append(median.Points, plots.At(x, e.Median))
		low.Points, high.Points = append(low.Points, plots.At(x, lo)), append(high.Points, plots.At(x, hi))
	}
	v.read = "Entries in intervals of " + scale.Write(co.length) + ". Dashed lines are faults; times count from the first one."
	v.Y, v.Series = plots.Axis{Label: "entries per second", Kind: plots.Linear}, []plots.Series{median, low, high}
	v.X, v.Events = plots.Axis{Label: "time since the first fault (" + scale.Unit + ")", Kind: plots.Values}, events(cell.strokes(), scale)
	return v
}

// bounded reports whether there are enough runs for an interval.
func (co *course) bounded() bool { return co.rate[0].Bounded() }

// spread says between which values the dotted lines of a course lie.
func (co *course) spread() string {
	if co.bounded() {
		return fmt.Sprintf("95%% interval of the median, %d repetitions", len(co.runs))
	}
	return fmt.Sprintf("range of %d repetitions, too few for an interval", len(co.runs))
}

// events marks the faults at the median of the times at which they struck.
func events(strokes []stroke, scale units.Scale) []plots.Event {
	var all []plots.Event
	for _, s := range strokes {
		var at, lasts []float64
		for _, hit := range s.hits {
			if !hit.good {
				continue
			}
			at = append(at, hit.sinceFirst)
			if hit.EndedNS != nil {
				lasts = append(lasts, float64(*hit.EndedNS))
			}
		}
		e := stats.Median(at)
		if e.N == 0 {
			continue
		}
		what, _, _ := strings.Cut(s.fault, " @")
		event := plots.Event{At: e.Median / scale.Divisor, Label: what}
		if d := stats.Median(lasts); d.N > 0 {
			event.Lasts = d.Median / scale.Divisor
		}
		all = append(all, event)
	}
	slices.SortStableFunc(all, func(a, b plots.Event) int { return cmp.Compare(a.At, b.At) })
	return all
}
