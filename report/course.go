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
	tail   []stats.Estimate // 99th percentile of the waiting time; without values where most runs had no entry
}

// fewestAround is how many intervals are shown before the first fault and after
// the last has been recovered from, as far as there are so many.
const fewestAround = 10

// course returns how the runs that ended well went around their faults, in
// intervals that all of them cover; nil where their results do not tell.
func (c *cell) course() *course {
	co := &course{}
	from, to := math.Inf(-1), math.Inf(1) // what all cover
	span := 0.0                           // from the first fault until the last is over
	for _, r := range c.Good {
		s := r.Series
		if len(r.Faults) == 0 || s == nil || s.IntervalNS <= 0 {
			continue
		}
		co.runs = append(co.runs, r)
		co.length = max(co.length, float64(s.IntervalNS))
		first := firstFault(r)
		from, to = max(from, -first), min(to, float64(len(s.Entries))*float64(s.IntervalNS)-first)
		for _, f := range r.Faults {
			over := 0.0
			for _, x := range []*int64{f.EndedNS, f.RecoveredNS, f.ServedNS} {
				if x != nil {
					over = max(over, float64(*x))
				}
			}
			span = max(span, float64(f.AtNS)-first+over)
		}
	}
	if len(co.runs) == 0 {
		return nil
	}
	around := max(span/2, fewestAround*co.length)
	from, to = max(from, -around), min(to, span+around)
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

// add adds the interval that begins at a time since the first fault.
func (co *course) add(from float64) {
	var rates, tails []float64
	for _, r := range co.runs {
		begin := firstFault(r) + from
		rates = append(rates, entriesWithin(r.Series, begin, begin+co.length)/co.length*1e9)
		i := int((begin + co.length/2) / float64(r.Series.IntervalNS))
		if i < len(r.Series.P99NS) && r.Series.P99NS[i] != nil {
			tails = append(tails, float64(*r.Series.P99NS[i]))
		}
	}
	if 2*len(tails) < len(co.runs) {
		tails = nil
	}
	co.middle = append(co.middle, from+co.length/2)
	co.rate, co.tail = append(co.rate, stats.Median(rates)), append(co.tail, stats.Median(tails))
}

// entriesWithin is how many entries there were in a time of the run. A run's own
// intervals do not begin where its fault struck: of one that lies within only in
// part, that part counts.
func entriesWithin(s *runs.Series, from, to float64) float64 {
	length, sum := float64(s.IntervalNS), 0.0
	for i := max(0, int(from/length)); i < len(s.Entries) && float64(i)*length < to; i++ {
		within := min(to, float64(i+1)*length) - max(from, float64(i)*length)
		sum += float64(s.Entries[i]) * max(0, within) / length
	}
	return sum
}

// panels show the throughput and the tail of the waiting time.
func (co *course) panels(ln line, cell *cell) []panel {
	if co == nil {
		return nil
	}
	scale := units.TimeScale(max(-co.middle[0], co.middle[len(co.middle)-1]))
	draw := func(title string, y plots.Axis, estimates []stats.Estimate) panel {
		area := plots.Series{Label: co.spread(), Style: ln.style, Role: plots.Band}
		median := plots.Series{Label: "median of the repetitions", Style: ln.style, Role: plots.Course}
		gap := false
		for i, e := range estimates {
			if e.N == 0 {
				gap = true
				continue
			}
			p := plots.At(co.middle[i]/scale.Divisor, e.Median)
			p.Lo, p.Hi, p.Gap = e.Lo, e.Hi, gap
			if len(co.runs) > 1 && !co.bounded() {
				p.Lo, p.Hi = e.Min, e.Max
			}
			gap = false
			area.Points, median.Points = append(area.Points, p), append(median.Points, p)
		}
		if area.Label == "" {
			area.Points = nil
			median.Label = "one repetition"
		}
		v := panel{read: "Dashed lines are faults; times count from the first one."}
		v.Title, v.Y, v.Series, v.Events = title, y, []plots.Series{area, median}, events(cell.strokes(), scale)
		v.X = plots.Axis{Label: "time since the first fault (" + scale.Unit + ")", Kind: plots.Elapsed}
		return v
	}
	return []panel{
		draw("Throughput, in intervals of "+scale.Write(co.length), plots.Axis{Label: "entries per second", Kind: plots.Linear}, co.rate),
		draw("Waiting time of those that entered, 99th percentile", plots.Axis{Label: "p99", Kind: plots.Times}, co.tail),
	}
}

// bounded reports whether there are enough runs for an interval.
func (co *course) bounded() bool { return co.rate[0].Bounded() }

// spread says what the band of a course is, "" where there is none.
func (co *course) spread() string {
	switch n := len(co.runs); {
	case co.bounded():
		return fmt.Sprintf("95%% interval of the median, %d repetitions", n)
	case n > 1:
		return fmt.Sprintf("range of %d repetitions, too few for an interval", n)
	}
	return ""
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
