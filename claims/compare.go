package claims

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// Cell is what was run under one condition at one number of nodes: repetitions,
// which differ in their seed alone.
type Cell struct {
	Condition string // as a reader finds it in a verdict
	Spec      runs.Spec
	Isolated  bool // there is one request at a time
	Dynamic   bool // a node's receivers depend on what happened before
	Perpetual bool // messages flow although nobody asks
	Compared  int  // how many means are compared in all, in this cell and others; see [FamilyError]

	// Setting is what predictions depend on. It is needed only over a real network,
	// where T and E are known after the runs.
	Setting dme.Setting

	Results []*runs.Result // of the runs that ended well
}

// Real reports whether the cell was run over a real network.
func (c *Cell) Real() bool { return c.Spec.Transport != runs.Sim }

// Evidence is a point with the values of the runs behind it.
type Evidence struct {
	Point
	values []float64
}

// Scatters reports whether the point has an interval, and one with a width.
func (p *Point) Scatters() bool { return p.Lo != nil && p.Hi != nil && *p.Hi > *p.Lo }

// Compare compares a claim, whose prediction for the cell is known, with the cell's runs; ok is
// false if none of them tells the quantity.
func (c *Cell) Compare(k claim.Claim, predicted float64) (e Evidence, ok bool) {
	s := sample{least: math.Inf(1), most: math.Inf(-1), timed: k.Quantity.Timed(), compared: c.Compared}
	var t, cs, timed float64 // sums of T and E, over the runs that have both
	var longest float64      // single synchronization delay, in T
	for _, r := range c.Results {
		x, known := Read(k.Quantity, r)
		mean, measured := Mean(k.Quantity, r)
		if !known || !measured {
			continue
		}
		s.means = append(s.means, mean)
		if r.Steady != nil && (s.entries == 0 || r.Steady.Entries < s.entries) {
			s.entries = r.Steady.Entries
		}
		s.least, s.most = min(s.least, x.Least), max(s.most, x.Most)
		if delay := r.Delay(); delay != nil && r.CS != nil {
			t, cs, timed = t+*delay, cs+*r.CS, timed+1
		}
		if delay := r.Delay(); r.SyncDelay != nil && delay != nil {
			longest = max(longest, float64(r.SyncDelay.Max) / *delay)
		}
	}
	if len(s.means) == 0 {
		return
	}
	if c.Real() && s.timed {
		if timed == 0 {
			return
		}
		setting := c.Setting
		setting.T, setting.E = time.Duration(t/timed), time.Duration(cs/timed)
		if predicted, ok = k.Prediction(setting); !ok {
			return
		}
	}
	if k.Kind != claim.Asymptotic { // points of an asymptotic claim are judged together
		s.tolerance = c.tolerance(k.Quantity)
		if t := c.excess(k.Quantity, s.means, predicted); t.Size > s.tolerance.Size {
			s.tolerance = t
		}
	}
	e.Point, e.values = s.point(k.Kind, predicted), s.means
	e.Condition, e.Transport, e.Nodes = c.Condition, c.Spec.Transport, c.Spec.Nodes
	// The synchronization delay of a run is the mean of many.
	const noise = 0.01
	if k.Quantity == claim.SyncDelay && !c.Real() && c.Spec.Set["delay"] == "" && longest > predicted*(1+noise) {
		e.How += fmt.Sprintf("; single delays reach %sT", units.Number(longest))
	}
	return e, true
}

// excess returns how much more than predicted was measured if that refutes no claim, and why it does not.
func (c *Cell) excess(q claim.Quantity, means []float64, predicted float64) Tolerance {
	off := (estimateOf(means, c.Compared).mean - predicted) / scaleOf(predicted)
	switch {
	case c.Real() && q == claim.Throughput:
		return Tolerance{Size: -off, Reason: becauseOfMachines}
	case c.Real() && q.Timed():
		return Tolerance{Size: off, Reason: becauseOfMachines}
	case c.Perpetual && c.wholeRuns(q):
		return Tolerance{Size: off, Reason: becauseOfRounds}
	}
	return Tolerance{}
}

// sample is what runs under one condition measured of one quantity.
type sample struct {
	means       []float64 // one of each run
	least, most float64   // over the runs, and over the entries if these were measured
	timed       bool      // a time, or made of times
	tolerance   Tolerance // of the mean
	compared    int       // how many means are compared in all
	entries     uint64    // of the shortest steady part; 0 if the runs are judged whole
}

// point judges the sample. Times scatter with the delays of messages: of them a bound is exceeded
// only if the interval of the mean lies beyond it.
func (s *sample) point(kind claim.Kind, predicted float64) Point {
	if s.timed {
		s.least, s.most = slices.Min(s.means), slices.Max(s.means)
	}
	e := estimateOf(s.means, s.compared)
	p := Point{
		Runs: len(s.means), Predicted: predicted, Standing: Differs,
		Mean: stats.Known(e.mean), Min: stats.Known(s.least), Max: stats.Known(s.most),
	}
	if e.known {
		p.Lo, p.Hi = stats.Known(e.mean-e.half), stats.Known(e.mean+e.half)
	}
	agrees, known := kind.Agrees(predicted, s.least, s.most)
	switch {
	case !known || s.timed && kind == claim.Exact:
		p.Off = math.Abs(e.mean-predicted) / scaleOf(predicted)
		p.compareMean(&e, s.toleranceOf(&e))
	case s.timed:
		p.compareBound(kind, &e, s.tolerance)
	default:
		if agrees {
			p.Standing = Agrees
		}
		p.How = extremes(kind, agrees, s.least, s.most)
		p.Off = max(predicted-s.least, s.most-predicted) / scaleOf(predicted)
	}
	p.bound(kind, s.least, s.most)
	p.Agrees = p.Standing == Agrees
	return p
}

// scaleOf is what differences from a prediction are relative to.
func scaleOf(predicted float64) float64 { return max(1e-9, math.Abs(predicted)) }

// bound notes by how much values exceed a bound and, if it is kept, how close they come, as a
// part of it: 1 if it is reached.
func (p *Point) bound(kind claim.Kind, least, most float64) {
	lesser, greater := most, p.Predicted
	switch kind {
	case claim.UpperBound:
		p.Off = (most - p.Predicted) / scaleOf(p.Predicted)
	case claim.LowerBound:
		p.Off = (p.Predicted - least) / scaleOf(p.Predicted)
		lesser, greater = p.Predicted, least
	default:
		return
	}
	switch {
	case p.Standing != Agrees:
	case math.Abs(lesser-greater) <= reached*max(1, math.Abs(greater)):
		p.Closest = stats.Known(1)
	case lesser >= 0:
		p.Closest = stats.Known(min(1, lesser/greater))
	}
}

// reached is how close two values are that are the same but for rounding.
const reached = 1e-9

// resolution is the deviation of a mean, relative to its prediction, that is always noticed: an
// interval that also holds a value further away than this does not confirm a prediction. A mean
// that is off by this much is called right with probability (1 − [Confidence])/2 at most.
const resolution = 0.03

// toleranceOf returns the tolerance for an estimate. Where runs with different seeds are
// the same, as those in which all delays are, no interval makes up for where the steady
// part happens to begin and end.
func (s *sample) toleranceOf(e *estimate) Tolerance {
	if edge := 2 / float64(s.entries); e.known && e.half == 0 && edge > s.tolerance.Size && s.entries > 0 {
		return Tolerance{Size: edge, Reason: becauseOfEdges}
	}
	return s.tolerance
}

// compareMean compares a mean with its prediction.
func (p *Point) compareMean(e *estimate, t Tolerance) {
	scale := scaleOf(p.Predicted)
	off, half := math.Abs(e.mean-p.Predicted)/scale, e.half/scale
	inside, late := e.known && off <= half+reached, t.Reason == becauseOfMachines // more runs do not change it
	switch {
	case p.Predicted == 0 && e.mean != 0: // what is counted is never below 0, and is 0 on average only if it is always
		p.How = units.Number(e.mean) + ", and not 0"
		if ends := t.Reason == becauseOfEnds || t.Reason == becauseOfFirst; ends && e.mean <= t.Size { // each of those requests may have one
			p.grant(t, 1)
		}
	case inside && off+half <= resolution+reached:
		p.Standing, p.How = Agrees, "in the interval"
	case !e.known && !late:
		p.Standing, p.How = Open, "one run has no interval"
	case inside && !late:
		p.Standing, p.How = Open, "the interval is too wide to tell"
	case off <= half+t.Size+reached:
		p.How = "off by " + percent(p.Off)
		p.grant(t, off+half)
	case off <= e.family/scale+t.Size+reached:
		p.Standing, p.How = Open, "off by "+percent(p.Off)+", which may be chance"
	default:
		p.How = "off by " + percent(p.Off)
	}
}

// grant widens an interval by a tolerance, if only then it holds the prediction. As with any
// interval the point agrees only if it reaches no further than [resolution]: otherwise nothing is
// refuted, and nothing confirmed.
func (p *Point) grant(t Tolerance, reaches float64) {
	p.Standing, p.Tolerance, p.ToleranceFor = Open, t.Size, t.Reason
	if reaches+t.Size <= resolution+reached {
		p.Standing = Agrees
	}
	p.How += ", within a tolerance of " + percent(t.Size)
}

// compareBound compares a mean with a bound on it.
func (p *Point) compareBound(kind claim.Kind, e *estimate, t Tolerance) {
	scale := scaleOf(p.Predicted)
	beyond, half := (e.mean-p.Predicted)/scale, e.half/scale
	if kind == claim.LowerBound {
		beyond = -beyond
	}
	how := "on average " + extremes(kind, true, e.mean, e.mean)
	switch {
	case beyond <= reached, e.known && beyond <= half && beyond+half <= resolution:
		p.Standing, p.How = Agrees, how
	case t.Reason == becauseOfMachines, e.known && beyond > half && beyond <= half+t.Size+reached && t.Size > 0:
		p.How = how
		p.grant(t, beyond+half)
	case !e.known, beyond <= e.family/scale+t.Size:
		p.Standing, p.How = Open, how+", which may be chance"
	default:
		p.How = how
	}
}

// extremes says how far measured values reach.
func extremes(kind claim.Kind, agrees bool, least, most float64) string {
	switch {
	case agrees && kind == claim.Exact:
		return "equal in every run"
	case agrees && kind == claim.UpperBound:
		return "at most " + units.Number(most)
	case agrees:
		return "at least " + units.Number(least)
	case kind == claim.UpperBound:
		return "up to " + units.Number(most)
	case kind == claim.LowerBound:
		return "down to " + units.Number(least)
	case least == most:
		return units.Number(least) + " in every run"
	}
	return units.Number(least) + " to " + units.Number(most)
}

func percent(x float64) string { return units.Number(100*x) + "%" }

// Tolerance is how far a mean may be from its prediction, relative to that, because of something
// that is no part of the claim. If an interval does not hold the prediction it keeps that from
// being refuted, and the verdict says so.
type Tolerance struct {
	Size   float64 `json:"size"`
	Reason string  `json:"reason"`
	Points int     `json:"points"` // and fits, that would differ without it
}

// Sizes of tolerances. One more is that of two entries in all of the steady part, one at either
// end, if runs are all the same: what repeats need not do so in the same order.
const (
	// endsOfARun are requests of each node; over their number that is the tolerance. The first
	// requests of a contended run find another system than those in the middle, and the last ones
	// find fewer others waiting. It is not needed if the steady part is measured alone.
	endsOfARun = 3.0

	// ofTimes are those over a real network, where a handler takes time, and T itself is
	// measured by other messages than those of the algorithm. Longer times say how busy
	// the machines were, and speak neither for nor against a claim.
	ofTimes = 0.20

	// ofTheBusiest is of the largest of N counts over their mean: even if all nodes have the same
	// work, they never have it in the same run.
	ofTheBusiest = 0.05

	// asClaimed is how far the coefficient of an asymptotic formula may be off, which
	// leaves out terms that grow more slowly.
	asClaimed = 0.05
)

// The reasons for tolerances.
const (
	becauseOfEnds     = "the load at the start and the end of a run differs, and here they could not be left out"
	becauseOfRounds   = "a token that never rests circulates after the last request until it is stopped, and that could not be left out"
	becauseOfFirst    = "the first request of each node finds the initial state, and here it could not be left out"
	becauseOfTimes    = "over a real network a handler takes time too, and T is measured by other messages"
	becauseOfMachines = "over a real network processes wait for a processor, too, and the claim counts delays of messages alone"
	becauseOfBusiest  = "the busiest of N nodes is above their mean by chance"
	becauseOfEdges    = "the steady part of runs that are all the same may have one entry more at either end"
	becauseOfTerms    = "an asymptotic formula leaves out what grows more slowly"
)

// tolerance returns how far a mean of the quantity may be from its prediction, and why; none if the
// interval alone is to decide.
func (c *Cell) tolerance(q claim.Quantity) Tolerance {
	if c.Real() && q.Timed() {
		return Tolerance{Size: ofTimes, Reason: becauseOfTimes}
	}
	var all []Tolerance
	if q == claim.WorkSpread {
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
func (c *Cell) wholeRuns(q claim.Quantity) bool {
	return slices.ContainsFunc(c.Results, func(r *runs.Result) bool {
		_, steady := steadyMean(q, r)
		return !steady
	})
}

func (t Tolerance) String() string { return fmt.Sprintf("%s: %s", percent(t.Size), t.Reason) }

// toleranceWords says on which tolerances a verdict rests; "" if on none.
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
