package report

import (
	"fmt"
	"math"
	"slices"

	"dmebench/claims"
	"dmebench/report/plots"
	"dmebench/runs"
	"dmebench/stats"
)

// measuredGrowth is one series of a card's figure.
type measuredGrowth struct {
	label  string
	style  int
	growth stats.Growth
	n, y   []float64
	fit    stats.Fit // of the claimed growth
}

// figure shows what was measured with the claimed growth through it and its
// neighbours beside it, what the claimed growth leaves over, and how much any
// other exponent would.
func (c growthCard) figure() (plots.Figure, error) {
	f := plots.Figure{Name: c.ID, Title: c.Title, Columns: 3}
	points := plots.Panel{
		Title: "Measured and fitted", X: plots.Axis{Label: "nodes N", Kind: plots.Values},
		Y: plots.Axis{Label: "messages per CS", Kind: plots.Values},
	}
	residuals := plots.Panel{
		Title: "Residuals", X: plots.Axis{Label: "nodes N", Kind: plots.Values},
		Y: plots.Axis{Label: "% of the measured", Kind: plots.Linear},
	}
	exponents := plots.Panel{
		Title: "Other exponents", X: plots.Axis{Label: "p of a + c·N^p", Kind: plots.Linear},
		Y: plots.Axis{Label: "residual SD", Kind: plots.Values},
	}
	all, err := c.measured()
	if err != nil {
		return f, err
	}
	for i, m := range all {
		dots := plots.Series{Label: m.label, Style: m.style, Role: plots.Measured}
		for k := range m.n {
			p := plots.At(m.n[k], m.y[k])
			p.Gap = true // the line is the fit's
			dots.Points = append(dots.Points, p)
		}
		points.Series = append(points.Series, dots, m.curve(m.fit, plots.Exact, ""))
		if i == 0 {
			points.Series = append(points.Series, m.rivals()...)
			zero := []plots.Point{plots.At(slices.Min(m.n), 0), plots.At(slices.Max(m.n), 0)}
			residuals.Series = append(residuals.Series, plots.Series{Style: plots.Plain, Role: plots.Bound, Points: zero})
		}
		over := plots.Series{Style: m.style, Role: plots.Measured}
		for k, r := range m.fit.Residuals {
			p := plots.At(m.n[k], 100*r/m.y[k])
			p.Gap = true
			over.Points = append(over.Points, p)
		}
		residuals.Series = append(residuals.Series, over)
		profile, err := m.profile()
		if err != nil {
			return f, err
		}
		exponents.Series = append(exponents.Series, profile, m.competitors())
	}
	f.Keys = []plots.Key{
		{Label: "best fit of what is claimed", Role: plots.Exact}, {Label: "of growths beside it", Role: plots.Bound},
	}
	f.Panels = []plots.Panel{points, residuals, exponents}
	return f, nil
}

// measured returns the series of all loads over all networks.
func (c growthCard) measured() ([]measuredGrowth, error) {
	var all []measuredGrowth
	for _, load := range c.Loads {
		for _, s := range load.over {
			m := measuredGrowth{label: claims.Place(s.Transport, s.Condition), style: len(all), growth: load.growth}
			if s.Transport == runs.Sim {
				m.label += ", simulated"
			}
			for _, p := range s.Points {
				m.n, m.y = append(m.n, float64(p.Nodes)), append(m.y, p.PerCS)
			}
			var err error
			if m.fit, err = stats.FitGrowth(m.n, m.y, m.growth); err != nil {
				return nil, fmt.Errorf("%s: %w", c.Title, err)
			}
			all = append(all, m)
		}
	}
	return all, nil
}

// curve draws a fit. Where a wrong growth dives it would press the points together, and
// is left out.
func (m measuredGrowth) curve(f stats.Fit, role plots.Role, label string) plots.Series {
	points := slices.DeleteFunc(curvePoints(f, m.n), func(p plots.Point) bool { return p.Y <= 0.7*slices.Min(m.y) })
	return plots.Series{Label: label, Style: m.style, Role: role, Points: points}
}

// rivals draws the growths next to the claimed one, as near to the points as they
// come.
func (m measuredGrowth) rivals() []plots.Series {
	var all []plots.Series
	growths := slices.DeleteFunc(stats.Growths(), func(g stats.Growth) bool { return g.Name == stats.Constant().Name })
	at := slices.IndexFunc(growths, func(g stats.Growth) bool { return g.Name == m.growth.Name })
	for _, k := range []int{at - 1, at + 1} {
		if k < 0 || k >= len(growths) {
			continue
		}
		if f, err := stats.FitGrowth(m.n, m.y, growths[k]); err == nil {
			s := m.curve(f, plots.Bound, root(growths[k].Name))
			s.Style = 4 + len(all) // unlike those of the series
			all = append(all, s)
		}
	}
	return all
}

// The exponents that a profile shows: of the growths that papers speak of, and
// what lies around.
const (
	lowestShown, highestShown = -0.5, 1.2
	shownStep                 = 0.01
)

// profile draws what is left over by a + c·N^p for each exponent p.
func (m measuredGrowth) profile() (plots.Series, error) {
	s := plots.Series{Style: m.style, Role: plots.Course}
	for i := range int(math.Round((highestShown-lowestShown)/shownStep)) + 1 {
		p := lowestShown + float64(i)*shownStep
		f, err := stats.FitGrowth(m.n, m.y, power(p))
		if err != nil {
			return s, err
		}
		s.Points = append(s.Points, plots.At(p, f.SD))
	}
	return s, nil
}

// power is the growth with an exponent; that of log N is 0.
func power(p float64) stats.Growth {
	if math.Abs(p) < shownStep/2 {
		return stats.Log()
	}
	return stats.Power(p)
}

// competitors marks the growths that papers speak of on a profile.
func (m measuredGrowth) competitors() plots.Series {
	s := plots.Series{Style: m.style, Role: plots.Measured}
	for p, g := range map[float64]stats.Growth{
		0: stats.Log(), 1. / 3: stats.CubeRoot(), 0.5: stats.SquareRoot(), 2. / 3: stats.TwoThirds(), 1: stats.Linear(),
	} {
		if f, err := stats.FitGrowth(m.n, m.y, g); err == nil {
			at := plots.At(p, f.SD)
			at.Gap = true
			s.Points = append(s.Points, at)
		}
	}
	slices.SortFunc(s.Points, func(a, b plots.Point) int { return int(math.Copysign(1, a.X-b.X)) })
	return s
}
