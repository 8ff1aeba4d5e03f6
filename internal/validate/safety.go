package validate

import (
	"fmt"

	"dmebench/dme"
	"dmebench/report/units"
	"dmebench/result"
)

// tally sums up all runs of an algorithm, also those whose numbers cannot be
// used.
type tally struct {
	runs, failed                 int
	entries, violations, pending uint64
	problem                      string // of the first run that did not end well
}

func (p *plan) runsOf(a *dme.Algorithm) tally {
	var t tally
	for _, c := range p.cells {
		if c.algorithm != a {
			continue
		}
		for k, s := range c.samples {
			if s == nil {
				continue
			}
			t.runs++
			t.entries, t.violations, t.pending = t.entries+s.entries, t.violations+s.violations, t.pending+s.pending
			if s.status == result.Failed {
				t.failed++
			}
			if s.status != result.OK && t.problem == "" {
				t.problem = fmt.Sprintf("%s, N = %d, seed %d: %s", c.condition.name, c.spec.Nodes, p.opt.Seed+uint64(k), s.problem)
			}
		}
	}
	return t
}

// verdict judges whether an algorithm is safe or live.
func (t *tally) verdict(q *question) Verdict {
	v := q.blank()
	v.Runs = t.runs
	found, what := t.violations, "violations"
	if q.claim.Quantity == dme.Unserved {
		found, what = t.pending, "requests were not served"
	}
	runs := units.Count(uint64(t.runs)) + " runs"
	switch {
	case t.runs == 0:
		v.Verdict, v.Text = NotRun, string(NotRun)+": there was no run"
	case found > 0 && q.claim.KnownFalse != "":
		v.Verdict, v.Text = KnownFalse, fmt.Sprintf("%s: %s (shown: %s %s in %s)", KnownFalse, q.claim.KnownFalse, units.Count(found), what, runs)
	case found > 0:
		v.Verdict, v.Text = Fails, fmt.Sprintf("%s: %s %s in %s; %s", Fails, units.Count(found), what, runs, t.problem)
	case q.claim.KnownFalse != "":
		v.Verdict, v.Text = NotShown, fmt.Sprintf("%s: %s", NotShown, q.claim.KnownFalse)
	case t.failed > 0:
		v.Verdict, v.Text = Undecided, fmt.Sprintf("%s: %d of %s failed; %s", Undecided, t.failed, runs, t.problem)
	default:
		v.Verdict, v.Text = Holds, fmt.Sprintf("%s (in %s, %s entries)", Holds, runs, units.Count(t.entries))
	}
	return v
}
