package validate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"dmebench/dme"
	"dmebench/internal/run"
	"dmebench/result"
)

// plan holds the questions, and the runs that answer them.
type plan struct {
	ctx       context.Context // planning ends early once it is cancelled
	opt       *Options
	effort    effort
	bench     *bench
	questions []*question
	cells     []*cell
	byKey     map[string]*cell
}

// newPlan plans the runs for every claim of the algorithms: nothing is run yet.
func newPlan(ctx context.Context, o *Options, e effort, subjects []*dme.Algorithm) *plan {
	p := &plan{ctx: ctx, opt: o, effort: e, bench: newBench(o), byKey: make(map[string]*cell)}
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
	for _, c := range a.Claims {
		q := p.ask(a, c)
		p.questions = append(p.questions, q)
		if q.reason == "" && !q.everywhere() {
			key := Written(q.set)
			if bySet[key] == nil {
				order = append(order, key)
			}
			bySet[key] = append(bySet[key], q)
		}
	}
	for _, key := range order {
		p.bench.forget()
		p.schedule(a, bySet[key])
	}
	for _, q := range p.questions[first:] {
		if q.reason == "" && len(q.cells) == 0 && len(q.points) == 0 && !q.everywhere() {
			q.reason = "its condition is met at none of the sizes and loads that are run"
		}
	}
}

// ask chooses how a claim is to be measured and under which options.
func (p *plan) ask(a *dme.Algorithm, c dme.Claim) *question {
	q := &question{algorithm: a, claim: c, predicted: make(map[*cell]float64)}
	m, told := meterFor(c.Quantity, a)
	q.meter = m
	switch {
	case c.Measure != nil, c.Load == dme.Static && c.Quantity == dme.QuorumSize:
	case c.Load == dme.Static:
		q.reason = "no run tells it, and the claim does not say how the construction does"
	case c.Load == dme.Faults:
		q.reason = "waits for fault injection"
	case !told:
		q.reason = "the result of a run does not tell it"
	}
	if q.reason != "" && c.Test != "" {
		q.reason += "; " + c.Test + " of its package measures it"
	}
	if q.reason != "" {
		return q
	}
	if q.everywhere() {
		return q
	}
	most := 0
	for _, set := range optionSets(a, &c) {
		if n := p.reach(q, set); n > most {
			q.set, most = set, n
		}
	}
	if most == 0 {
		q.reason = "no option and no size meet its condition here"
	}
	return q
}

// probes are sizes among which there is one for every construction: planes,
// complete trees, squares, cubes, and none of them.
var probes = []int{7, 8, 9, 13, 15, 27}

// reach returns under how many of the plain conditions a claim can be asked with
// these options.
func (p *plan) reach(q *question, set map[string]string) int {
	n := 0
	for _, c := range conditions(p.opt.Transport) {
		if q.static() {
			c = conditions(result.Sim)[0]
		} else if !c.plain || !q.under(&c) {
			continue
		}
		if slices.ContainsFunc(probes, func(nodes int) bool {
			_, ok := p.predict(q, set, &c, p.opt.Transport, nodes)
			return ok
		}) {
			n++
		}
	}
	return n
}

// static reports whether the construction answers, and no run.
func (q *question) static() bool {
	return q.claim.Measure != nil || q.claim.Load == dme.Static
}

// predict evaluates a claim for runs under a condition; ok is false where there
// can be no such runs or the claim is not made for them.
func (p *plan) predict(q *question, set map[string]string, c *condition, network string, nodes int) (float64, bool) {
	job, err := p.bench.job(q.algorithm, set, c, network, nodes)
	if err != nil {
		return 0, false
	}
	x, ok := q.claim.Predict(settingOf(job))
	return x, ok && !math.IsNaN(x) && !math.IsInf(x, 0)
}

// schedule plans the runs of an algorithm under one set of options.
func (p *plan) schedule(a *dme.Algorithm, questions []*question) {
	network := p.opt.Transport
	ladder := p.effort.ladder
	if network != result.Sim {
		ladder = smallReal
	}
	sizes := p.sizes(questions, network, ladder)
	if slices.ContainsFunc(questions, (*question).static) {
		var many []int
		for _, q := range questions {
			switch {
			case !q.static():
			case q.growth():
				if many == nil {
					many = slices.Concat(sizes, p.sizes(questions, result.Sim, p.effort.wide))
				}
				p.construct(q, many)
			default:
				p.construct(q, slices.DeleteFunc(slices.Clone(sizes), func(n int) bool { return n > determined }))
				if q.reason != "" {
					q.reason = ""
					p.construct(q, p.sizes([]*question{q}, result.Sim, probes))
				}
			}
		}
	}
	var asked, slow []*question
	for _, q := range questions {
		if !q.static() {
			asked = append(asked, q)
		}
	}
	p.add(asked, network, sizes, false)
	for _, q := range asked {
		if len(sizesOf(q)) < 2 {
			own := append(slices.Clone(ladder), rare...)
			if network != result.Sim {
				own = ladder
			}
			p.add([]*question{q}, network, p.sizes([]*question{q}, network, own), false)
		}
		if network == result.Sim && q.slow() {
			slow = append(slow, q)
		}
	}
	if len(slow) == 0 {
		return
	}
	deciding := mostParticular(slow)
	p.add(slow, result.Sim, p.regularSizes(deciding, result.Sim, p.effort.wide), true)
	plain := slices.DeleteFunc(slow, func(q *question) bool {
		return !q.growth() && q.claim.Load != dme.Light && q.claim.Load != dme.Saturated
	})
	p.add(plain, realNetwork, p.regularSizes(deciding, realNetwork, p.effort.real), true)
}

// rare are further sizes for claims that are made at few of the ladder's.
var rare = []int{27, 64}

// mostParticular returns a few of the questions that decide which sizes are the
// right ones: exact claims are made for regular constructions alone.
func mostParticular(questions []*question) []*question {
	const few = 5
	order := slices.Clone(questions)
	rank := func(q *question) int {
		return slices.Index([]dme.ClaimKind{dme.Exact, dme.Asymptotic, dme.Mean}, q.claim.Kind) & 3
	}
	slices.SortStableFunc(order, func(a, b *question) int { return cmp.Compare(rank(a), rank(b)) })
	return order[:min(few, len(order))]
}

// determined is the largest size at which a claim determines its quantity from
// the construction, where it is not for its growth: some look at every subset.
const determined = 32

// realNetwork is the network over which growth is measured beside the simulated
// one.
const realNetwork = "tcp"

// slow reports whether the claim is worth many sizes: it is about growth, or
// about messages of the algorithm as it comes that grow more slowly than the
// nodes do.
func (q *question) slow() bool {
	if q.claim.Kind == dme.Asymptotic {
		return true
	}
	if q.claim.Quantity != dme.MessagesPerCS || len(q.set) > 0 {
		return false
	}
	type end struct{ n, x float64 }
	var least, most end
	for c, x := range q.predicted {
		n := float64(c.spec.Nodes)
		if least.n == 0 || n < least.n {
			least = end{n, x}
		}
		if n > most.n {
			most = end{n, x}
		}
	}
	if least.x <= 0 || most.n < 2*least.n {
		return false
	}
	slope := math.Log(most.x/least.x) / math.Log(most.n/least.n)
	return slope > 0.25 && slope < 0.8
}

// sizes chooses for each rung the size at which most of the claims are made,
// the nearest of several.
func (p *plan) sizes(questions []*question, network string, ladder []int) []int {
	var chosen []int
	for _, rung := range ladder {
		if p.ctx.Err() != nil {
			break
		}
		if n, _ := p.size(questions, network, rung); n > 0 {
			chosen = append(chosen, n)
		}
	}
	slices.Sort(chosen)
	return slices.Compact(chosen)
}

// regularSizes chooses like sizes, but leaves out rungs near which there is no
// size as regular as elsewhere: a growth over cubes and other meshes would be
// two growths.
func (p *plan) regularSizes(questions []*question, network string, ladder []int) []int {
	most := 0
	claims := make(map[int]int)
	for _, rung := range ladder {
		if p.ctx.Err() != nil {
			break
		}
		if n, made := p.size(questions, network, rung); n > 0 {
			claims[n] = made
			most = max(most, made)
		}
	}
	var chosen []int
	for n, made := range claims {
		if made == most {
			chosen = append(chosen, n)
		}
	}
	slices.Sort(chosen)
	return chosen
}

// size returns the size near a rung at which most of the claims are made, and
// how many; 0 where none is.
func (p *plan) size(questions []*question, network string, rung int) (size, most int) {
	if rung > manyNodes {
		p.bench.forget()
	}
	for _, n := range near(rung) {
		if p.opt.Progress != nil {
			p.opt.Progress(0, 0, fmt.Sprintf("%s, N = %d", questions[0].algorithm.Name, n))
		}
		made := 0
		for _, q := range questions {
			if p.made(q, network, n) {
				made++
			}
		}
		if made > most {
			size, most = n, made
		}
		if most == len(questions) {
			break
		}
	}
	return size, most
}

// manyNodes is the size from which on prepared systems are not kept.
const manyNodes = 1000

// made reports whether a claim is made for n nodes under one of the conditions
// that are measured at most sizes.
func (p *plan) made(q *question, network string, n int) bool {
	if q.static() {
		c := conditions(result.Sim)[0]
		_, ok := p.predict(q, q.set, &c, result.Sim, n)
		return ok
	}
	all := conditions(network)
	for _, wide := range []bool{true, false} {
		for _, c := range all {
			if c.plain && q.under(&c) && c.wide == wide {
				if _, ok := p.predict(q, q.set, &c, network, n); ok {
					return true
				}
			}
		}
	}
	return false
}

// add plans runs for claims at the sizes, under every condition that makes their
// loads. Growth is measured under fewer conditions, and times not at all.
func (p *plan) add(questions []*question, network string, sizes []int, growth bool) {
	for _, n := range sizes {
		if p.ctx.Err() != nil {
			break
		}
		if n > manyNodes {
			p.bench.forget()
		}
		planned := make(map[*question]bool)
		for _, c := range conditions(network) {
			if growth && !c.wide || !c.plain && n > p.effort.others {
				continue
			}
			for _, q := range questions {
				if !q.under(&c) || c.rare && planned[q] || growth && network != result.Sim && q.meter.timed {
					continue
				}
				if x, ok := p.predict(q, q.set, &c, network, n); ok {
					if cell := p.cell(q, &c, network, n, growth); cell != nil {
						q.attach(cell, x)
						planned[q] = true
					}
				}
			}
		}
	}
}

func (q *question) attach(c *cell, predicted float64) {
	if _, ok := q.predicted[c]; !ok {
		q.cells = append(q.cells, c)
		q.predicted[c] = predicted
	}
}

// cell returns the runs of a question's algorithm under a condition, which it
// plans if no other claim has done so; nil where they would be too dear.
func (p *plan) cell(q *question, c *condition, network string, nodes int, growth bool) *cell {
	key := fmt.Sprint(q.algorithm.Name, "|", Written(q.set), "|", c.name, "|", network, "|", nodes)
	known, ok := p.byKey[key]
	if !ok {
		job, err := p.bench.job(q.algorithm, q.set, c, network, nodes)
		if err != nil {
			return nil
		}
		known = p.newCell(q, c, job, growth)
		p.byKey[key] = known
		if known != nil {
			p.cells = append(p.cells, known)
		}
	}
	if known != nil {
		known.wide = known.wide || growth
		known.growth = known.growth || q.growth()
	}
	if known != nil && q.claim.Load == dme.Worst && !known.real() && nodes <= p.effort.others {
		known.repetitions = max(known.repetitions, searches*p.effort.repetitions)
	}
	return known
}

// searches is how many times more runs there are where the worst is looked for.
const searches = 3

func (p *plan) newCell(q *question, c *condition, job *run.Job, growth bool) *cell {
	setting := settingOf(job)
	each := perEntry(q.algorithm, setting)
	effort := p.effort
	if job.Network.Real() {
		effort.perNode, effort.messages = 30, 1e5
	}
	requests := c.requests(job.Spec.Nodes, each, q.algorithm.Dynamic, &effort)
	if requests == 0 {
		return nil
	}
	x := &cell{
		algorithm: q.algorithm, condition: *c, repetitions: p.effort.repetitions,
		spec: job.Spec, cost: float64(requests) * each, members: otherMembers(setting),
	}
	x.spec.Requests = requests
	switch {
	case growth && x.real():
		x.repetitions = p.effort.onReal
	case job.Spec.Nodes > slices.Max(p.effort.ladder):
		x.repetitions = p.effort.onWide
	}
	if x.real() {
		x.setting = setting
	}
	return x
}

// sizesOf returns the sizes at which a question is asked.
func sizesOf(q *question) []int {
	var sizes []int
	for _, c := range q.cells {
		sizes = append(sizes, c.spec.Nodes)
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// work is one run of the plan.
type work struct {
	cell       *cell
	repetition int
}

// pending returns the runs that have not been carried out, in the order in which
// they are: every cell gets the repetitions that an interval needs before any
// gets more, and the cheap come before the dear.
func (p *plan) pending(real bool) []work {
	var all []work
	for _, c := range p.cells {
		for k := range c.repetitions {
			if c.real() == real && (k >= len(c.samples) || c.samples[k] == nil) {
				all = append(all, work{c, k})
			}
		}
	}
	round := func(w work) int {
		if real { // few, and dear: every size once before any twice
			return w.repetition
		}
		return w.repetition / leastForInterval
	}
	slices.SortStableFunc(all, func(a, b work) int {
		return cmp.Or(cmp.Compare(round(a), round(b)), cmp.Compare(a.cell.urgency(), b.cell.urgency()))
	})
	return all
}

func (c *cell) urgency() float64 {
	if c.growth || c.wide {
		return c.cost / 20
	}
	return c.cost
}

// leastForInterval is the number of repetitions from which on an interval is
// narrow enough to say something.
const leastForInterval = 6
