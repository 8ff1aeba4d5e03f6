package validate

import (
	"context"
	"slices"

	"dmebench/claims"
	"dmebench/dme"
	"dmebench/result"
)

// plan holds the questions, and the runs that answer them.
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
	for _, network := range []string{result.Sim, realNetwork, o.Transport} {
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
	everything := slices.ContainsFunc(claimsOf(a), func(c dme.Claim) bool { return claims.Everywhere(c) && p.opt.wants(a, c) })
	for _, c := range claimsOf(a) {
		if !everything && !p.opt.wants(a, c) {
			continue
		}
		q := p.ask(a, c)
		p.questions = append(p.questions, q)
		if q.Unanswerable == "" && !claims.Everywhere(q.Claim) {
			key := result.Settings(q.Set)
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
func (p *plan) ask(a *dme.Algorithm, c dme.Claim) *question {
	q := &question{Question: claims.Question{Algorithm: a, Claim: c, NotRun: p.notRun()}, predicted: make(map[*cell]float64)}
	if p.opt.Transport == result.Sim {
		q.Network = realNetwork
	}
	switch {
	case c.Measure != nil, c.Load == dme.Static && c.Quantity == dme.QuorumSize:
	case c.Load == dme.Static:
		q.unanswerable("no run tells it, and the claim does not say how the construction does")
	case c.Load == dme.Faults:
		q.unanswerable("no fault is injected here; 'dmebench validate --faults' does that")
	case !claims.Told(a, c.Quantity):
		q.unanswerable("the result of a run does not tell it")
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

// unanswerable says why neither runs nor the construction tell, and what does.
func (q *question) unanswerable(why string) {
	if q.Unanswerable = why; q.Claim.Test != "" {
		q.Unanswerable += "; " + q.Claim.Test + " of its package measures it"
	}
}

// notRun says why there are no more runs.
func (p *plan) notRun() string {
	if p.opt.Mode == Quick {
		return "--quick"
	}
	return "the time ran out"
}

// probes are sizes among which there is one for every construction: planes,
// complete trees, squares, cubes, and none of them.
var probes = []int{7, 8, 9, 13, 15, 27}

// reach returns under how many of the plain conditions a claim can be asked with
// its options.
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
		return []*condition{&p.ways[result.Sim][0]}
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

// predict evaluates a claim for runs under a condition; ok is false where there
// can be no such runs or the claim is not made for them.
func (p *plan) predict(q *question, c *condition, nodes int) (float64, bool) {
	job, err := p.bench.job(q, c, nodes)
	if err != nil {
		return 0, false
	}
	return q.Claim.Prediction(settingOf(job))
}
