package report

import (
	"cmp"
	"math"
	"slices"

	"dmebench/report/plots"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// mostSteps is in how many steps a run is shown over time: enough to see it rise, level
// off and taper, and so few that each has some entries.
const mostSteps = 50

// Why a course is left out: others show as much.
const (
	tailIsDrawn  = "the 99th percentile over time is drawn"
	queueIsKnown = "a node asks as soon as it has left, so that always about as many wait"
)

// quantityOverTime is what a run was like in each of its steps.
type quantityOverTime struct {
	name, title string
	ordinate    plots.Axis
	read        string
	of          func(s *runs.Series, from, to float64) (x float64, ok bool)
	leftOut     string // where the workload is closed
	always      string // likewise, whatever the workload is
}

func quantitiesOverTime() []quantityOverTime {
	return []quantityOverTime{
		{
			name: "throughput", title: "Throughput over time", ordinate: plots.Axis{Label: "entries per second", Kind: plots.Linear},
			read: "Entries in each part of a run, median over the repetitions.",
			of: func(s *runs.Series, from, to float64) (float64, bool) {
				return entriesWithin(s, from, to) / (to - from) * 1e9, true
			},
		},
		{
			name: "waiting-p50", title: "Waiting time over time, median", ordinate: plots.Axis{Label: "waiting time p50", Kind: plots.Times},
			read: "Of those that entered in a part of a run the greatest median, median over the repetitions.",
			of: func(s *runs.Series, from, to float64) (float64, bool) {
				return greatestWithin(s, s.P50NS, from, to)
			},
			always: tailIsDrawn,
		},
		{
			name: "waiting-p99", title: "Waiting time over time, 99th percentile",
			ordinate: plots.Axis{Label: "waiting time p99", Kind: plots.Times},
			read:     "Of those that entered in a part of a run the greatest 99th percentile, median over the repetitions.",
			of: func(s *runs.Series, from, to float64) (float64, bool) {
				return greatestWithin(s, s.P99NS, from, to)
			},
		},
		{
			name: "queue", title: "Requests that wait, over time", ordinate: plots.Axis{Label: "requests that wait", Kind: plots.Linear},
			read: "The most that waited at once in a part of a run, median over the repetitions.",
			of: func(s *runs.Series, from, to float64) (float64, bool) {
				var waiting []*int64
				for i := range s.Waiting {
					waiting = append(waiting, &s.Waiting[i])
				}
				return greatestWithin(s, waiting, from, to)
			},
			leftOut: queueIsKnown,
		},
	}
}

// overTime shows how the runs of all series went from their start on, at the largest
// size that most have. Around faults runs are shown from the first fault on, each series
// for itself.
func (c *collection) overTime(s *set) []picture {
	here := s.mostCommon(func(r *runs.Result) bool { return r.Series != nil && len(r.Series.Entries) > 1 })
	if s.faulty() || here.cells == nil {
		return nil
	}
	flows := make(map[string]flow)
	longest := 0.0
	for _, ln := range s.lines {
		if cell := here.cells[ln.label]; cell != nil {
			flows[ln.label] = cell.flow()
			longest = max(longest, flows[ln.label].end())
		}
	}
	scale := units.TimeScale(longest)
	var all []picture
	for _, q := range quantitiesOverTime() {
		f := s.at(here, q.name+"-over-time", q.title)
		f.X = plots.Axis{Label: "time since the start of the run (" + scale.Unit + ")", Kind: plots.Elapsed}
		f.Y, f.read, f.leftOut = q.ordinate, q.read, q.always
		if slices.Contains(closedWorkloads(), s.workload) {
			f.leftOut = cmp.Or(f.leftOut, q.leftOut)
		}
		for _, ln := range s.lines {
			f.Series = append(f.Series, flows[ln.label].line(ln, scale, q))
		}
		all = append(all, f)
	}
	return all
}

// flow is how the runs of a cell that ended well went, in steps of equal length, as far as
// all of them lasted.
type flow struct {
	runs   []*runs.Series
	length float64 // of a step, in nanoseconds
	steps  int     // 0 where results do not tell
}

func (c *cell) flow() flow {
	var f flow
	shortest := math.Inf(1)
	for _, r := range c.Good {
		s := r.Series
		if s == nil || s.IntervalNS <= 0 || len(s.Entries) < 2 {
			continue
		}
		f.runs = append(f.runs, s)
		f.length = max(f.length, float64(s.IntervalNS))
		shortest = min(shortest, float64(len(s.Entries))*float64(s.IntervalNS))
	}
	if len(f.runs) == 0 {
		return f
	}
	f.length = max(f.length, shortest/mostSteps)
	f.steps = int(shortest/f.length + 1e-9)
	return f
}

func (f flow) end() float64 { return float64(f.steps) * f.length }

// line draws one quantity, step by step.
func (f flow) line(ln line, scale units.Scale, q quantityOverTime) plots.Series {
	s := plots.Series{Label: ln.label, Style: ln.style, Role: plots.Curve}
	gap := false
	for i := range f.steps {
		from := float64(i) * f.length
		var values []float64
		for _, run := range f.runs {
			if x, ok := q.of(run, from, from+f.length); ok {
				values = append(values, x)
			}
		}
		if 2*len(values) < len(f.runs) || len(values) == 0 { // what few had is no median of all
			gap = true
			continue
		}
		p := plots.At((from+f.length/2)/scale.Divisor, stats.Median(values).Median)
		p.Gap, gap = gap, false
		s.Points = append(s.Points, p)
	}
	return s
}

// greatestWithin is the greatest value of the intervals that begin in a time of the run; ok
// is false where none of them has one.
func greatestWithin(s *runs.Series, values []*int64, from, to float64) (greatest float64, ok bool) {
	length := float64(s.IntervalNS)
	for i := int(math.Ceil(from/length - 1e-9)); i < len(values) && float64(i)*length < to-1e-9*length; i++ {
		if values[i] != nil {
			greatest, ok = max(greatest, float64(*values[i])), true
		}
	}
	return greatest, ok
}

// mostCommon returns the size at which most series have a run of which something holds,
// among equals the largest; without cells where there is none.
func (s *set) mostCommon(holds func(*runs.Result) bool) (common spot) {
	most := 1
	for _, here := range s.spots {
		have := 0
		for _, cell := range here.cells {
			if slices.ContainsFunc(cell.Good, holds) {
				have++
			}
		}
		if have >= most {
			common, most = here, have
		}
	}
	return common
}
