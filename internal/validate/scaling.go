package validate

import (
	"cmp"
	"slices"

	"dmebench/claims"
	"dmebench/dme"
	"dmebench/result"
)

// scaling describes how messages per CS grow, for every algorithm and condition
// measured at enough sizes.
func (p *plan) scaling() []claims.Scaling {
	groups := make(map[place][]*cell)
	var order []place
	for _, c := range p.cells {
		if !c.wide {
			continue
		}
		k := place{c.Spec.Algorithm, result.Settings(c.set), c.Condition, c.Spec.Transport, 0}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], c)
	}
	all := []claims.Scaling{}
	for _, k := range order {
		cells := groups[k]
		slices.SortFunc(cells, func(a, b *cell) int { return cmp.Compare(a.Spec.Nodes, b.Spec.Nodes) })
		x := claims.Scaling{Algorithm: k.algorithm, Set: cells[0].set, Condition: k.condition, Transport: k.network}
		var s claims.Series
		for _, c := range cells {
			var values []float64
			for _, r := range c.usable(1).Results {
				if perCS, ok := claims.Mean(dme.MessagesPerCS, r); ok {
					values = append(values, perCS)
				}
			}
			if len(values) > 0 {
				s.Add(c.Spec.Nodes, values...)
				x.Points = append(x.Points, claims.ScalingPointOf(c.Spec.Nodes, values, c.members))
			}
		}
		if s.Scaling(&x) {
			all = append(all, x)
		}
	}
	return all
}
