package rank

import (
	"fmt"
	"slices"
	"strings"

	"dmebench/report/circumstance"
	"dmebench/result"
)

// draft is a contest before anything is compared.
type draft struct {
	title, transport, workload string
	settings                   map[string]string
	nodes                      int
	entrants                   []Entrant
	leftOut                    []LeftOut
	notes                      []string
}

// draw says who meets whom.
func draw(set *result.Set) []draft {
	runs := make([]result.Run, 0, len(set.Runs))
	for _, r := range set.Runs {
		if r = circumstance.Complete(r); r.Result.Nodes > 0 {
			runs = append(runs, r)
		}
	}
	experiment := &set.Header.Experiment
	circumstance.Disambiguate(experiment, runs)
	keys := result.Keys(runs)
	var all []draft
	for _, same := range circumstance.Grouped(runs, func(r result.Run) circumstance.Circumstances {
		return circumstance.Of(experiment, r, keys[r.Result])
	}) {
		title := circumstance.Title(experiment, same, onHosts(keys[same[0].Result].Get("hosts")))
		slices.SortStableFunc(same, func(a, b result.Run) int { return a.Result.Nodes - b.Result.Nodes })
		for _, size := range circumstance.Grouped(same, func(r result.Run) int { return r.Result.Nodes }) {
			first := size[0].Result
			d := draft{
				title: title, transport: first.Spec.Transport, workload: first.Spec.Workload, nodes: first.Nodes,
				settings: keys[first].Without("algorithm", "set").Settings(), entrants: []Entrant{}, leftOut: []LeftOut{}, notes: []string{},
			}
			for _, repetitions := range circumstance.Grouped(size, func(r result.Run) string { return r.Label }) {
				d.enter(repetitions, circumstance.OptionsOf(experiment, repetitions[0]).Algorithm)
			}
			all = append(all, d)
		}
	}
	return all
}

// onHosts says on which hosts runs were made; "" of runs on one.
func onHosts(names string) string {
	const shown = 4
	switch all := strings.Split(names, ", "); {
	case names == "":
		return ""
	case len(all) > shown:
		return fmt.Sprintf("on %d hosts (%s, …)", len(all), strings.Join(all[:shown], ", "))
	}
	return "on " + names
}

// enter adds the repetitions of an entrant, or leaves it out. A run that is
// violated or stalled is of the algorithm's doing, and the others of its cell would
// be those in which it went well; one that failed is a run less.
func (d *draft) enter(repetitions []result.Run, options map[string]string) {
	e := Entrant{Label: repetitions[0].Label, Algorithm: repetitions[0].Result.Algorithm, Options: options}
	bad := make(map[result.Status]int)
	ran, twins := make(map[uint64]bool), 0
	for _, r := range repetitions {
		switch status := statusOf(r.Result); {
		case status != result.OK:
			bad[status]++
		case r.Result.Spec.Transport == result.Sim && ran[r.Result.Seed]:
			twins++ // the same bytes again are no further repetition
		default:
			ran[r.Result.Seed] = true
			e.runs = append(e.runs, r.Result)
		}
	}
	e.Repetitions = len(e.runs)
	if bad[result.Violated]+bad[result.Stalled] > 0 || len(e.runs) == 0 {
		var parts []string
		for _, status := range []result.Status{result.Violated, result.Stalled, result.Failed} {
			if bad[status] > 0 {
				parts = append(parts, fmt.Sprintf("%d of %d runs ended as %s", bad[status], len(repetitions), status))
			}
		}
		d.leftOut = append(d.leftOut, LeftOut{e.Label, strings.Join(parts, ", ")})
		return
	}
	if n := len(slices.DeleteFunc(slices.Clone(e.runs), func(r *result.Result) bool { return !r.Partial })); n > 0 {
		d.notes = append(d.notes, fmt.Sprintf("%s: of %d of %d runs there is only what was measured before they were interrupted",
			e.Label, n, len(repetitions)))
	}
	if n := bad[result.Failed]; n > 0 {
		d.notes = append(d.notes, fmt.Sprintf("%s: %d of %d runs failed and are missing here", e.Label, n, len(repetitions)))
	}
	if twins > 0 {
		d.notes = append(d.notes, fmt.Sprintf("%s: %d of %d simulations repeat the seed of another one and count as none",
			e.Label, twins, len(repetitions)))
	}
	d.entrants = append(d.entrants, e)
}

// statusOf is how a run ended, whatever it says of itself.
func statusOf(r *result.Result) result.Status {
	switch {
	case result.Usable(r):
		return result.OK
	case r.Safety.Violations > 0:
		return result.Violated
	case r.Status == result.Violated || r.Status == result.Stalled:
		return r.Status
	}
	return result.Failed
}
