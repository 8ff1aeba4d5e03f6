package advise

import (
	"fmt"
	"io"
	"strings"

	"dmebench/internal/platform/layout"
	"dmebench/units"
)

// WriteText writes the advice for a person: what was asked, the ranking, and what to do.
func (a *Advice) WriteText(w io.Writer, style layout.Style) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n\n", style.Wrap(a.asked(), 0))
	if a.Ranking != nil {
		a.writeFailures(&out, style)
		if err := a.Ranking.WriteText(&out, style); err != nil {
			return err
		}
		out.WriteByte('\n')
	}
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&out, "%-13s%s\n", name, style.Wrap(text, 13))
		}
	}
	line("failures", a.IfNodesFail)
	if a.Choose == "" {
		line("choose", "none: no algorithm can be recommended for this")
	} else {
		line("choose", a.Choose+": "+a.Why)
	}
	line("how sure", strings.Join(a.Sure, "; "))
	line("not known", strings.Join(a.Unknown, "; "))
	for i, l := range a.LeftOut {
		name := ""
		if i == 0 {
			name = "left out"
		}
		line(name, strings.Join(l.Algorithms, ", ")+": "+l.Why)
	}
	if a.Measure != "" {
		fmt.Fprintf(&out, "%-13s%s\n", "measure it", a.Measure) // in one piece, to be pasted
		if !a.Question.DelayMeasured {
			line("", "between hosts where messages take this long anyway, leave out --set delay")
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// asked repeats the question.
func (a *Advice) asked() string {
	q := &a.Question
	load := "each of which requests again as soon as it leaves"
	if q.Rate > 0 {
		load = fmt.Sprintf("%s requests per second per node, %s in all", units.Number(q.Rate/float64(q.Nodes)), units.Number(q.Rate))
	}
	return fmt.Sprintf("%d nodes over %s, %s, critical sections of %s, T = %s (%s): "+
		"predicted by %d simulations of %s requests per algorithm", q.Nodes, q.Transport, load, q.CS,
		units.Time(float64(q.Delay)), q.Law, q.Repetitions, units.Count(uint64(a.Requests)))
}
