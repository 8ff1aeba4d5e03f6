package claims

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dmebench/dme"
	"dmebench/result"
)

// Tolerance is how far a mean may be from its prediction, relative to that, because of
// something that is no part of the claim. Where an interval does not hold the prediction
// it keeps that from being refuted, and the verdict says so.
type Tolerance struct {
	Size   float64 `json:"size"`
	Reason string  `json:"reason"`
	Points int     `json:"points"` // and fits, that would differ without it
}

// Sizes of tolerances. One more is that of two entries in all of the steady part, one at
// either end, where runs are all the same: what repeats need not do so in the same order.
const (
	// endsOfARun are requests of each node; over their number that is the tolerance. The
	// first requests of a contended run find another system than those in the middle,
	// and the last ones find fewer others waiting. It is of no need where the steady part
	// is measured alone.
	endsOfARun = 3.0

	// ofTimes are those over a real network, where a handler takes time, and T itself is
	// measured by other messages than those of the algorithm.
	ofTimes = 0.20

	// ofTheBusiest is of the largest of N counts over their mean: even where all nodes
	// have the same work, they never have it in the same run.
	ofTheBusiest = 0.05

	// asClaimed is how far the coefficient of an asymptotic formula may be off, which
	// leaves out terms that grow more slowly.
	asClaimed = 0.05
)

// The reasons for tolerances.
const (
	becauseOfEnds    = "the start and the end of a run are another load, and here they could not be left out"
	becauseOfFirst   = "the first request of each node finds the initial state, and here it could not be left out"
	becauseOfTimes   = "over a real network a handler takes time too, and T is measured by other messages"
	becauseOfBusiest = "the busiest of N nodes is above their mean by chance"
	becauseOfEdges   = "the steady part of runs that are all the same may have one entry more at either end"
	becauseOfTerms   = "an asymptotic formula leaves out what grows more slowly"
)

// tolerance returns how far a mean of the quantity may be from its prediction, and why;
// none where the interval alone is to decide.
func (c *Cell) tolerance(q dme.Quantity) Tolerance {
	if c.Real() && q.Timed() {
		return Tolerance{Size: ofTimes, Reason: becauseOfTimes}
	}
	var all []Tolerance
	if q == dme.WorkSpread {
		all = append(all, Tolerance{Size: ofTheBusiest, Reason: becauseOfBusiest})
	}
	oneEach := float64(c.Spec.Nodes) / float64(max(1, c.Spec.Requests))
	switch {
	case !c.wholeRuns(q):
	case !c.Isolated:
		all = append(all, Tolerance{Size: endsOfARun * oneEach, Reason: becauseOfEnds})
	case c.Dynamic:
		all = append(all, Tolerance{Size: oneEach, Reason: becauseOfFirst})
	}
	if len(all) == 0 {
		return Tolerance{}
	}
	return slices.MaxFunc(all, func(a, b Tolerance) int { return cmp.Compare(a.Size, b.Size) })
}

// wholeRuns reports whether the quantity is known of whole runs only, with their ends.
func (c *Cell) wholeRuns(q dme.Quantity) bool {
	return slices.ContainsFunc(c.Results, func(r *result.Result) bool {
		_, steady := steadyMean(q, r)
		return !steady
	})
}

func (t Tolerance) String() string { return fmt.Sprintf("%s: %s", percent(t.Size), t.Reason) }

// toleranceWords says on which tolerances a verdict rests; "" where on none.
func toleranceWords(all []Tolerance) (text string) {
	for _, t := range all {
		text += fmt.Sprintf("; with a tolerance of %v (%d of what was compared)", t, t.Points)
	}
	return text
}

// tolerancesOf sums up the tolerances on which points rest, by their reasons, the
// widest first.
func tolerancesOf(points []Point, fits []Fit) (all []Tolerance) {
	add := func(size float64, reason string) {
		if size == 0 {
			return
		}
		i := slices.IndexFunc(all, func(t Tolerance) bool { return t.Reason == reason })
		if i < 0 {
			i, all = len(all), append(all, Tolerance{Reason: reason})
		}
		all[i].Points++
		all[i].Size = math.Max(all[i].Size, size)
	}
	for _, p := range points {
		add(p.Tolerance, p.ToleranceFor)
	}
	for _, f := range fits {
		add(f.Tolerance, f.ToleranceFor)
	}
	slices.SortStableFunc(all, func(a, b Tolerance) int { return cmp.Compare(b.Size, a.Size) })
	return all
}
