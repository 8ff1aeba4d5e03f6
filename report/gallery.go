package report

import (
	"fmt"
	"math"
	"slices"

	"dmebench/report/plots"
	"dmebench/runs"
	"dmebench/stats"
)

// picture is a figure that a report can draw, with what its caption says and, where it
// would say nothing, the reason why it is drawn only if it is asked for.
type picture struct {
	plots.Figure
	kind      string   // pictures of one kind become panels of one figure
	about     []string // of what it is: what may tell it from others of its kind
	read      string   // how to read it
	predicted []saying
	leftOut   string
}

func (p picture) empty() bool { return p.Empty() }

// Why pictures are left out. The tables have their numbers.
const (
	onePoint           = "a single point"
	sameEverywhere     = "the same value everywhere"
	waitingSaysNothing = "the response time less the time inside: a node asks as soon as it wants to"
	betweenOthers      = "between the first, the middle and the last point of the curve, which are drawn"
	sameInOtherUnits   = "the delay in units of T in other units: T is the same everywhere"
	noClaim            = "no claim speaks of it; the median and the 99th percentile are drawn"
)

// why says why a picture of a quantity says nothing, "" where it does.
func (c *collection) why(ch chart, q quantity, f picture) string {
	points := 0
	for _, s := range f.Series {
		if s.Role == plots.Measured {
			points += len(s.Points)
		}
	}
	switch {
	case points == 1:
		return onePoint
	case q.forTheory && len(f.predicted) == 0:
		return noClaim
	case len(f.predicted) == 0 && flat(f.Series) && !(q.median == runs.Throughput && ch.offered()):
		return sameEverywhere
	case (q.median == runs.WaitingP50 || q.median == runs.WaitingP99) && ch.waitingIsResponse():
		return waitingSaysNothing
	case q.median == runs.SyncDelayP50 && ch.sameDelay():
		return sameInOtherUnits
	}
	return ""
}

// offered reports whether the abscissa is a load: that no more is served than at a smaller
// one is worth a figure.
func (ch chart) offered() bool {
	return slices.ContainsFunc(ch.spots, func(s spot) bool { return s.offered > 0 })
}

// flat reports whether there are medians, and all are the same.
func flat(all []plots.Series) bool {
	lowest, highest := math.Inf(1), math.Inf(-1)
	for _, s := range all {
		if s.Role != plots.Measured {
			continue
		}
		for _, p := range s.Points {
			lowest, highest = min(lowest, p.Y), max(highest, p.Y)
		}
	}
	return lowest <= highest && highest-lowest <= 1e-9*math.Abs(highest)
}

// waitingIsResponse reports whether in all cells the waiting time is what is left of
// the response time without the time inside, as it is where a node asks as soon as it
// wants to enter. Means tell, whatever the distributions are.
func (ch chart) waitingIsResponse() bool {
	const near = 0.02
	some := false
	for _, s := range ch.spots {
		for _, cell := range s.cells {
			if slices.Contains(closedWorkloads(), cell.First.Result.Spec.Workload) {
				some = true
				continue
			}
			for _, r := range cell.Good {
				if r.WaitingTime == nil || r.ResponseTime == nil || r.CS == nil {
					continue
				}
				some = true
				if math.Abs(r.WaitingTime.Mean+*r.CS-r.ResponseTime.Mean) > near*r.ResponseTime.Mean {
					return false
				}
			}
		}
	}
	return some
}

// closedWorkloads are those of which a node wants to enter only when it is told, or as
// soon as it has left: what a request waits before it is sent is the harness's delay.
func closedWorkloads() []string { return []string{"saturate", "serial"} }

// sameDelay reports whether messages took equally long in all cells, and the
// synchronization delay is known in units of that.
func (ch chart) sameDelay() bool {
	lowest, highest := math.Inf(1), 0.0
	for _, s := range ch.spots {
		for _, cell := range s.cells {
			t, over := cell.estimates[runs.MeanDelay], cell.estimates[runs.SyncDelayOverT]
			if len(cell.Good) == 0 {
				continue
			}
			if t.N == 0 || over.N == 0 && cell.estimates[runs.SyncDelayP50].N > 0 {
				return false
			}
			lowest, highest = min(lowest, t.Min), max(highest, t.Max)
		}
	}
	return lowest <= highest*1.001 && highest <= lowest*1.001
}

// howToRead says what the points of a chart are.
func (ch chart) howToRead(metric string) string {
	fewest, most, bounded, others := math.MaxInt, 0, true, false
	for _, s := range ch.spots {
		for _, cell := range s.cells {
			if e := cell.estimates[metric]; e.N > 0 {
				fewest, most, bounded = min(fewest, e.N), max(most, e.N), bounded && e.Bounded()
				others = others || e.Bounded() && (e.Min < e.Lo || e.Max > e.Hi)
			}
		}
	}
	repetitions := plural(most, "repetition")
	if fewest < most {
		repetitions = fmt.Sprintf("%d to %s", fewest, repetitions)
	}
	switch {
	case most == 0:
		return ""
	case most == 1:
		return "Each point is one repetition."
	case !bounded:
		return fmt.Sprintf("Medians of %s, without a bar where there are too few for an interval.", repetitions)
	case others:
		return fmt.Sprintf("Medians of %s with their %.0f%% confidence intervals; rings are repetitions outside of these.",
			repetitions, 100*stats.Confidence)
	}
	return fmt.Sprintf("Medians of %s with their %.0f%% confidence intervals.", repetitions, 100*stats.Confidence)
}

// leftOut is what a section does not draw, by the reason.
type leftOut struct {
	Reason string
	Names  []string
}
