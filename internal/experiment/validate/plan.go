package validate

import (
	"cmp"
	"context"
	"math"
	"slices"

	"dmebench/algorithms/quorum"
	"dmebench/claims"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/runs"
)

type plan struct {
	ctx       context.Context // planning ends early once it is cancelled
	opt       *Options
	effort    effort
	bench     *bench
	ways      map[string][]condition // by network
	questions []*question
	cells     []*cell
	byPlace   map[place]*cell
}

// newPlan plans the runs for every claim of the algorithms: nothing is run yet.
func newPlan(ctx context.Context, o *Options, e effort, subjects []*dme.Algorithm) *plan {
	p := &plan{ctx: ctx, opt: o, effort: e, bench: newBench(o), byPlace: make(map[place]*cell), ways: make(map[string][]condition)}
	for _, network := range []string{runs.Sim, realNetwork, o.Transport} {
		p.ways[network] = conditions(network)
	}
	for _, a := range subjects {
		p.algorithm(a)
		p.bench.forget()
	}
	return p
}

func (p *plan) algorithm(a *dme.Algorithm) {
	first := len(p.questions)
	bySet := make(map[string][]*question)
	var order []string
	// Safety and liveness are judged over the runs for all claims.
	everything := slices.ContainsFunc(claimsOf(a), func(c claim.Claim) bool { return claims.Everywhere(c) && p.opt.wants(a, c) })
	for _, c := range claimsOf(a) {
		if !everything && !p.opt.wants(a, c) {
			continue
		}
		q := p.ask(a, c)
		p.questions = append(p.questions, q)
		if q.Unanswerable == "" && !claims.Everywhere(q.Claim) {
			key := runs.Settings(q.Set)
			if bySet[key] == nil {
				order = append(order, key)
			}
			bySet[key] = append(bySet[key], q)
		}
	}
	for _, key := range order {
		p.bench.forget()
		p.schedule(bySet[key])
	}
	for _, q := range p.questions[first:] {
		if q.Unanswerable == "" && len(q.cells) == 0 && len(q.evidence) == 0 && !claims.Everywhere(q.Claim) {
			q.Unanswerable = "its condition is met at none of the sizes and loads that are run"
		}
	}
}

// ask chooses how a claim is to be measured and under which options.
func (p *plan) ask(a *dme.Algorithm, c claim.Claim) *question {
	q := &question{Question: claims.Question{Algorithm: a, Claim: c, NotRun: p.notRun()}, predicted: make(map[*cell]float64)}
	if p.opt.Transport == runs.Sim {
		q.Network = realNetwork
	}
	switch {
	case c.Measure != nil, c.Load == claim.Static && c.Quantity == claim.QuorumSize:
	case c.Load == claim.Static:
		q.unanswerable("results do not have it, and the claim does not say how the construction decides it")
	case c.Load == claim.Faults:
		q.unanswerable("no fault is injected here; 'dmebench validate --faults' does that")
	case q.gauged() && p.opt.Transport != runs.Sim:
		q.unanswerable("only simulations look into the nodes; leave out --transport")
	case !claims.Told(a, c.Quantity):
		q.unanswerable("results do not have it")
	}
	if q.Unanswerable != "" || claims.Everywhere(q.Claim) {
		return q
	}
	most, best := 0, q.Set
	for _, set := range optionSets(a, &c) {
		q.Set = set
		if n := p.reach(q); n > most {
			most, best = n, set
		}
	}
	if q.Set = best; most == 0 {
		q.Unanswerable = "no option and no size meet its condition here"
	}
	return q
}

// unanswerable says why neither runs nor the construction decide, and what does.
func (q *question) unanswerable(why string) {
	if q.Unanswerable = why; q.Claim.Test != "" {
		q.Unanswerable += "; " + q.Claim.Test + " of its package measures it"
	}
}

func (p *plan) notRun() string {
	if p.opt.Mode == Quick {
		return "--quick"
	}
	return "the time ran out"
}

// probes are sizes among which there is one for every construction: planes,
// complete trees, squares, cubes, and none of them.
var probes = []int{7, 8, 9, 13, 15, 27}

// reach returns under how many plain conditions a claim can be asked.
func (p *plan) reach(q *question) int {
	n := 0
	for _, c := range p.plain(q, p.opt.Transport) {
		if slices.ContainsFunc(probes, func(nodes int) bool { return p.made(q, c, nodes) }) {
			n++
		}
	}
	return n
}

// plain returns the conditions that are measured at most sizes and under which a
// claim is asked, those first under which growth is measured. A construction is
// the same under all.
func (p *plan) plain(q *question, network string) []*condition {
	if q.Static() {
		return []*condition{&p.ways[runs.Sim][0]}
	}
	var wide, narrow []*condition
	for i := range p.ways[network] {
		switch c := &p.ways[network][i]; {
		case !c.plain || !q.under(c):
		case c.wide:
			wide = append(wide, c)
		default:
			narrow = append(narrow, c)
		}
	}
	return append(wide, narrow...)
}

// made reports whether a claim is made for n nodes under a condition.
func (p *plan) made(q *question, c *condition, nodes int) bool {
	_, ok := p.predict(q, c, nodes)
	return ok
}

// predict evaluates a claim for runs under a condition; ok is false if there can be no such runs or
// the claim is not made for them.
func (p *plan) predict(q *question, c *condition, nodes int) (float64, bool) {
	job, err := p.bench.job(q, c, nodes)
	if err != nil {
		return 0, false
	}
	return q.Claim.Prediction(settingOf(job))
}

// rungs returns count sizes from lo to hi at equal ratios.
func rungs(count, lo, hi int) []int {
	var sizes []int
	for i := range count {
		step := float64(i) / float64(count-1)
		sizes = append(sizes, int(math.Round(float64(lo)*math.Pow(float64(hi)/float64(lo), step))))
	}
	return sizes
}

// near returns the sizes that may stand for a rung of a ladder, the nearest
// first: the rung, and sizes at which the constructions of the field are regular
// – complete binary trees, projective planes, squares, cubes – up to a factor of √2 away.
// Beyond manyNodes, where constructing takes long, it is trees, planes and cubes
// alone.
func near(rung int) []int {
	many := rung > manyNodes
	var sizes []int
	consider := func(n int) {
		if away := math.Abs(math.Log2(float64(n) / float64(rung))); n >= 3 && away <= 0.5 {
			sizes = append(sizes, n)
		}
	}
	if !many {
		consider(rung)
	}
	for n := 4; n <= 2*rung; n *= 2 {
		if !many {
			consider(n)
		}
		consider(n - 1)
	}
	for q := 2; q*q <= 2*rung; q++ { // all three families end before that
		if quorum.PrimePower(q) > 0 {
			consider(q*q + q + 1)
		}
		if !many {
			consider(q * q)
		}
		consider(q * q * q)
	}
	away := func(n int) float64 { return math.Abs(math.Log(float64(n) / float64(rung))) }
	slices.SortFunc(sizes, func(a, b int) int { return cmp.Or(cmp.Compare(away(a), away(b)), cmp.Compare(a, b)) })
	return slices.Compact(sizes)
}

// scaling describes how messages per CS grow, if enough sizes were measured.
func (p *plan) scaling() []claims.Scaling {
	groups := make(map[place][]*cell)
	var order []place
	for _, c := range p.cells {
		if !c.wide {
			continue
		}
		k := place{c.Spec.Algorithm, runs.Settings(c.set), c.Condition, c.Spec.Transport, 0}
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
				if perCS, ok := claims.Mean(claim.MessagesPerCS, r); ok {
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
