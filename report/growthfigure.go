package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dmebench/report/plots"
	"dmebench/report/stats"
	"dmebench/report/units"
	"dmebench/result"
)

// growthFigure shows a series over each network: what was measured, with the fit
// of the claimed growth and the best one, and residuals.
func growthFigure(sc scaling, load, label string, grown []growth) plots.Figure {
	f := plots.Figure{
		Name: sc.slug + "-" + units.Slug(label), Title: label + ": growth of messages per CS", Subtitle: load,
	}
	var residuals []plots.Panel
	for _, g := range grown {
		f.Panels = append(f.Panels, g.fitPanel())
		residuals = append(residuals, g.residualPanel())
	}
	f.Panels = append(f.Panels, residuals...)
	f.Columns = max(len(grown), 2)
	if len(grown) > 3 {
		f.Columns = 0
	}
	return f
}

func (g growth) fitPanel() plots.Panel {
	p := plots.Panel{
		Title: g.set.network() + ": " + equation(g.main()), X: plots.Axis{Label: "nodes N", Kind: plots.Linear},
		Y: plots.Axis{Label: "messages per CS, median", Kind: plots.Linear},
	}
	points := g.set.points(g.label, result.MessagesPerCS)
	for i := range points {
		points[i].Gap = true // the line is the fit's
	}
	p.Series = append(p.Series, plots.Series{Style: g.style, Role: plots.Measured, Points: points})
	best := g.ranked[0]
	if g.place > 0 {
		says := fmt.Sprintf("claimed growth %s, that of %s%s", g.claimed.Growth.Name, sign(g.claim.Kind), brief(g.claim.Formula))
		p.Series = append(p.Series, g.curveOf(g.claimed, plots.Exact, fmt.Sprintf("%s (%s)", says, citation(g.claim.Source))))
	}
	if g.place != 1 {
		says := fmt.Sprintf("best growth by AICc, %s: %s", g.set.transport, best.Growth.Name)
		p.Series = append(p.Series, g.curveOf(best, plots.Bound, says))
	}
	return p
}

// equation writes a fit with its numbers: "−3.01 + 2.99·N^(1/2)".
func equation(f stats.Fit) string {
	text := units.Number(f.A.Value)
	if f.Growth.Name == stats.Constant().Name {
		return text
	}
	sign, c := " + ", f.C.Value
	if c < 0 {
		sign, c = " − ", -c
	}
	return text + sign + times(units.Number(c), f.Growth)
}

// curveOf draws a fit between the smallest and the largest size.
func (g growth) curveOf(f stats.Fit, role plots.Role, label string) plots.Series {
	const steps = 48
	s := plots.Series{Label: label, Style: g.style, Role: role}
	lo, hi := slices.Min(g.n), slices.Max(g.n)
	for i := range steps + 1 {
		n := lo * math.Pow(hi/lo, float64(i)/steps)
		s.Points = append(s.Points, plots.At(n, f.At(n)))
	}
	return s
}

func (g growth) residualPanel() plots.Panel {
	fit := g.main()
	p := plots.Panel{
		Title: "Residuals of " + curve(fit.Growth) + ", each repetition", X: plots.Axis{Label: "nodes N", Kind: plots.Linear},
		Y: plots.Axis{Label: "messages per CS", Kind: plots.Linear},
	}
	p.Series = append(p.Series, plots.Series{Style: plots.Plain, Role: plots.Bound, Points: []plots.Point{
		plots.At(slices.Min(g.n), 0), plots.At(slices.Max(g.n), 0),
	}})
	s := plots.Series{Style: g.style, Role: plots.Dots}
	for i, residual := range fit.Residuals {
		s.Points = append(s.Points, plots.At(g.n[i], residual))
	}
	p.Series = append(p.Series, s)
	return p
}

// curve writes the model of a growth: "a + c·N^(1/2)".
func curve(g stats.Growth) string {
	if g.Name == stats.Constant().Name {
		return "a"
	}
	return "a + " + times("c", g)
}

// times writes a factor of a growth: "c·N^(1/2)", "c/N".
func times(factor string, g stats.Growth) string {
	if divisor, ok := strings.CutPrefix(g.Name, "1/"); ok {
		return factor + "/" + divisor
	}
	return factor + "·" + g.Name
}
