package faults

import (
	"slices"
	"strings"

	"dmebench/claims"
	"dmebench/dme"
	"dmebench/runs"
)

// judgeClaims judges what an algorithm's texts claim of failures by its runs: of those
// under crashes, and under restarts. Pauses, partitions and links that lose
// messages are no failures of nodes.
func judgeClaims(a *dme.Algorithm, list []*ran) []claims.Verdict {
	var all []claims.Verdict
	for _, c := range a.Claims {
		if c.Load != dme.Faults {
			continue
		}
		q := claims.Question{Algorithm: a, Claim: c, Set: c.Set}
		runs := under(runs.Settings(c.Set), list)
		switch c.Quantity {
		case dme.Violations, dme.Unserved:
			var t claims.Tally
			for _, x := range runs {
				if x.failure(c.Quantity == dme.Unserved) {
					t.Add(x.kind.Title, x.result)
				}
			}
			all = append(all, q.JudgeAll(t))
		default:
			all = append(all, q.Judge(evidence(&q, runs)))
		}
	}
	return all
}

// under returns the runs with these options of the algorithm.
func under(set string, runs []*ran) []*ran {
	return slices.DeleteFunc(slices.Clone(runs), func(x *ran) bool { return x.set != set })
}

// failure reports whether a run is one of the failures that the texts speak of.
// Where the algorithm does not go on without a node, its requests are served once
// the node is back.
func (x *ran) failure(served bool) bool {
	if x.kind.Name == "restart" {
		return true
	}
	return strings.HasPrefix(x.kind.Name, "crash") && (!served || x.job.Algorithm.Survives != nil)
}

// evidence compares a claim about another quantity with the runs that tell it.
func evidence(q *claims.Question, list []*ran) []claims.Evidence {
	var all []claims.Evidence
	for len(list) > 0 {
		first, same := list[0], 0
		for same < len(list) && list[same].kind.Name == first.kind.Name && list[same].light == first.light &&
			list[same].job.Spec.Transport == first.job.Spec.Transport {
			same++
		}
		cell := claims.Cell{Condition: first.kind.Title, Spec: first.job.Spec, Setting: first.job.Setting()}
		for _, x := range list[:same] {
			if x.failure(false) && x.result.Status == runs.OK {
				cell.Results = append(cell.Results, x.result)
			}
		}
		list = list[same:]
		predicted, ok := q.Claim.Prediction(cell.Setting)
		if !ok || len(cell.Results) == 0 {
			continue
		}
		if e, ok := cell.Compare(q.Claim, predicted); ok {
			all = append(all, e)
		}
	}
	if len(all) == 0 {
		q.Unanswerable = "the result of a run does not tell it"
		if q.Claim.Test != "" {
			q.Unanswerable += "; " + q.Claim.Test + " of its package measures it"
		}
	}
	return all
}
