package report

import (
	"fmt"
	"io"
	"strings"

	"dmebench/claims"
	"dmebench/dme"
	"dmebench/report/units"
	"dmebench/result"
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
	for _, part := range []struct {
		n    int
		what string
	}{
		{c.Holds, "hold"}, {c.Partly, "hold only for some sizes or loads"}, {c.Fails, "fail"},
		{c.KnownFalse, "known false and shown to be"}, {c.NotShown, "known false and not shown to be"},
		{c.Undecided, "undecided"}, {c.NotMeasurable, "not measurable here"}, {c.NotRun, "not run"},
	} {
		if part.n > 0 {
			text += fmt.Sprintf(" %d %s,", part.n, part.what)
		}
	}
	text = strings.TrimSuffix(text, ",")
	if c.ExactFailed > 0 {
		text += fmt.Sprintf("; %s that is not known to be false fails", plural(c.ExactFailed, "exact claim"))
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

// claimText is what is claimed: "messages per CS = 2(N−1)".
func claimText(v claims.Verdict) string {
	relation := map[dme.ClaimKind]string{
		dme.Exact: "=", dme.Mean: "= on average", dme.UpperBound: "≤", dme.LowerBound: "≥", dme.Asymptotic: "grows like",
	}[v.Kind]
	text := fmt.Sprintf("%s %s %s", v.Quantity, relation, v.Formula)
	if set := result.Settings(v.Set); set != "" && !strings.Contains(v.Formula, set) {
		text += " [" + set + "]"
	}
	return text
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
	if v.Shown < 0 {
		return units.Missing
	}
	p := &v.Points[v.Shown]
	switch {
	case v.Kind == dme.UpperBound && p.Max != nil:
		return "at most " + units.Number(*p.Max)
	case v.Kind == dme.LowerBound && p.Min != nil:
		return "at least " + units.Number(*p.Min)
	case p.Mean == nil || p.Lo == nil || p.Hi == nil:
		return present(p.Mean)
	}
	return fmt.Sprintf("%s ± %s", units.Number(*p.Mean), units.Number(*p.Hi-*p.Mean))
}
