package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dmebench/claims"
	"dmebench/dme/claim"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// growthSaid is a claim that says how messages grow under a load, and what was measured
// over each network.
type growthSaid struct {
	claim  claims.Verdict
	growth stats.Growth
	over   []*claims.Scaling
}

// growthsSaid returns, for each measured growth, the claim about it; nil where there is
// none, and for other options than the defaults. That of one load over several networks is
// the same.
func growthsSaid(d *claims.Document) []*growthSaid {
	all := make([]*growthSaid, len(d.Scaling))
	for i := range d.Scaling {
		s := &d.Scaling[i]
		if len(s.Set) > 0 {
			continue
		}
		k := slices.IndexFunc(all[:i], func(g *growthSaid) bool {
			return g != nil && g.over[0].Algorithm == s.Algorithm && workloadOf(g.over[0].Condition) == workloadOf(s.Condition)
		})
		if k >= 0 {
			all[i] = all[k]
			all[i].over = append(all[i].over, s)
		} else if stated, growth, ok := saysGrowth(d, s); ok {
			all[i] = &growthSaid{stated, growth, []*claims.Scaling{s}}
		}
	}
	return all
}

// growthLines says in a line for each load how messages grow: the fastest growth first.
func growthLines(d *claims.Document) (lines []string) {
	var said []*growthSaid
	for _, g := range growthsSaid(d) {
		if g != nil && !slices.Contains(said, g) {
			said = append(said, g)
		}
	}
	rank := func(g *growthSaid) int { // of an algorithm: that of the first of its loads
		return growthRank(said[slices.IndexFunc(said, func(x *growthSaid) bool { return x.claim.Algorithm == g.claim.Algorithm })].growth)
	}
	sorted := slices.Clone(said)
	slices.SortStableFunc(sorted, func(a, b *growthSaid) int { return cmp.Compare(rank(a), rank(b)) })
	for _, g := range sorted {
		lines = append(lines, fmt.Sprintf("**%s**, %s: claimed %s: **%s**. Measured %s. %s", g.claim.Algorithm,
			loadText(g.claim.Load, workloadOf(g.over[0].Condition)), brief(g.claim.Formula), verdictWord(g.claim.Verdict), g.measured(), g.best()))
	}
	return lines
}

// workloadOf is a condition without what is said of delays, which are chosen in a
// simulation alone.
func workloadOf(condition string) string {
	workload, _, _ := strings.Cut(condition, ",")
	return workload
}

// loadText names a load as the papers do, and as the program does.
func loadText(load claim.Load, condition string) string {
	switch load {
	case claim.Light, claim.Saturated, claim.Burst, claim.Open:
		return fmt.Sprintf("%s%s load (%s)", strings.ToUpper(string(load[:1])), load[1:], condition)
	}
	return condition
}

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

// measured writes the fits of the claimed growth.
func (g *growthSaid) measured() string {
	var parts []string
	for _, s := range g.over {
		if fit, ok := ranked(s.Ranking, g.growth.Name); ok {
			parts = append(parts, fmt.Sprintf("%s %s, %s", formulaText(fit), networkText(s.Transport), sizesWords(s.Points)))
		}
	}
	return strings.Join(parts, "; ")
}

// best says which exponent fits best, and how the claimed growth does against others.
func (g *growthSaid) best() string {
	var parts []string
	for _, s := range g.over {
		if s.Exponent != nil {
			parts = append(parts, boundsText(s.Exponent)+" "+networkText(s.Transport))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	text := "The exponent of N that fits best is " + strings.Join(parts, " and ")
	if g.growth.Name == stats.Log().Name {
		text += "; log N counts as 0"
	}
	return strings.TrimSpace(text + ". " + runnerUp(g.over[0].Ranking, g.growth.Name))
}

// runnerUp says how the claimed growth does against the best of the others.
func runnerUp(ranking []claims.Ranked, claimed string) string {
	switch {
	case len(ranking) < 2:
		return ""
	case ranking[0].Growth != claimed:
		if r, ok := ranked(ranking, claimed); ok && r.Delta != nil {
			return fmt.Sprintf("Of the growths compared %s describes the simulation best, %s in AICc ahead of %s.",
				root(ranking[0].Growth), units.Number(*r.Delta), root(claimed))
		}
		return ""
	case ranking[0].AICc == nil:
		return "No other growth goes through all points."
	case ranking[1].Delta == nil:
		return ""
	}
	return fmt.Sprintf("The next growth, %s, is worse by %s in AICc.", root(ranking[1].Growth), units.Number(*ranking[1].Delta))
}

func ranked(ranking []claims.Ranked, growth string) (claims.Ranked, bool) {
	k := slices.IndexFunc(ranking, func(r claims.Ranked) bool { return r.Growth == growth })
	if k < 0 {
		return claims.Ranked{}, false
	}
	return ranking[k], true
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

func networkText(transport string) string {
	if transport == runs.Sim {
		return "in virtual time"
	}
	return "over " + transport
}

func sizesWords(points []claims.ScalingPoint) string {
	return fmt.Sprintf("%d sizes from %s to %s nodes", len(points), count(points[0].Nodes), count(points[len(points)-1].Nodes))
}
