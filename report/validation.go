package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"dmebench/claims"
	"dmebench/dme/claim"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// ValidationLines writes a line for each claim, which begins with the name of
// its algorithm, and a line with the counts.
func ValidationLines(w io.Writer, d *claims.Document) error {
	for _, v := range d.Claims {
		if _, err := fmt.Fprintf(w, "%s  %s\n", v.Algorithm, strings.Join(claimCells(v), " | ")); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, ValidationSummary(d))
	return err
}

// claimCells is a claim as a row of texts: what is claimed, its source, the load, the prediction,
// the measurement, and the verdict.
func claimCells(v claims.Verdict) []string {
	predicted := units.Missing
	if v.Shown >= 0 {
		p := v.Points[v.Shown]
		predicted = fmt.Sprintf("%s for N = %s", measure(v, p.Predicted), count(p.Nodes))
	}
	return []string{claimText(v), v.Source, string(v.Load), predicted, measuredText(v), v.Text}
}

// ValidationSummary counts the verdicts: "140 claims: 110 hold, …".
func ValidationSummary(d *claims.Document) string {
	c := d.Counts
	text := units.Counted(c.Claims, "claim") + ":"
	holds := "hold"
	if c.Bounds > 0 {
		holds += fmt.Sprintf(" (bounds: %d reached, %d approached, %d not approached)",
			c.BoundsReached, c.Bounds-c.BoundsReached-c.BoundsNotApproached, c.BoundsNotApproached)
	}
	for _, part := range []struct {
		n    int
		what string
	}{
		{c.Holds, holds}, {c.Partly, "hold only for some sizes or loads"}, {c.Fails, "fail"},
		{c.KnownFalse, "known false and shown to be"}, {c.NotShown, "known false and not shown to be"},
		{c.Undecided, "undecided"}, {c.NotMeasurable, "not measurable here"}, {c.NotRun, "not run"},
	} {
		if part.n > 0 {
			text += fmt.Sprintf(" %d %s,", part.n, part.what)
		}
	}
	text = strings.TrimSuffix(text, ",")
	if c.ExactFailed > 0 {
		verb := "that is not known to be false fails"
		if c.ExactFailed > 1 {
			verb = "that are not known to be false fail"
		}
		text += fmt.Sprintf("; %s %s", units.Counted(c.ExactFailed, "exact claim"), verb)
	}
	text += fmt.Sprintf("; %s in %.0f s", units.Counted(d.Runs, "run"), d.ElapsedSeconds)
	if d.RunsLeftOut > 0 {
		text += fmt.Sprintf(", %s left out because the time was over (name fewer algorithms, and each has more)",
			units.Counted(d.RunsLeftOut, "run"))
	}
	if !d.Complete {
		text += "; interrupted"
	}
	return text
}

// byWeight lists the verdicts, those first that a reader has to look into.
var byWeight = []claims.Status{
	claims.Fails, claims.Partly, claims.KnownFalse, claims.NotShown, claims.Undecided, claims.NotMeasurable, claims.NotRun, claims.Holds,
}

// verdictWord is a verdict without the words that follow.
func verdictWord(s claims.Status) string {
	if s == claims.Partly {
		return "holds in part"
	}
	return string(s)
}

// validationAnswer says in a sentence or two whether the claims hold.
func validationAnswer(d *claims.Document) string {
	c := d.Counts
	if !d.Complete {
		return "Interrupted: what follows is what was found until then."
	}
	if c.ExactFailed > 0 {
		return units.Counted(c.ExactFailed, "exact claim") + " not known to be false did not hold in every run."
	}
	text := "Every exact claim that was judged holds, but for those known to be false."
	if c.Fails+c.Partly > 0 {
		text += fmt.Sprintf(" Bounds, means and growths that hold only in part: %d; that do not hold: %d.", c.Partly, c.Fails)
	}
	return text
}

// claimText is what is claimed: "messages per CS = 2(N−1)".
func claimText(v claims.Verdict) string {
	relation := map[claim.Kind]string{
		claim.Exact: "=", claim.Mean: "= on average", claim.UpperBound: "≤", claim.LowerBound: "≥", claim.Asymptotic: "grows like",
	}[v.Kind]
	text := fmt.Sprintf("%s %s %s", v.Quantity, relation, v.Formula)
	if set := runs.Settings(v.Set); set != "" && !strings.Contains(v.Formula, set) {
		text += " [" + set + "]"
	}
	return text
}

// briefClaim is what is claimed without explanations.
func briefClaim(v claims.Verdict) string {
	v.Formula = brief(v.Formula)
	return claimText(v)
}

// measure writes a value of the quantity that a claim speaks of. Claims count
// seconds.
func measure(v claims.Verdict, x float64) string {
	if v.Quantity == claim.ResponseTime.Name || v.Quantity == claim.WaitingTime.Name {
		return units.Time(1e9 * x)
	}
	return units.Number(x)
}

// measuredText is the point that is shown: a mean with its interval, or the
// extreme that a bound is compared with.
func measuredText(v claims.Verdict) string {
	if v.Shown < 0 {
		return units.Missing
	}
	p := &v.Points[v.Shown]
	switch {
	case v.Kind == claim.UpperBound && p.Max != nil:
		return "≤ " + measure(v, *p.Max)
	case v.Kind == claim.LowerBound && p.Min != nil:
		return "≥ " + measure(v, *p.Min)
	case p.Mean == nil:
		return units.Missing
	case p.Hi != nil && *p.Hi > *p.Mean:
		return measure(v, *p.Mean) + " ± " + measure(v, *p.Hi-*p.Mean)
	}
	return measure(v, *p.Mean)
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
