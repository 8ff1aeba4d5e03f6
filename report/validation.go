package report

import (
	"fmt"
	"io"
	"strings"

	"dmebench/claims"
	"dmebench/dme/claim"
	"dmebench/runs"
	"dmebench/units"
)

// ValidationLines writes a line for each claim, which begins with the name of
// its algorithm, and a line with the counts.
func ValidationLines(w io.Writer, d *claims.Document) error {
	for _, v := range d.Claims {
		_, err := fmt.Fprintf(w, "%s  %s | %s | %s | %s | %s | %s\n",
			v.Algorithm, claimText(v), v.Source, v.Load, predictedText(v), measuredText(v), v.Text)
		if err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, ValidationSummary(d))
	return err
}

// ValidationSummary counts the verdicts: "140 claims: 110 hold, …".
func ValidationSummary(d *claims.Document) string {
	c := d.Counts
	text := plural(c.Claims, "claim") + ":"
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
		text += fmt.Sprintf("; %s %s", plural(c.ExactFailed, "exact claim"), verb)
	}
	text += fmt.Sprintf("; %s in %.0f s", plural(d.Runs, "run"), d.ElapsedSeconds)
	if d.RunsLeftOut > 0 {
		text += fmt.Sprintf(", %s left out because the time was over", plural(d.RunsLeftOut, "run"))
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
	text := "Every claim that was judged holds, but for those known to be false."
	switch {
	case c.ExactFailed > 0:
		text = plural(c.ExactFailed, "exact claim") + " not known to be false did not hold in every run."
	case c.Fails > 0:
		text = "Every exact claim that was judged holds, but for those known to be false. " +
			fmt.Sprintf("Of the bounds, means and growths %d hold only in part, and %d do not hold.", c.Partly, c.Fails)
	case c.Partly > 0:
		text = "Every exact claim that was judged holds, but for those known to be false. " +
			fmt.Sprintf("Of the bounds, means and growths %d hold only in part, and none fails.", c.Partly)
	}
	if c.NotRun > 0 {
		text += fmt.Sprintf(" Not run: %s.", plural(c.NotRun, "claim"))
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

// briefClaim is what is claimed without explanations: "mean messages per CS =
// 4(N−1)/N".
func briefClaim(v claims.Verdict) string {
	formula := brief(v.Formula)
	switch v.Kind {
	case claim.Mean:
		return fmt.Sprintf("mean %s = %s", v.Quantity, formula)
	case claim.Asymptotic:
		return fmt.Sprintf("%s ~ %s", v.Quantity, formula)
	}
	v.Formula = formula
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

// briefMeasured is the point that is shown, as [measuredText] but for times in
// their unit, and without an interval that has no width.
func briefMeasured(v claims.Verdict) string {
	write := func(x float64) string { return measure(v, x) }
	return measuredAs(v, "≤ ", "≥ ", write, func(p *claims.Point) bool { return p.Hi != nil && *p.Hi > *p.Mean })
}

// nodesText and briefPredicted tell of the point that is shown.
func nodesText(v claims.Verdict) string {
	if v.Shown < 0 {
		return units.Missing
	}
	return count(v.Points[v.Shown].Nodes)
}

func briefPredicted(v claims.Verdict) string {
	if v.Shown < 0 {
		return units.Missing
	}
	return measure(v, v.Points[v.Shown].Predicted)
}

func predictedText(v claims.Verdict) string {
	if v.Shown < 0 {
		return units.Missing
	}
	p := v.Points[v.Shown]
	return fmt.Sprintf("%s for N = %s", units.Number(p.Predicted), units.Count(uint64(p.Nodes)))
}

// measuredText is the point that is shown: a mean with its interval, or the
// extreme that a bound is compared with.
func measuredText(v claims.Verdict) string {
	return measuredAs(v, "at most ", "at least ", units.Number, func(p *claims.Point) bool { return p.Lo != nil && p.Hi != nil })
}

// measuredAs writes the point that is shown: bounds after these words, and a mean with its
// interval where that is told.
func measuredAs(v claims.Verdict, most, least string, write func(float64) string, interval func(*claims.Point) bool) string {
	if v.Shown < 0 {
		return units.Missing
	}
	p := &v.Points[v.Shown]
	switch {
	case v.Kind == claim.UpperBound && p.Max != nil:
		return most + write(*p.Max)
	case v.Kind == claim.LowerBound && p.Min != nil:
		return least + write(*p.Min)
	case p.Mean == nil:
		return units.Missing
	case interval(p):
		return write(*p.Mean) + " ± " + write(*p.Hi-*p.Mean)
	}
	return write(*p.Mean)
}
