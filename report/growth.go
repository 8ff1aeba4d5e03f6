package report

import (
	"fmt"
	"slices"

	"dmebench/dme"
	"dmebench/report/stats"
	"dmebench/result"
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
	claim   dme.Claim
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
			for _, y := range cell.values(result.MessagesPerCS) {
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
func (c *collection) claimGrowth(g *growth, like result.Spec) {
	for _, claim := range c.theory.about(dme.MessagesPerCS, like) {
		if claim.KnownFalse != "" {
			break
		}
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

// refuted is the distance of AICc from which nothing speaks for a fit.
const refuted = 10

// main returns the fit whose residuals are shown: of the claimed growth, else the
// best. A bound need not be reached: of one whose growth is out of the question,
// the best is more telling.
func (g growth) main() stats.Fit {
	bound := g.claim.Kind == dme.UpperBound || g.claim.Kind == dme.LowerBound
	if g.place == 0 || bound && g.claimed.Delta > refuted {
		return g.ranked[0]
	}
	return g.claimed
}
