package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dmebench/dme/claim"
	"dmebench/report/cells"
	"dmebench/report/plots"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// growth is what was fitted to one series over one network.
type growth struct {
	set     *set
	label   string
	style   int
	n, y    []float64 // one observation for each good run
	ranked  []stats.Fit
	free    stats.Exponent
	varies  bool // there is an exponent
	claim   claim.Claim
	claimed stats.Fit // of the growth that the claim speaks of
	place   int       // of the claimed growth among the ranked, from 1; 0 where there is no claim
}

// grown fits a label's messages over each network where there are enough sizes.
func (c *collection) grown(sets []*set, label string) []growth {
	var all []growth
	for _, s := range sets {
		g := growth{set: s, label: label, style: slices.Index(c.labels, label)}
		var like *cell
		for _, here := range s.spots {
			cell := here.cells[label]
			if cell == nil {
				continue
			}
			like = cell
			for _, y := range cell.values(runs.MessagesPerCS) {
				g.n, g.y = append(g.n, here.x), append(g.y, y)
			}
		}
		if g.sizes() < fewestSizes {
			continue
		}
		var err error
		if g.ranked, err = stats.Rank(g.n, g.y, growths()...); err != nil {
			c.warnings = append(c.warnings, fmt.Sprintf("%s (%s): no growth is fitted: %v", label, s, err))
			continue
		}
		g.free, err = stats.FreeExponent(g.n, g.y)
		g.varies = err == nil // else the messages are the same at every size
		c.claimGrowth(&g, like.First.Result.Spec)
		all = append(all, g)
	}
	return all
}

func (g growth) sizes() int {
	sizes := slices.Clone(g.n)
	slices.Sort(sizes)
	return len(slices.Compact(sizes))
}

// growths lists what messages may grow like. The reciprocal is that of what
// approaches a constant, such as 3(N−1)/N.
func growths() []stats.Growth {
	return append(stats.Growths(), stats.Growth{Name: "1/N", Of: func(n float64) float64 { return 1 / n }})
}

// shapeSizes are the numbers of nodes at which the shape of a formula is looked
// at: the same for all, not so few that the shape is still to come, and not so
// many that preparing a system takes long.
func shapeSizes() []int { return curveSizes([]int{16, curveLimit}) }

// claimGrowth finds the claim that says most sharply how the messages grow, and
// the growth that it speaks of: the one that fits the claim's own values best.
// So no formula has to be read, and one that knows the system, such as 3(K−1),
// is taken as it is there.
func (c *collection) claimGrowth(g *growth, like runs.Spec) {
	for _, k := range c.theory.about(claim.MessagesPerCS, like) {
		if k.KnownFalse != "" {
			break
		}
		var n, y []float64
		for _, size := range shapeSizes() {
			like.Nodes = size
			if x, ok := c.theory.predict(k, like); ok {
				n, y = append(n, float64(size)), append(y, x)
			}
		}
		fits, err := stats.Rank(n, y, growths()...)
		if err != nil {
			continue // it speaks of too few sizes
		}
		g.claim = k
		for i, fit := range g.ranked {
			if fit.Growth.Name == fits[0].Growth.Name {
				g.claimed, g.place = fit, i+1
			}
		}
		return
	}
}

// refuted is the distance of AICc from which nothing speaks for a fit.
const refuted = 10

// main returns the fit whose residuals are shown: of the claimed growth, else the
// best. A bound need not be reached: of one whose growth is out of the question,
// the best is more telling.
func (g growth) main() stats.Fit {
	bound := g.claim.Kind == claim.UpperBound || g.claim.Kind == claim.LowerBound
	if g.place == 0 || bound && g.claimed.Delta > refuted {
		return g.ranked[0]
	}
	return g.claimed
}

// growthPicture shows a series over each network: what was measured, with the fit
// of the claimed growth and the best one, and residuals.
func growthPicture(sc scaling, load, label string, grown []growth) picture {
	f := picture{kind: "growth-" + units.Slug(label)}
	f.Name = "growth-" + units.Slug(label) + "-" + sc.slug
	f.Title, f.Subtitle = label+": growth of messages per CS", load
	var residuals []plots.Panel
	varies := false
	for _, g := range grown {
		panel, said := g.fitPanel()
		f.Panels, f.predicted = append(f.Panels, panel), append(f.predicted, said...)
		residuals = append(residuals, g.residualPanel())
		varies = varies || g.varies
	}
	f.Panels = append(f.Panels, residuals...)
	f.Columns = max(len(grown), 2)
	if len(grown) > 3 {
		f.Columns = 0
	}
	f.read = "Points are medians with their intervals, curves least-squares fits to every repetition, below them what these leave."
	if !varies {
		f.leftOut = sameEverywhere
	}
	return f
}

// overview shows the fits of all series side by side, network by network where they are
// many. What the fits leave stands in the pictures of each series.
func overview(sc scaling, load string, grown []growth) []picture {
	grown = slices.DeleteFunc(slices.Clone(grown), func(g growth) bool { return !g.varies })
	if !slices.ContainsFunc(grown, func(g growth) bool { return g.label != grown[0].label }) {
		return nil // its own picture says all
	}
	groups := [][]growth{grown}
	if len(grown) > mostPanels {
		groups = cells.Grouped(grown, func(g growth) string { return g.set.transport })
	}
	var all []picture
	for _, group := range groups {
		f := picture{kind: "growth"}
		f.Name, f.Title, f.Subtitle = "growth-"+sc.slug, "Growth of messages per CS", load
		if len(groups) > 1 {
			f.Name, f.Subtitle = f.Name+"-"+units.Slug(group[0].set.transport), group[0].set.transport+separator+load
		}
		f.read = "Points are medians with their intervals, curves least-squares fits to every repetition."
		for _, g := range group {
			panel, said := g.fitPanel()
			panel.Title = g.label
			if len(groups) == 1 && len(group) > 1 && slices.ContainsFunc(group, func(o growth) bool { return o.set != g.set }) {
				panel.Title += ", " + g.set.transport
			}
			for i := range said {
				said[i].panel, said[i].of = panel.Title, ""
			}
			f.Panels, f.predicted = append(f.Panels, panel), append(f.predicted, said...)
		}
		if len(f.Panels) > 1 {
			all = append(all, f)
		}
	}
	return all
}

func (g growth) fitPanel() (p plots.Panel, said []saying) {
	p = plots.Panel{
		Title: g.set.network() + ": " + equation(g.main()), X: plots.Axis{Label: "nodes N", Kind: plots.Linear},
		Y: plots.Axis{Label: "messages per CS, median", Kind: plots.Linear},
	}
	points := g.set.points(g.label, runs.MessagesPerCS)
	for i := range points {
		points[i].Gap = true // the line is the fit's
	}
	p.Series = append(p.Series, plots.Series{Style: g.style, Role: plots.Measured, Points: points})
	best := g.ranked[0]
	if g.place > 0 {
		says := fmt.Sprintf("claimed growth %s, that of %s", g.claimed.Growth.Name, formula(g.claim))
		p.Series = append(p.Series, g.curveOf(g.claimed, plots.Exact, "claimed: "+g.claimed.Growth.Name))
		said = append(said, saying{of: g.set.transport, text: says})
	}
	if g.place != 1 {
		p.Series = append(p.Series, g.curveOf(best, plots.Bound, "best fit: "+best.Growth.Name))
		said = append(said, saying{of: g.set.transport, text: "the best growth by AICc is " + best.Growth.Name})
	}
	return p, said
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
	return plots.Series{Label: label, Style: g.style, Role: role, Points: curvePoints(f, g.n)}
}

// curvePoints follows a fit from the smallest of some sizes to the largest.
func curvePoints(f stats.Fit, sizes []float64) (points []plots.Point) {
	const steps = 48
	lo, hi := slices.Min(sizes), slices.Max(sizes)
	for i := range steps + 1 {
		n := lo * math.Pow(hi/lo, float64(i)/steps)
		points = append(points, plots.At(n, f.At(n)))
	}
	return points
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
