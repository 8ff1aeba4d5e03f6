package claims

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"dmebench/dme"
	"dmebench/report/units"
	"dmebench/result"
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

// Cell is what was run under one condition at one number of nodes: repetitions,
// which differ in their seed alone.
type Cell struct {
	Condition string // as a reader finds it in a verdict
	Spec      result.Spec
	Isolated  bool // there is one request at a time
	Dynamic   bool // whom a node asks depends on what happened before

	// Setting is what predictions depend on. It is needed only over a real network,
	// where T and E are known after the runs.
	Setting dme.Setting

	Results []*result.Result // of the runs that ended well
}

// Real reports whether the cell was run over a real network.
func (c *Cell) Real() bool { return c.Spec.Transport != result.Sim }

// Evidence is a point with the values of the runs behind it.
type Evidence struct {
	Point
	values []float64
}

// Compare compares a claim, whose prediction for the cell is known, with the
// cell's runs; ok is false where none of them tells the quantity.
func (c *Cell) Compare(claim dme.Claim, predicted float64) (e Evidence, ok bool) {
	least, most := math.Inf(1), math.Inf(-1)
	var t, cs float64
	longest := 0.0 // single synchronization delay, in T
	for _, r := range c.Results {
		x, told := Read(claim.Quantity, r)
		if !told || !finite(x.Mean) {
			continue
		}
		e.values = append(e.values, x.Mean)
		least, most = min(least, x.Least), max(most, x.Most)
		if delay := r.Delay(); delay != nil && r.CS != nil {
			t, cs = t+*delay, cs+*r.CS
		}
		if delay := r.Delay(); r.SyncDelay != nil && delay != nil {
			longest = max(longest, float64(r.SyncDelay.Max) / *delay)
		}
	}
	n := float64(len(e.values))
	if n == 0 {
		return e, false
	}
	timed := claim.Quantity.Timed()
	if c.Real() && timed {
		s := c.Setting
		s.T, s.E = time.Duration(t/n), time.Duration(cs/n)
		if predicted, ok = Predict(claim, s); !ok {
			return e, false
		}
	}
	e.Point = pointOf(claim.Kind, predicted, e.values, least, most, c.tolerance(timed), timed)
	e.Condition, e.Transport, e.Nodes = c.Condition, c.Spec.Transport, c.Spec.Nodes
	// The synchronization delay of a run is the mean of many.
	if claim.Quantity == dme.SyncDelay && !c.Real() && c.Spec.Set["delay"] == "" && longest > predicted*(1+isolatedTolerance) {
		e.How += fmt.Sprintf("; single delays reach %sT", units.Number(longest))
	}
	return e, true
}

// tolerance returns how far a mean may be from its prediction, relative to it.
func (c *Cell) tolerance(timed bool) float64 {
	t, oneEach := isolatedTolerance, float64(c.Spec.Nodes)/float64(max(1, c.Spec.Requests))
	switch {
	case !c.Isolated:
		t = max(t, endsOfARun*oneEach)
	case c.Dynamic:
		t = max(t, oneEach)
	}
	if c.Real() && timed {
		t = max(t, realTolerance)
	}
	return t
}

// pointOf judges the means of runs, and the extremes in them. Times scatter with
// the delays of messages: of them a bound is exceeded only where the interval of
// the mean lies beyond it.
func pointOf(kind dme.ClaimKind, predicted float64, values []float64, least, most, tolerance float64, timed bool) Point {
	if timed {
		least, most = slices.Min(values), slices.Max(values)
	}
	mean, lo, hi, bounded := interval(values)
	p := Point{Runs: len(values), Predicted: predicted, Mean: known(mean), Min: known(least), Max: known(most), Standing: Differs}
	if bounded {
		p.Lo, p.Hi = known(lo), known(hi)
	}
	scale := max(1e-9, math.Abs(predicted))
	agrees, told := kind.Agrees(predicted, least, most)
	if timed && told && kind != dme.Exact {
		least, most = mean, mean
		slack := tolerance * math.Abs(predicted)
		agrees = kind == dme.UpperBound && lo <= predicted+slack || kind == dme.LowerBound && hi >= predicted-slack
	}
	switch {
	case !told || timed && kind == dme.Exact:
		p.Off = math.Abs(mean-predicted) / scale
		p.compareMean(mean, lo, hi, bounded, tolerance)
	case kind == dme.UpperBound:
		p.Off = (most - predicted) / scale
	case kind == dme.LowerBound:
		p.Off = (predicted - least) / scale
	default:
		p.Off = max(predicted-least, most-predicted) / scale
	}
	if p.How == "" {
		if agrees {
			p.Standing = Agrees
		}
		p.How = extremes(kind, agrees || timed, least, most)
		if timed {
			p.How = "on average " + p.How
		}
	}
	p.Agrees = p.Standing == Agrees
	return p
}

// extremes says how far measured values reach.
func extremes(kind dme.ClaimKind, agrees bool, least, most float64) string {
	switch {
	case agrees && kind == dme.Exact:
		return "equal in every run"
	case agrees && kind == dme.UpperBound:
		return "at most " + units.Number(most)
	case agrees:
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

// compareMean compares a mean with its prediction.
func (p *Point) compareMean(mean, lo, hi float64, bounded bool, tolerance float64) {
	predicted := p.Predicted
	allowed := tolerance * math.Abs(predicted)
	narrow := hi-mean <= max(uncertain*math.Abs(predicted), allowed)
	switch {
	case bounded && lo <= predicted && predicted <= hi && narrow:
		p.Standing, p.How = Agrees, "in the interval"
	case math.Abs(mean-predicted) <= allowed && (!bounded || narrow):
		p.Standing, p.How, p.Tolerance = Agrees, "within "+percent(tolerance), tolerance
	case bounded && lo <= predicted+allowed && hi >= predicted-allowed:
		p.Standing, p.How = Open, "the interval is too wide to tell"
	case !bounded:
		p.Standing, p.How = Open, "one run has no interval"
	default:
		p.How = "off by " + percent(p.Off)
	}
}

func percent(x float64) string { return units.Number(100*x) + "%" }

// Construct compares a claim, which speaks of the construction alone, with the
// construction itself: with what the claim measures there, or else the sizes of
// the request sets. ok is false where the claim is not made, or nothing tells.
func Construct(claim dme.Claim, s dme.Setting) (e Evidence, ok bool) {
	predicted, made := Predict(claim, s)
	mean, least, most, told := determine(claim, s)
	if !made || !told {
		return e, false
	}
	e.Point = Point{Nodes: s.Nodes, Predicted: predicted, Mean: known(mean), Min: known(least), Max: known(most), Standing: Differs}
	if agrees, judged := claim.Kind.Agrees(predicted, least, most); judged {
		e.Agrees, e.How = agrees, extremes(claim.Kind, agrees, least, most)
	} else {
		e.Agrees, _ = dme.Exact.Agrees(predicted, mean, mean)
		e.How = units.Number(mean)
	}
	if e.Agrees {
		e.Standing = Agrees
	}
	e.values = []float64{mean}
	return e, true
}

func determine(claim dme.Claim, s dme.Setting) (mean, least, most float64, ok bool) {
	if claim.Measure != nil {
		x, ok := claim.Measure(s)
		return x, x, x, ok
	}
	sets, ok := s.System.(dme.Quorate)
	if !ok {
		return 0, 0, 0, false
	}
	least = math.Inf(1)
	for id := dme.NodeID(1); int(id) <= s.Nodes; id++ {
		size := float64(len(sets.RequestSet(id)))
		mean += size / float64(s.Nodes)
		least, most = min(least, size), max(most, size)
	}
	return mean, least, most, true
}

// Confidence is that of the interval of one mean. It is so high because there
// are many: of a thousand true claims one would be missed by chance, and the
// tolerance makes it fewer.
const Confidence = 0.999

// interval returns the mean of x and its Student's t interval; ok is false with
// fewer than two values, which have no interval.
func interval(x []float64) (mean, lo, hi float64, ok bool) {
	n := float64(len(x))
	if n == 0 {
		return math.NaN(), math.NaN(), math.NaN(), false
	}
	for _, v := range x {
		mean += v / n
	}
	if n < 2 {
		return mean, mean, mean, false
	}
	deviation := math.Sqrt(stat.MomentAbout(2, x, mean, nil) * n / (n - 1))
	if deviation <= 1e-12*math.Abs(mean) { // rounding
		return mean, mean, mean, true
	}
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile((1+Confidence)/2) * deviation / math.Sqrt(n)
	return mean, mean - half, mean + half, true
}
