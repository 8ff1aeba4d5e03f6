package validate

import (
	"math"
	"slices"

	"dmebench/dme"
	"dmebench/report/units"
	"dmebench/result"
)

// construct answers a question from the construction, without a run.
func (p *plan) construct(q *question, sizes []int) {
	slices.Sort(sizes)
	serial := conditions(result.Sim)[0]
	for _, n := range slices.Compact(sizes) {
		job, err := p.bench.job(q.algorithm, q.set, &serial, result.Sim, n)
		if err != nil {
			continue
		}
		s := settingOf(job)
		predicted, made := q.claim.Predict(s)
		mean, least, most, ok := q.determine(s)
		if !made || !ok || math.IsNaN(predicted) || math.IsInf(predicted, 0) {
			continue
		}
		x := Point{Nodes: n, Predicted: predicted, Mean: known(mean), Min: known(least), Max: known(most)}
		if agrees, told := q.claim.Kind.Agrees(predicted, least, most); told {
			x.Agrees, x.How = agrees, extremes(q.claim.Kind, agrees, least, most)
		} else {
			x.Agrees, _ = dme.Exact.Agrees(predicted, mean, mean)
			x.How = units.Number(mean)
		}
		q.points = append(q.points, x)
	}
	if len(q.points) == 0 {
		q.reason = "the construction does not tell it at any size that is tried"
		if q.claim.Test != "" {
			q.reason += "; " + q.claim.Test + " of its package measures it"
		}
	}
}

// determine returns a quantity of the construction: as the claim measures it,
// or the sizes of the request sets.
func (q *question) determine(s dme.Setting) (mean, least, most float64, ok bool) {
	if q.claim.Measure != nil {
		x, ok := q.claim.Measure(s)
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
