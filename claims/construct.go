package claims

import (
	"math"

	"dmebench/dme"
	"dmebench/report/units"
)

// Construct compares a claim, which speaks of the construction alone, with the
// construction itself: with what the claim measures there, or else the sizes of
// the request sets. ok is false where the claim is not made, or nothing tells.
func Construct(claim dme.Claim, s dme.Setting) (e Evidence, ok bool) {
	predicted, made := claim.Prediction(s)
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
	e.bound(claim.Kind, least, most)
	e.values = []float64{mean}
	return e, true
}

// Search is the source of evidence that a search of schedules has found.
const Search = "search"

// Searched compares a bound with the worst value that a search of the schedules of so
// few nodes has found; complete says whether it has seen every schedule. ok is false
// where the claim is not made, or is no bound.
func Searched(claim dme.Claim, s dme.Setting, worst float64, complete bool) (e Evidence, ok bool) {
	predicted, made := claim.Prediction(s)
	agrees, judged := claim.Kind.Agrees(predicted, worst, worst)
	if !made || !judged || claim.Kind == dme.Exact || !finite(worst) {
		return e, false
	}
	e.Point = Point{
		Source: Search, Condition: "some schedules", Nodes: s.Nodes, Predicted: predicted,
		Mean: known(worst), Min: known(worst), Max: known(worst), Agrees: agrees, Standing: Differs,
		How: extremes(claim.Kind, agrees, worst, worst),
	}
	if complete {
		e.Condition = "all schedules"
	}
	if agrees {
		e.Standing = Agrees
	}
	e.bound(claim.Kind, worst, worst)
	return e, true
}

func determine(claim dme.Claim, s dme.Setting) (mean, least, most float64, ok bool) {
	if claim.Measure != nil {
		x, ok := claim.Measure(s)
		return x, x, x, ok
	}
	sets, ok := s.System.(dme.Quorate)
	if !ok {
		return
	}
	least = math.Inf(1)
	for id := dme.NodeID(1); int(id) <= s.Nodes; id++ {
		size := float64(len(sets.RequestSet(id)))
		mean += size / float64(s.Nodes)
		least, most = min(least, size), max(most, size)
	}
	return mean, least, most, true
}
