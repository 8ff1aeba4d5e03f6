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
		text += fmt.Sprintf(", %s left out because the time was over", units.Counted(d.RunsLeftOut, "run"))
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
