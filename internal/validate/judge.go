package validate

import (
	"fmt"
	"math"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/report/units"
)

// Tolerances of means, relative to the prediction. A run has ends: its first
// requests find another system than those in the middle, and in a contended run
// each node's last ones find fewer others waiting. That concerns about three
// requests of each node. Where requests are isolated, it is the first request of
// each node, and only if whom it asks depends on what happened before.
const (
	isolatedTolerance = 0.01
	endsOfARun        = 3.0  // requests of each node; over their number that is the tolerance
	realTolerance     = 0.20 // of times over a real network, where a handler takes time too
	uncertain         = 0.10 // an interval that reaches further than this to either side says nothing
)

// tolerance returns how far a mean may be from its prediction, relative to it.
func (c *cell) tolerance(m meter) float64 {
	t, oneEach := isolatedTolerance, float64(c.spec.Nodes)/float64(max(1, c.spec.Requests))
	switch {
	case !c.condition.isolated():
		t = max(t, endsOfARun*oneEach)
	case c.algorithm.Dynamic:
		t = max(t, oneEach)
	}
	if c.real() && m.timed {
		t = max(t, realTolerance)
	}
	return t
}

// standing is how a claim stands at one point.
type standing uint8

const (
	disagrees standing = iota
	agrees
	unclear
)

// judged is a point before it is written down.
type judged struct {
	Point
	cell     *cell
	standing standing
	found    string  // what was measured, as a verdict says it
	off      float64 // how far from the prediction, relative to it; for what speaks most against a claim
}

// point compares a claim with the runs of a cell; ok is false where none of them
// tells the quantity.
func (q *question) point(c *cell) (p judged, ok bool) {
	predicted := q.predicted[c]
	var means []float64
	least, most := math.Inf(1), math.Inf(-1)
	var t, e float64
	for _, s := range c.sound() {
		r := q.meter.read(s)
		if math.IsNaN(r.mean) || math.IsInf(r.mean, 0) {
			continue
		}
		means = append(means, r.mean)
		least, most = min(least, r.least), max(most, r.most)
		t, e = t+s.t, e+s.e
	}
	if len(means) == 0 {
		return p, false
	}
	if c.real() && q.meter.timed {
		n := float64(len(means))
		s := c.setting
		s.T, s.E = seconds(t/n), seconds(e/n)
		if predicted, ok = q.claim.Predict(s); !ok {
			return p, false
		}
	}
	if q.meter.timed {
		p = compareTimes(q.claim.Kind, predicted, means, c.tolerance(q.meter))
	} else {
		p = compare(q.claim.Kind, predicted, means, least, most, c.tolerance(q.meter))
	}
	p.cell = c
	p.Condition, p.Transport, p.Nodes = c.condition.name, c.spec.Transport, c.spec.Nodes
	if q.claim.Quantity == dme.SyncDelay {
		p.How += longestDelay(c, predicted)
	}
	return p, true
}

// longestDelay mentions single delays that exceed what is claimed: the synchronization
// delay of a run is the mean of many.
func longestDelay(c *cell, predicted float64) string {
	longest := 0.0
	for _, s := range c.sound() {
		if !math.IsNaN(s.longestSync) {
			longest = max(longest, s.longestSync)
		}
	}
	if c.real() || longest <= predicted*(1+isolatedTolerance) || c.spec.Set["delay"] != "" {
		return ""
	}
	return fmt.Sprintf("; single delays reach %sT", units.Number(longest))
}

// compare judges the means of runs and the extremes in them.
func compare(kind dme.ClaimKind, predicted float64, means []float64, least, most, tolerance float64) judged {
	mean, lo, hi, bounded := interval(means)
	p := judged{Point: Point{
		Runs: len(means), Predicted: predicted, Mean: known(mean), Min: known(least), Max: known(most),
	}}
	if bounded {
		p.Lo, p.Hi = known(lo), known(hi)
	}
	scale := max(1e-9, math.Abs(predicted))
	if ok, told := kind.Agrees(predicted, least, most); told {
		p.off = max(predicted-least, most-predicted) / scale
		switch kind {
		case dme.UpperBound:
			p.off = (most - predicted) / scale
		case dme.LowerBound:
			p.off = (predicted - least) / scale
		}
		p.How = extremes(kind, ok, least, most)
		p.found = p.How
		if ok {
			p.standing = agrees
		}
	} else {
		p.off = math.Abs(mean-predicted) / scale
		if p.found = units.Number(mean); hi > mean {
			p.found += " ± " + units.Number(hi-mean)
		}
		p.standing, p.How = meanNear(predicted, mean, lo, hi, bounded, tolerance)
	}
	p.Agrees = p.standing == agrees
	return p
}

// compareTimes judges times, which are means over a run and scatter with the
// delays of its messages: a bound is exceeded where the interval of the mean
// lies beyond it.
func compareTimes(kind dme.ClaimKind, predicted float64, means []float64, tolerance float64) judged {
	p := compare(dme.Mean, predicted, means, slices.Min(means), slices.Max(means), tolerance)
	mean, lo, hi, _ := interval(means)
	slack := tolerance * math.Abs(predicted)
	side, beyond := 0.0, false
	switch kind {
	case dme.UpperBound:
		side, beyond = mean-predicted, lo > predicted+slack
		p.How = "in the mean at most " + units.Number(mean)
	case dme.LowerBound:
		side, beyond = predicted-mean, hi < predicted-slack
		p.How = "in the mean at least " + units.Number(mean)
	default:
		return p
	}
	p.off, p.standing = side/max(1e-9, math.Abs(predicted)), agrees
	if beyond {
		p.standing = disagrees
	}
	p.Agrees = p.standing == agrees
	return p
}

func extremes(kind dme.ClaimKind, ok bool, least, most float64) string {
	switch {
	case ok && kind == dme.Exact:
		return "equal in every run"
	case ok && kind == dme.UpperBound:
		return "at most " + units.Number(most)
	case ok:
		return "at least " + units.Number(least)
	case kind == dme.UpperBound:
		return "up to " + units.Number(most)
	case kind == dme.LowerBound:
		return "down to " + units.Number(least)
	case least == most:
		return units.Number(least) + " in every run"
	}
	return units.Number(least) + " to " + units.Number(most)
}

// meanNear compares a mean with its prediction.
func meanNear(predicted, mean, lo, hi float64, bounded bool, tolerance float64) (standing, string) {
	allowed := tolerance * math.Abs(predicted)
	off := math.Abs(mean - predicted)
	switch {
	case bounded && lo <= predicted && predicted <= hi && hi-mean <= max(uncertain*math.Abs(predicted), allowed):
		return agrees, "in the interval"
	case off <= allowed && (!bounded || hi-mean <= max(uncertain*math.Abs(predicted), allowed)):
		return agrees, fmt.Sprintf("within %s", percent(tolerance))
	case bounded && lo <= predicted+allowed && hi >= predicted-allowed:
		return unclear, "the interval is too wide to tell"
	case !bounded:
		return unclear, "one run has no interval"
	}
	return disagrees, fmt.Sprintf("off by %s", percent(off/max(1e-9, math.Abs(predicted))))
}

func percent(x float64) string { return units.Number(100*x) + "%" }

// known returns a pointer to x, nil where x is no number that JSON can hold.
func known(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

func seconds(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }
