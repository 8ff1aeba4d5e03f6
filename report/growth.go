package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dmebench/dme/claim"
	"dmebench/report/cells"
	"dmebench/report/page"
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
	place   int       // of the claimed growth among the ranked, from 1; 0 if there is no claim
}

// grown fits a label's messages over each network if there are enough sizes.
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
		// At the same sizes for all: not so few that the shape is still to come, and not so many
		// that preparing a system takes long.
		for _, size := range curveSizes([]int{16, curveLimit}) {
			like.Nodes = size
			if x, ok := c.theory.predict(k, like); ok {
				n, y = append(n, float64(size)), append(y, x)
			}
		}
		fits, err := stats.Rank(n, y, growths()...)
		if err != nil {
			continue // too few sizes
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

// growthPictures show how the messages of each series grow under a workload, with a panel for
// each network.
func (c *collection) growthPictures() (all []picture) {
	for _, sc := range c.scalings() {
		for _, grown := range cells.Grouped(sc.grown, func(g growth) string { return g.label }) {
			ch := grown[0].set.chart
			ch.place = grown[0].label + " " + sc.slug
			all = append(all, picture{
				show: runs.GrowthPicture, kind: "growth", title: "Growth of messages per CS", ch: ch, natural: true, usual: true,
				panels: func(int) (all []panel) {
					for _, g := range grown {
						v := g.panel()
						v.about = []string{g.label, g.set.transport, sc.title}
						all = append(all, v)
					}
					return all
				},
			})
		}
	}
	return all
}

// panel shows what was measured, with the fit of the claimed growth and the best one.
func (g growth) panel() panel {
	v := panel{read: "Points are medians with their intervals, curves least-squares fits to every repetition."}
	v.X = plots.Axis{Label: "nodes N", Kind: plots.Linear}
	v.Y = plots.Axis{Label: "messages per CS, median", Kind: plots.Linear}
	points := g.set.points(g.label, runs.MessagesPerCS)
	for i := range points {
		points[i].Gap = true // the line is the fit's
	}
	v.Series = append(v.Series, plots.Series{Style: g.style, Role: plots.Measured, Points: points})
	if g.place > 0 {
		v.Series = append(v.Series, plots.Series{
			Label: "claimed: " + g.claimed.Growth.Name, Style: g.style, Role: plots.Exact, Points: curvePoints(g.claimed, g.n),
		})
		v.predicted = append(v.predicted, saying{g.label, "claimed growth " + g.claimed.Growth.Name + ", that of " + formula(g.claim)})
	}
	if best := g.ranked[0]; g.place != 1 {
		v.Series = append(v.Series, plots.Series{
			Label: "best fit: " + best.Growth.Name, Style: g.style, Role: plots.Bound, Points: curvePoints(best, g.n),
		})
	}
	return v
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

// times writes a factor of a growth: "c·N^(1/2)", "c/N".
func times(factor string, g stats.Growth) string {
	if divisor, ok := strings.CutPrefix(g.Name, "1/"); ok {
		return factor + "/" + divisor
	}
	return factor + "·" + g.Name
}

// growthTables say how messages grow with N, workload by workload.
func (p *paper) growthTables() []page.Table {
	t := page.Table{
		ID: "growth", Title: "How messages grow with N", Folded: true,
		Note: "Least-squares fits of y = a + c·g(N) to every repetition. The claimed growth g is the one that fits the values of the " +
			"claim's own formula; 1/N describes values that approach a constant. A bound need not be reached: if its growth is out " +
			"of the question, the best one is fitted. Growths are ranked by Akaike's information criterion for small samples, AICc; " +
			"each stands with its distance from the best: below 2 there is nothing to choose between them, above 10 it has no support. p is " +
			"the exponent of y = a + c·N^p if it is fitted, too; over few sizes its interval is wide, since a, c and p can stand " +
			"in for one another.",
		Columns: []page.Column{
			{Key: "label", Title: "algorithm", Type: page.Text}, {Key: "load", Title: "load", Type: page.Text},
			{Key: "network", Title: "network", Type: page.Text}, {Key: "sizes", Title: "sizes N", Type: page.Text},
			{Key: "claim", Title: "claim", Type: page.Text, Wide: true}, {Key: "g", Title: "g(N)", Type: page.Text, Choose: true},
			{Key: "c", Title: "c", Type: page.Number}, {Key: "a", Title: "a", Type: page.Number},
			{Key: "sd", Title: "SD of residuals", Type: page.Number}, {Key: "rank", Title: "rank of the claimed growth", Type: page.Text},
			{Key: "p", Title: "p if free", Type: page.Number}, {Key: "ranking", Title: "growths by AICc", Type: page.Text, Wide: true},
		},
	}
	for _, sc := range p.scalings() {
		for _, g := range sc.grown {
			t.Rows = append(t.Rows, p.growthRow(sc, g))
		}
	}
	return some(t)
}

func fitted(i stats.Interval) page.Value {
	return page.Value{Number: page.Known(i.Value), Small: interval(i)}
}

func (p *paper) growthRow(sc scaling, g growth) page.Row {
	fit, missing := g.main(), page.Word(units.Missing)
	free, c, says, place := missing, missing, missing, missing
	if g.varies {
		free = fitted(g.free.P)
		free.Hint = strings.Join(g.free.Warnings, "; ")
	}
	if fit.Growth.Name != stats.Constant().Name {
		c = fitted(fit.C)
	}
	if g.place > 0 {
		says = page.Value{Text: sign(g.claim.Kind) + brief(g.claim.Formula), Small: citation(g.claim.Source)}
		place.Text = fmt.Sprintf("%d of %d", g.place, len(g.ranked))
		if fit.Growth.Name != g.claimed.Growth.Name {
			place.Text += ", a bound"
		}
	}
	sizes := fmt.Sprintf("%d: %s–%s", g.sizes(), units.Number(slices.Min(g.n)), units.Number(slices.Max(g.n)))
	return page.Row{
		Label: page.At(g.style),
		Values: []page.Value{
			page.Word(g.label), page.Word(sc.title), page.Word(g.set.network()), page.Word(sizes), says, page.Word(fit.Growth.Name), c,
			fitted(fit.A), page.Num(fit.SD), place, free, page.Word(ranking(g.ranked)),
		},
		Open: &page.More{Plots: []page.Plot{p.growthPlot(sc, g)}},
	}
}

// growthPlot shows what was measured with the fit of the claimed growth and the best one.
func (p *paper) growthPlot(sc scaling, g growth) page.Plot {
	var fits []namedFit
	if g.place > 0 {
		fits = append(fits, namedFit{"claimed growth " + g.claimed.Growth.Name, g.claimed})
	}
	if g.place != 1 {
		fits = append(fits, namedFit{"best fit " + g.ranked[0].Growth.Name, g.ranked[0]})
	}
	plot := fitsPlot("growth-"+units.Slug(g.label+" "+g.set.place), g.label+": "+equation(g.main()), page.At(g.style), g.n, g.y, fits)
	plot.Caption = sc.title + separator + g.set.network()
	return plot
}

// namedFit is a fit as a figure names it.
type namedFit struct {
	name string
	stats.Fit
}

// fitsPlot shows what was measured on n nodes, and fits to it: the first is the one in question.
func fitsPlot(name, title string, label page.Ref, n, y []float64, fits []namedFit) page.Plot {
	plot := overNodes(name, title, "messages per CS")
	measured := page.Series{Name: "measured", Label: label, Role: page.Scattered}
	for i := range n {
		measured.Points = append(measured.Points, []page.Real{page.Real(n[i]), page.Real(y[i])})
	}
	plot.Series = append(plot.Series, measured)
	for i, fit := range fits {
		curve := page.Series{Name: fit.name, Role: page.Bound, Label: label}
		if i == 0 {
			curve.Role = page.Exact
		}
		for _, at := range curvePoints(fit.Fit, n) {
			if at.Y > 0.7*slices.Min(y) { // what dives would press the points together
				curve.Points = append(curve.Points, []page.Real{page.Real(at.X), page.Real(at.Y)})
			}
		}
		plot.Series = append(plot.Series, curve)
	}
	return plot
}

// fewestSizes is how many numbers of nodes there must be before the report says how
// messages grow with them.
const fewestSizes = 5

// scaling says how the messages per CS grow with N under one workload, over all
// networks under which they were counted.
type scaling struct {
	title string // the workload
	slug  string
	grown []growth
}

// scalings returns what there is to say about growth, workload by workload.
func (c *collection) scalings() []scaling {
	sets := slices.DeleteFunc(slices.Clone(c.sets), func(s *set) bool { return len(s.spots) < fewestSizes || s.faulty() })
	var all []scaling
	taken := make(units.Names)
	for _, same := range cells.Grouped(sets, (*set).load) {
		sc := scaling{title: same[0].load()}
		for _, label := range c.labels {
			sc.grown = append(sc.grown, c.grown(same, label)...)
		}
		if len(sc.grown) > 0 {
			sc.slug = taken.Take(units.Slug(same[0].workload))
			all = append(all, sc)
		}
	}
	return all
}

// load is what a set shares with those that were made under the same workload
// over other networks.
func (s *set) load() string {
	spec := s.first.Result.Spec
	spec.Transport, spec.NodesPerWorker, spec.Warmup = "", 0, ""
	about := append([]string{s.workload}, cells.Conditions(spec)...)
	if s.requests != "" {
		about = append(about, s.requests)
	}
	return strings.Join(about, " · ")
}

// ranking writes growths in their order, each with its distance from the best.
func ranking(fits []stats.Fit) string {
	var parts []string
	for _, f := range fits {
		switch {
		case f.Exact:
			parts = append(parts, f.Growth.Name+" exactly")
		case math.IsNaN(f.Delta) || math.IsInf(f.Delta, 0):
			parts = append(parts, f.Growth.Name)
		default:
			parts = append(parts, fmt.Sprintf("%s +%s", f.Growth.Name, units.Number(math.Round(10*f.Delta)/10)))
		}
	}
	return strings.Join(parts, ", ")
}

// network says over what a set was measured: "sim, t=1ms".
func (s *set) network() string {
	about := []string{s.transport}
	for _, x := range s.conditions {
		if !strings.Contains(s.load(), x) {
			about = append(about, x)
		}
	}
	return strings.Join(about, ", ")
}

// interval writes the bounds of an interval; "" for a point.
func interval(i stats.Interval) string {
	lo, hi := units.Number(i.Lo), units.Number(i.Hi)
	switch {
	case lo == hi:
		return ""
	case math.IsInf(i.Lo, 0) || math.IsNaN(i.Lo):
		lo = "?"
	}
	if math.IsInf(i.Hi, 0) || math.IsNaN(i.Hi) {
		hi = "?"
	}
	return lo + " to " + hi
}
