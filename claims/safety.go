package claims

import (
	"fmt"
	"math"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// Everywhere reports whether a claim is about every run of the algorithm, whatever the run was made
// for: that it is safe, or live. Under faults it is another claim.
func Everywhere(c claim.Claim) bool {
	return c.Load != claim.Faults && (c.Quantity == claim.Violations || c.Quantity == claim.Unserved)
}

// Tally sums up all runs of an algorithm, also those whose numbers cannot be
// used.
type Tally struct {
	Runs, failed int
	Entries      uint64
	violations   uint64
	unserved     uint64
	problem      string // of the first run that did not end well

	starved  int    // runs in which a node starved
	starving string // says so of the first of them
}

// Add counts a run that was made under a condition.
func (t *Tally) Add(condition string, r *runs.Result) {
	t.Runs++
	t.Entries += r.Entries
	t.violations += r.Safety.Violations
	t.unserved += r.Liveness.Pending + r.Unserved
	if r.Status == runs.Failed {
		t.failed++
	}
	if r.Status != runs.OK && t.problem == "" {
		t.problem = fmt.Sprintf("%s, N = %d, seed %d: %s", condition, r.Spec.Nodes, r.Spec.Seed, r.Error)
	}
}

// Starved counts a run in which a node starved, as line says, or "" for one in which none did. See
// [Starved].
func (t *Tally) Starved(condition string, r *runs.Result, line string) {
	if line == "" {
		return
	}
	if t.starved++; t.starved == 1 {
		t.starving = fmt.Sprintf("%s, N = %d, seed %d: %s", condition, r.Spec.Nodes, r.Spec.Seed, line)
	}
}

// JudgeAll judges by all runs of an algorithm whether it is safe, or live.
func (q *Question) JudgeAll(t Tally) Verdict {
	found, what := t.violations, "violations"
	if q.Claim.Quantity == claim.Unserved {
		found, what = t.unserved, "requests were not served"
	}
	runs := units.Count(uint64(t.Runs)) + " runs"
	v := q.verdict(Holds, fmt.Sprintf(" (in %s, %s entries)", runs, units.Count(t.Entries)))
	v.Runs = t.Runs
	shown, problem := fmt.Sprintf("%s %s in %s", units.Count(found), what, runs), t.problem
	if q.Claim.Quantity == claim.Unserved && found == 0 {
		found, problem = uint64(t.starved), t.starving
		shown = fmt.Sprintf("a node starved in %s of %s", units.Count(found), runs)
	}
	switch {
	case t.Runs == 0:
		v.conclude(NotRun, ": there was no run")
	case found > 0 && v.KnownFalse != "":
		v.conclude(KnownFalse, fmt.Sprintf(": %s (shown: %s)", v.KnownFalse, shown))
	case found > 0:
		v.conclude(Fails, fmt.Sprintf(": %s; %s", shown, problem))
	case v.KnownFalse != "":
		v.conclude(NotShown, ": "+v.KnownFalse)
	case t.failed > 0:
		v.conclude(Undecided, fmt.Sprintf(": %d of %s failed; %s", t.failed, runs, t.problem))
	}
	return v
}

// Mean returns the mean of a quantity in a run: of its steady part if that was measured, else of
// all of it; ok is false if neither was.
func Mean(q claim.Quantity, r *runs.Result) (mean float64, ok bool) {
	if mean, ok := steadyMean(q, r); ok {
		return mean, true
	}
	x, ok := Read(q, r)
	return x.Mean, ok && stats.Finite(x.Mean)
}

// steadyMean returns the mean of a quantity in the steady part of a run alone.
func steadyMean(q claim.Quantity, r *runs.Result) (mean float64, ok bool) {
	s := r.Steady
	if s == nil {
		return
	}
	per := func(x, of float64) (float64, bool) { return x / of, stats.Finite(x / of) }
	known := func(x *float64, unit float64) (mean float64, ok bool) {
		if x == nil {
			return
		}
		return *x / unit, true
	}
	entries := float64(s.Entries)
	switch q {
	case claim.MessagesPerCS:
		return per(float64(s.Messages), entries)
	case claim.TransmissionsPerCS:
		return per(float64(s.Transmissions), entries)
	case claim.Throughput:
		return known(s.Throughput, 1)
	case claim.ResponseTime:
		return known(s.Response, 1e9)
	case claim.WaitingTime:
		return known(s.Waiting, 1e9)
	case claim.SyncDelay:
		if t := r.Delay(); t != nil {
			return known(s.SyncDelay, *t)
		}
	}
	switch {
	case q.Per != "":
		return per(float64(s.ByKind[q.Kind]), float64(s.ByKind[q.Per]))
	case q.Kind != "":
		return per(float64(s.ByKind[q.Kind]), entries)
	}
	return
}

// Construct compares a claim about the construction alone with the construction itself: with what
// the claim measures there, or else with the sizes of the request sets. ok is false if the claim is
// not made, or cannot be decided so.
func Construct(c claim.Claim, s dme.Setting) (e Evidence, ok bool) {
	predicted, made := c.Prediction(s)
	mean, least, most, known := determine(c, s)
	if !made || !known {
		return e, false
	}
	e.Point = Point{
		Nodes: s.Nodes, Predicted: predicted, Standing: Differs,
		Mean: stats.Known(mean), Min: stats.Known(least), Max: stats.Known(most),
	}
	if agrees, judged := c.Kind.Agrees(predicted, least, most); judged {
		e.Agrees, e.How = agrees, extremes(c.Kind, agrees, least, most)
	} else {
		e.Agrees, _ = claim.Exact.Agrees(predicted, mean, mean)
		e.How = units.Number(mean)
	}
	if e.Agrees {
		e.Standing = Agrees
	}
	e.bound(c.Kind, least, most)
	e.values = []float64{mean}
	return e, true
}

// Search is the source of evidence that a search of schedules has found.
const Search = "search"

// Searched compares a bound with the worst value that a search of the schedules of so few nodes has
// found; complete says whether it has seen every schedule. ok is false if the claim is not made, or
// is no bound.
func Searched(c claim.Claim, s dme.Setting, worst float64, complete bool) (e Evidence, ok bool) {
	predicted, made := c.Prediction(s)
	agrees, judged := c.Kind.Agrees(predicted, worst, worst)
	if !made || !judged || c.Kind == claim.Exact || !stats.Finite(worst) {
		return e, false
	}
	e.Point = Point{
		Source: Search, Condition: "some schedules", Nodes: s.Nodes, Predicted: predicted,
		Mean: stats.Known(worst), Min: stats.Known(worst), Max: stats.Known(worst), Agrees: agrees, Standing: Differs,
		How: extremes(c.Kind, agrees, worst, worst),
	}
	if complete {
		e.Condition = "all schedules"
	}
	if agrees {
		e.Standing = Agrees
	}
	e.bound(c.Kind, worst, worst)
	return e, true
}

func determine(c claim.Claim, s dme.Setting) (mean, least, most float64, ok bool) {
	if c.Measure != nil {
		x, ok := c.Measure(s)
		return x, x, x, ok
	}
	least = math.Inf(1)
	for id := dme.NodeID(1); int(id) <= s.Nodes; id++ {
		set := s.RequestSet(id)
		if set == nil {
			return 0, 0, 0, false
		}
		size := float64(len(set))
		mean += size / float64(s.Nodes)
		least, most = min(least, size), max(most, size)
	}
	return mean, least, most, true
}
