package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dmebench/dme/claim"
	"dmebench/report/cells"
	"dmebench/report/page"
	"dmebench/runs"
	"dmebench/units"
)

// status says how the runs ended and how far they can be trusted.
func (p *paper) status() (page.Level, []string) {
	count := make(map[runs.Status]int)
	for _, r := range p.runs {
		count[cells.Outcome(r.Result)]++
	}
	var parts []string
	for _, status := range []runs.Status{runs.OK, runs.Violated, runs.Stalled, runs.Failed} {
		if count[status] > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", units.Count(uint64(count[status])), status))
		}
	}
	line := units.Counted(len(p.runs), "run")
	if len(parts) > 0 {
		line += ": " + strings.Join(parts, ", ")
	}
	if p.in.Missing() > 0 {
		line += "; " + units.Counted(p.in.Missing(), "run") + " not there yet"
	}
	exact, equal := p.exactness()
	doubt, undecided := p.doubt(), p.undecided()
	level := page.Sound
	switch {
	case len(p.runs) == 0 || count[runs.OK] < len(p.runs) || p.in.Missing() > 0:
		level = page.Unsound
	case doubt != "" || undecided != "" || !equal:
		level = page.Look
	}
	lines := slices.DeleteFunc([]string{line, doubt, exact, undecided}, func(text string) bool { return text == "" })
	return level, lines
}

// badRuns are the runs whose numbers are not used, and why.
func (p *paper) badRuns() (all []page.BadRun) {
	pictures := standstills{draw: p.in.Picture}
	for _, r := range p.runs {
		status := cells.Outcome(r.Result)
		if status == runs.OK {
			continue
		}
		bad := page.BadRun{
			Status: string(status), Where: where(r), Reason: reason(r.Result), Nodes: r.Result.Nodes,
			Why: append(lostUpdates(r.Result), r.Result.Liveness.Why...), States: r.Result.Liveness.States, Picture: pictures.picture(r.Result),
		}
		if i := slices.Index(p.labels, r.Label); i >= 0 {
			bad.Label = page.At(i)
		}
		all = append(all, bad)
	}
	return all
}

// doubt says how many cells carry a warning, if most do.
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
func (p *paper) exactness() (line string, equal bool) {
	judged, held := 0, 0
	for _, cell := range p.data.Cells {
		for _, x := range cell.Predictions {
			if x.Kind == string(claim.Exact) && x.False == "" && x.Verdict != "" {
				judged++
				if x.Verdict == "equal" {
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
		parts = append(parts, units.Counted(int(r.Safety.Violations), "violation")+" of mutual exclusion")
	}
	if r.Liveness.Pending > 0 {
		parts = append(parts, units.Counted(int(r.Liveness.Pending), "request")+" not served")
	}
	if len(r.FailedNodes) > 0 {
		parts = append(parts, "failed nodes: "+strings.Trim(fmt.Sprint(r.FailedNodes), "[]"))
	}
	if r.Error != "" {
		parts = append(parts, r.Error)
	}
	return cmp.Or(strings.Join(parts, "; "), "no reason is given")
}
