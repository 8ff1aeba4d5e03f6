package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"dmebench/claims"
	"dmebench/dme/claim"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// growthCard is what a validation found about how the messages of one algorithm
// grow with N: a sentence for each load, and a figure.
type growthCard struct {
	ID, Algorithm string
	Title         string // "maekawa: messages per CS grow like N^(1/2)"
	Loads         []growthLoad
	Figure        template.HTML

	rank int // of the claimed growth: the fastest has the lowest
}

// growthLoad is the same under one load, over each network.
type growthLoad struct {
	Load, Condition string // "Light load (serial)"
	Claim           claims.Verdict
	Short           string // "claimed 3√N, measured 3.007·√N"
	Measured        string // "3.007·√N − 1.803 in virtual time, …"
	Best            string // about the exponent

	growth stats.Growth
	over   []claims.Scaling // the same condition, network by network
}

// growthCards returns a card for each algorithm, under its default options, of
// which a claim says how its messages grow: the fastest growth first.
func growthCards(d *claims.Document) []growthCard {
	var cards []growthCard
	for _, s := range d.Scaling {
		if len(s.Set) > 0 {
			continue
		}
		k := slices.IndexFunc(cards, func(c growthCard) bool { return c.Algorithm == s.Algorithm })
		if k >= 0 {
			i := slices.IndexFunc(cards[k].Loads, func(l growthLoad) bool { return workloadOf(l.Condition) == workloadOf(s.Condition) })
			if i >= 0 {
				cards[k].Loads[i].over = append(cards[k].Loads[i].over, s)
				continue
			}
		}
		stated, growth, ok := saysGrowth(d, s)
		if !ok {
			continue
		}
		load := growthLoad{
			Load: loadText(stated.Load, workloadOf(s.Condition)), Condition: s.Condition,
			Claim: stated, growth: growth, over: []claims.Scaling{s},
		}
		if k < 0 {
			k = len(cards)
			cards = append(cards, growthCard{
				ID: "growth-" + units.Slug(s.Algorithm), Algorithm: s.Algorithm, rank: growthRank(growth),
				Title: fmt.Sprintf("%s: messages grow like %s", s.Algorithm, root(growth.Name)),
			})
		}
		cards[k].Loads = append(cards[k].Loads, load)
	}
	for i := range cards {
		for k := range cards[i].Loads {
			cards[i].Loads[k].describe()
		}
	}
	slices.SortStableFunc(cards, func(a, b growthCard) int { return cmp.Compare(a.rank, b.rank) })
	return cards
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
func saysGrowth(d *claims.Document, s claims.Scaling) (c claims.Verdict, growth stats.Growth, ok bool) {
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

// describe writes what was measured in words.
func (l *growthLoad) describe() {
	var measured, best []string
	for _, s := range l.over {
		if fit, ok := ranked(s.Ranking, l.growth.Name); ok {
			if l.Short == "" {
				l.Short = fmt.Sprintf("claimed %s, measured %s·%s", brief(l.Claim.Formula), units.Number(fit.C.Value), root(fit.Growth))
			}
			measured = append(measured, fmt.Sprintf("%s %s, %s", formulaText(fit), networkText(s.Transport), sizesWords(s.Points)))
		}
		if s.Exponent != nil {
			best = append(best, boundsText(s.Exponent)+" "+networkText(s.Transport))
		}
	}
	l.Measured = strings.Join(measured, "; ")
	if len(best) == 0 {
		return
	}
	l.Best = "The exponent of N that fits best is " + strings.Join(best, " and ")
	if l.growth.Name == stats.Log().Name {
		l.Best += "; log N counts as 0"
	}
	l.Best += "."
	if text := runnerUp(l.over[0].Ranking, l.growth.Name); text != "" {
		l.Best += " " + text
	}
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
