package claims

import (
	"fmt"

	"dmebench/dme"
	"dmebench/report/units"
	"dmebench/result"
)

// Everywhere reports whether a claim is about every run of the algorithm,
// whatever it was made for: that it is safe, or live. Under faults it is another
// claim.
func Everywhere(c dme.Claim) bool {
	return c.Load != dme.Faults && (c.Quantity == dme.Violations || c.Quantity == dme.Unserved)
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
func (t *Tally) Add(condition string, r *result.Result) {
	t.Runs++
	t.Entries += r.Entries
	t.violations += r.Safety.Violations
	t.unserved += r.Liveness.Pending + r.Unserved
	if r.Status == result.Failed {
		t.failed++
	}
	if r.Status != result.OK && t.problem == "" {
		t.problem = fmt.Sprintf("%s, N = %d, seed %d: %s", condition, r.Spec.Nodes, r.Spec.Seed, r.Error)
	}
}

// Starved counts a run of which a line says that a node starved in it; "" is for one in
// which none did. See [Starved].
func (t *Tally) Starved(condition string, r *result.Result, line string) {
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
	if q.Claim.Quantity == dme.Unserved {
		found, what = t.unserved, "requests were not served"
	}
	runs := units.Count(uint64(t.Runs)) + " runs"
	v := q.verdict(Holds, fmt.Sprintf(" (in %s, %s entries)", runs, units.Count(t.Entries)))
	v.Runs = t.Runs
	shown, problem := fmt.Sprintf("%s %s in %s", units.Count(found), what, runs), t.problem
	if q.Claim.Quantity == dme.Unserved && found == 0 {
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
