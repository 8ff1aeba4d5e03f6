package validate

import (
	"cmp"
	"math"
	"slices"

	"dmebench/report/stats"
)

// scaling describes how messages per CS grow, for every algorithm and condition
// measured at enough sizes.
func (p *plan) scaling() []Scaling {
	type key struct{ algorithm, set, condition, transport string }
	groups := make(map[key][]*cell)
	var order []key
	for _, c := range p.cells {
		if !c.wide {
			continue
		}
		k := key{c.spec.Algorithm, Written(p.setOf(c)), c.condition.name, c.spec.Transport}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], c)
	}
	all := []Scaling{}
	for _, k := range order {
		s := &series{condition: k.condition, transport: k.transport}
		cells := groups[k]
		slices.SortFunc(cells, func(a, b *cell) int { return cmp.Compare(a.spec.Nodes, b.spec.Nodes) })
		x := Scaling{Algorithm: k.algorithm, Set: p.setOf(cells[0]), Condition: k.condition, Transport: k.transport}
		for _, c := range cells {
			var values []float64
			for _, r := range c.sound() {
				if !math.IsNaN(r.perCS) {
					values = append(values, r.perCS)
					s.n, s.y = append(s.n, float64(c.spec.Nodes)), append(s.y, r.perCS)
				}
			}
			if len(values) > 0 {
				x.Points = append(x.Points, scalingPoint(c, values))
			}
		}
		s.sort()
		if !s.enough() || !x.fit(s) {
			continue
		}
		all = append(all, x)
	}
	return all
}

// setOf returns the options under which a cell was asked for.
func (p *plan) setOf(c *cell) map[string]string {
	for _, q := range p.questions {
		if _, ok := q.predicted[c]; ok {
			return q.set
		}
	}
	return nil
}

func scalingPoint(c *cell, values []float64) ScalingPoint {
	mean, _, _, _ := interval(values)
	n := float64(c.spec.Nodes)
	return ScalingPoint{
		Nodes: c.spec.Nodes, Runs: len(values), PerCS: mean,
		PerSqrtN: mean / math.Sqrt(n), PerCubeRoot: mean / math.Cbrt(n), PerLogN: mean / math.Log2(n),
		PerMember: known(mean / c.members),
	}
}

// fit ranks the growths of the field; ok is false where that cannot be done.
func (x *Scaling) fit(s *series) (ok bool) {
	ranking, err := stats.Rank(s.n, s.y, stats.Growths()...)
	if err != nil {
		return false
	}
	x.Ranking, x.Best = rankingOf(ranking), ranking[0].Growth.Name
	x.A, x.C = boundsOf(ranking[0].A), boundsOf(ranking[0].C)
	if e, err := stats.FreeExponent(s.n, s.y); err == nil {
		p := boundsOf(e.P)
		x.Exponent = &p
		if !math.IsNaN(e.LogLog.Value) {
			slope := boundsOf(e.LogLog)
			x.LogLog = &slope
		}
	}
	return true
}
