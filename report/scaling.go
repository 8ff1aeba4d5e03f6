package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dmebench/algorithms"
	"dmebench/internal/run"
	"dmebench/report/plots"
	"dmebench/report/stats"
	"dmebench/report/units"
)

// fewestSizes is how many numbers of nodes there must be before it is said how
// messages grow with them.
const fewestSizes = 5

// scaling says how the messages per CS grow with N under one workload, over all
// networks under which they were counted.
type scaling struct {
	title   string
	slug    string
	figures []plots.Figure
	rows    []growthRow
}

// growthRow is one series over one network: its claimed growth, all growths in
// order, and the exponent that fits best.
type growthRow struct {
	Label, Network string
	Style          int
	Sizes          string
	Claim, Source  string // what says how they grow; "" where no paper does
	Fit            string // the growth that is fitted
	C, CInterval   string
	A, AInterval   string
	Residual       string // their standard deviation
	Ranking        string // by AICc, with the distance from the best
	Rank           string // the claimed growth's
	P, PInterval   string
	Hint           string // warnings
}

// scalings returns what there is to say about growth, workload by workload.
func (c *collection) scalings() []scaling {
	var keys []string
	byKey := make(map[string][]*set)
	for _, s := range c.sets {
		if key := s.load(); len(s.sizes) >= fewestSizes {
			if byKey[key] == nil {
				keys = append(keys, key)
			}
			byKey[key] = append(byKey[key], s)
		}
	}
	var all []scaling
	taken := make(map[string]int)
	for _, key := range keys {
		sc := scaling{title: "How messages grow with N: " + key, slug: "scaling-" + slug(byKey[key][0].workload)}
		if taken[sc.slug]++; taken[sc.slug] > 1 {
			sc.slug = fmt.Sprintf("%s-%d", sc.slug, taken[sc.slug])
		}
		for _, label := range c.labels {
			if grown := c.grown(byKey[key], label); len(grown) > 0 {
				sc.figures = append(sc.figures, growthFigure(sc, key, label, grown))
				for _, g := range grown {
					sc.rows = append(sc.rows, g.row())
				}
			}
		}
		if len(sc.rows) > 0 {
			all = append(all, sc)
		}
	}
	return all
}

// load is what a set shares with those that were made under the same workload
// over other networks.
func (s *set) load() string {
	spec := s.first
	spec.Transport, spec.NodesPerWorker, spec.Warmup = "", 0, ""
	about := append([]string{s.workload}, conditions(spec, nil)...)
	if s.requests != "" {
		about = append(about, s.requests)
	}
	return strings.Join(about, " · ")
}

// growth is what was fitted to one series over one network.
type growth struct {
	set     *set
	label   string
	style   int
	n, y    []float64 // one observation for each good run
	ranked  []stats.Fit
	free    stats.Exponent
	varies  bool // there is an exponent
	claim   algorithms.Claim
	claimed stats.Fit // of the growth that the claim speaks of
	place   int       // of the claimed growth among the ranked, from 1; 0 where there is no claim
}

// grown fits a label's messages over each network where there are enough sizes.
func (c *collection) grown(sets []*set, label string) []growth {
	var all []growth
	for _, s := range sets {
		g := growth{set: s, label: label, style: slices.Index(c.labels, label)}
		var like *cell
		for _, n := range s.sizes {
			cell := s.cells[place{label, n}]
			if cell == nil {
				continue
			}
			like = cell
			for _, y := range cell.values(messagesPerCS) {
				g.n, g.y = append(g.n, float64(n)), append(g.y, y)
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
		c.claimGrowth(&g, like.spec)
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
func (c *collection) claimGrowth(g *growth, like run.Spec) {
	for _, claim := range c.theory.shapes(like) {
		var n, y []float64
		for _, size := range shapeSizes() {
			like.Nodes = size
			if x, ok := c.theory.predict(claim, like); ok {
				n, y = append(n, float64(size)), append(y, x)
			}
		}
		fits, err := stats.Rank(n, y, growths()...)
		if err != nil {
			continue // it speaks of too few sizes
		}
		g.claim = claim
		for i, fit := range g.ranked {
			if fit.Growth.Name == fits[0].Growth.Name {
				g.claimed, g.place = fit, i+1
			}
		}
		return
	}
}

// shapes returns the claims about messages per CS that apply to runs like s and
// are not known to be false, those first that say most about the shape of a
// curve: a bound may be far away.
func (t *theory) shapes(s run.Spec) []algorithms.Claim {
	order := []algorithms.ClaimKind{
		algorithms.Exact, algorithms.Mean, algorithms.Asymptotic, algorithms.UpperBound, algorithms.LowerBound,
	}
	var claims []algorithms.Claim
	if t.claims == nil {
		return nil
	}
	for _, c := range t.claims(s.Algorithm) {
		if c.Quantity == algorithms.MessagesPerCS && slices.Contains(loads(s), c.Load) && c.KnownFalse == "" && c.Predict != nil {
			claims = append(claims, c)
		}
	}
	slices.SortStableFunc(claims, func(a, b algorithms.Claim) int {
		return cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind))
	})
	return claims
}

// refuted is the distance of AICc from which nothing speaks for a fit.
const refuted = 10

// main returns the fit whose residuals are shown: of the claimed growth, else the
// best. A bound need not be reached: of one whose growth is out of the question,
// the best is more telling.
func (g growth) main() stats.Fit {
	bound := g.claim.Kind == algorithms.UpperBound || g.claim.Kind == algorithms.LowerBound
	if g.place == 0 || bound && g.claimed.Delta > refuted {
		return g.ranked[0]
	}
	return g.claimed
}

func (g growth) row() growthRow {
	fit := g.main()
	r := growthRow{
		Label: g.label, Style: g.style, Network: g.set.network(), Sizes: g.range_(),
		Fit: fit.Growth.Name, Residual: units.Number(fit.SD), P: units.Missing,
		A: units.Number(fit.A.Value), AInterval: interval(fit.A),
	}
	if fit.Growth.Name != stats.Constant().Name {
		r.C, r.CInterval = units.Number(fit.C.Value), interval(fit.C)
	}
	if g.place > 0 {
		r.Claim, r.Source = sign(g.claim.Kind)+brief(g.claim.Formula), citation(g.claim.Source)
		r.Rank = fmt.Sprintf("%d of %d", g.place, len(g.ranked))
		if fit.Growth.Name != g.claimed.Growth.Name {
			r.Rank += ", a bound"
		}
	}
	var ranking []string
	for _, f := range g.ranked {
		switch {
		case f.Exact:
			ranking = append(ranking, f.Growth.Name+" exactly")
		case math.IsNaN(f.Delta) || math.IsInf(f.Delta, 0):
			ranking = append(ranking, f.Growth.Name)
		default:
			ranking = append(ranking, fmt.Sprintf("%s +%s", f.Growth.Name, units.Number(math.Round(10*f.Delta)/10)))
		}
	}
	r.Ranking = strings.Join(ranking, ", ")
	if g.varies {
		r.P, r.PInterval = units.Number(g.free.P.Value), interval(g.free.P)
		r.Hint = strings.Join(g.free.Warnings, "; ")
	}
	return r
}

// network says over what a set was measured: "sim, t=1ms".
func (s *set) network() string {
	about := []string{s.transport}
	for _, x := range s.about {
		if !strings.Contains(s.load(), x) {
			about = append(about, x)
		}
	}
	return strings.Join(about, ", ")
}

func (g growth) range_() string {
	return fmt.Sprintf("%d: %s–%s", g.sizes(), units.Number(slices.Min(g.n)), units.Number(slices.Max(g.n)))
}

// curve writes the model of a growth: "a + c·N^(1/2)".
func curve(g stats.Growth) string {
	if g.Name == stats.Constant().Name {
		return "a"
	}
	return "a + c·" + g.Name
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

// growthFigure shows a series over each network: what was measured, with the fit
// of the claimed growth and the best one, and residuals.
func growthFigure(sc scaling, load, label string, grown []growth) plots.Figure {
	f := plots.Figure{
		Name: sc.slug + "-" + slug(label), Title: label + ": growth of messages per CS", Subtitle: load,
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
	points := g.set.points(g.label, messagesPerCS, p.Y)
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
		p.Series = append(p.Series, g.curveOf(best, plots.Bound, fmt.Sprintf("best growth by AICc, %s: %s", g.set.transport, best.Growth.Name)))
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
	return text + sign + units.Number(c) + "·" + f.Growth.Name
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
