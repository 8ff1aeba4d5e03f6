package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"dmebench/report/cells"
	"dmebench/runs"
	"dmebench/units"
)

// verdict is how the runs ended.
type verdict struct {
	Line  string // "108 runs: 106 ok, 1 violated, 1 stalled"
	Sound bool   // every run is there and ended well
	Doubt string // that most cells carry a warning; "" where they do not
	Exact string // how exact predictions fared; "" where there are none
	Equal bool   // all of them did

	Undecided string // of mutual exclusion across hosts; "" where all is known
	Bad       []badRun
}

// badRun is a run whose numbers are not used, and why.
type badRun struct {
	Where, Status, Reason string
	Why                   []string      // what is waited for in the end
	Picture               template.HTML // who waits for whom; may be ""
	States                []string
}

func (c *collection) verdict() verdict {
	v := verdict{}
	count := make(map[runs.Status]int)
	pictures := standstills{draw: c.in.Picture}
	for _, r := range c.runs {
		status := cells.Outcome(r.Result)
		count[status]++
		if status != runs.OK {
			v.Bad = append(v.Bad, badRun{
				Where: where(r), Status: string(status), Reason: reason(r.Result),
				Why: append(lostUpdates(r.Result), r.Result.Liveness.Why...), Picture: pictures.picture(r.Result), States: r.Result.Liveness.States,
			})
		}
	}
	var parts []string
	for _, status := range []runs.Status{runs.OK, runs.Violated, runs.Stalled, runs.Failed} {
		if count[status] > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", units.Count(uint64(count[status])), status))
		}
	}
	v.Line = plural(len(c.runs), "run")
	if len(parts) > 0 {
		v.Line += ": " + strings.Join(parts, ", ")
	}
	if c.in.Missing() > 0 {
		v.Line += "; " + plural(c.in.Missing(), "cell") + " not there yet"
	}
	v.Sound = len(v.Bad) == 0 && c.in.Missing() == 0 && len(c.runs) > 0
	v.Doubt = c.doubt()
	v.Exact, v.Equal = c.exactness()
	v.Undecided = c.undecided()
	return v
}

// Class is that of the banner: green, amber or red.
func (v verdict) Class() string {
	switch {
	case !v.Sound:
		return "unsound"
	case v.Doubt != "":
		return "look"
	}
	return "sound"
}

// doubt says how many cells carry a warning, where most do.
func (c *collection) doubt() string {
	cells, warned := 0, 0
	for _, s := range c.sets {
		for _, cell := range s.inOrder() {
			cells++
			own := func(r *runs.Result) bool { return len(r.Warnings) > 0 }
			if len(cell.warnings()) > 0 || slices.ContainsFunc(cell.Good, own) {
				warned++
			}
		}
	}
	if 2*warned <= cells {
		return ""
	}
	if cells == 1 {
		return "Look at the warnings: the only cell carries one."
	}
	return fmt.Sprintf("Look at the warnings: %d of %d cells carry one.", warned, cells)
}

// exactness counts the cells whose exact predictions are equal to what was
// measured. Claims that are known to be false do not count.
func (c *collection) exactness() (line string, equal bool) {
	judged, held := 0, 0
	for _, s := range c.sets {
		for _, cell := range s.inOrder() {
			for _, p := range c.theory.predictions(cell) {
				if p.Claim.Kind != "exact" || p.Claim.KnownFalse != "" || p.Agreement == "" {
					continue
				}
				judged++
				if p.Agreement == "equal" {
					held++
				}
			}
		}
	}
	if judged == 0 {
		return "", true
	}
	return fmt.Sprintf("Exact predictions of messages per CS: %d of %d equal to what every run measured.", held, judged), held == judged
}

// where names a run so that it can be found and repeated.
func where(r runs.Run) string {
	s := r.Result.Spec
	parts := []string{r.Label}
	if r.Result.Nodes > 0 {
		parts = append(parts, fmt.Sprintf("N = %d", r.Result.Nodes))
	}
	if over := strings.TrimSpace(cmp.Or(r.Transport, s.Transport) + " " + cmp.Or(r.Workload, s.Workload)); over != "" {
		parts = append(parts, over)
	}
	parts = append(parts, fmt.Sprintf("repetition %d", r.Repetition+1), fmt.Sprintf("seed %d", cmp.Or(r.Result.Seed, s.Seed)))
	return strings.Join(parts, ", ")
}

func reason(r *runs.Result) string {
	var parts []string
	if r.Safety.Violations > 0 {
		parts = append(parts, plural(int(r.Safety.Violations), "violation")+" of mutual exclusion")
	}
	if r.Liveness.Pending > 0 {
		parts = append(parts, plural(int(r.Liveness.Pending), "request")+" not served")
	}
	if len(r.FailedNodes) > 0 {
		parts = append(parts, "failed nodes: "+strings.Trim(fmt.Sprint(r.FailedNodes), "[]"))
	}
	if r.Error != "" {
		parts = append(parts, r.Error)
	}
	return cmp.Or(strings.Join(parts, "; "), "no reason is given")
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return units.Count(uint64(n)) + " " + noun
}
