package report

import (
	"fmt"
	"slices"

	"dmebench/claims"
	"dmebench/dme/claim"
	"dmebench/stats"
	"dmebench/units"
)

// growthRank orders growths, the fastest first; it is not below 0 of what does not
// grow, or approaches a constant.
func growthRank(g stats.Growth) int {
	return -slices.IndexFunc(stats.Growths(), func(x stats.Growth) bool { return x.Name == g.Name })
}

// saysGrowth finds the claim that says most sharply how the messages grow where
// they were measured, and the growth that it speaks of: the one that describes its
// own predictions best. So no formula has to be read. A claim that they do not grow
// at all is none about growth.
func saysGrowth(d *claims.Document, s *claims.Scaling) (c claims.Verdict, growth stats.Growth, ok bool) {
	for _, kind := range []claim.Kind{claim.Asymptotic, claim.Exact, claim.Mean} {
		for _, v := range d.Claims {
			if v.Algorithm != s.Algorithm || v.Quantity != claim.MessagesPerCS.Name || v.Kind != kind || v.KnownFalse != "" || len(v.Set) > 0 {
				continue
			}
			var n, predicted []float64
			for _, p := range v.Points {
				if p.Condition == s.Condition && p.Transport == s.Transport {
					n, predicted = append(n, float64(p.Nodes)), append(predicted, p.Predicted)
				}
			}
			fits, err := stats.Rank(n, predicted, growths()...)
			if err == nil && fits[0].Sizes >= fewestSizes && growthRank(fits[0].Growth) < 0 {
				return v, fits[0].Growth, true
			}
		}
	}
	return c, growth, false
}

// formulaText writes a fit with the interval of its coefficient: "3.007·√N − 4.934
// (c in [3.005, 3.008])".
func formulaText(r claims.Ranked) string {
	text := fmt.Sprintf("%s·%s", units.Number(r.C.Value), root(r.Growth))
	switch {
	case r.A.Value > 0:
		text += " + " + units.Number(r.A.Value)
	case r.A.Value < 0:
		text += " − " + units.Number(-r.A.Value)
	}
	if r.C.Lo != nil && r.C.Hi != nil && *r.C.Lo != *r.C.Hi {
		text += fmt.Sprintf(" (c in [%s, %s])", units.Number(*r.C.Lo), units.Number(*r.C.Hi))
	}
	return text
}

// root writes the square root as a person does.
func root(growth string) string {
	if growth == stats.SquareRoot().Name {
		return "√N"
	}
	return growth
}
