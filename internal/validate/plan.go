package validate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"dmebench/claims"
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
	byPlace   map[place]*cell
}

// newPlan plans the runs for every claim of the algorithms: nothing is run yet.
func newPlan(ctx context.Context, o *Options, e effort, subjects []*dme.Algorithm) *plan {
	p := &plan{ctx: ctx, opt: o, effort: e, bench: newBench(o), byPlace: make(map[place]*cell)}
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
		q.unanswerable("waits for fault injection")
	case !claims.Told(c.Quantity):
		q.unanswerable("the result of a run does not tell it")
	}
	if q.Unanswerable != "" || claims.Everywhere(q.Claim) {
		return q
	}
	most := 0
	for _, set := range optionSets(a, &c) {
		if n := p.reach(q, set); n > most {
			q.Set, most = set, n
		}
	}
	if most == 0 {
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
// these options.
func (p *plan) reach(q *question, set map[string]string) int {
	n := 0
	for _, c := range conditions(p.opt.Transport) {
		if q.Static() {
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

// predict evaluates a claim for runs under a condition; ok is false where there
// can be no such runs or the claim is not made for them.
func (p *plan) predict(q *question, set map[string]string, c *condition, network string, nodes int) (float64, bool) {
	job, err := p.bench.job(q.Algorithm, set, c, network, nodes)
	if err != nil {
		return 0, false
	}
	return claims.Predict(q.Claim, settingOf(job))
}

// schedule plans the runs of an algorithm under one set of options.
func (p *plan) schedule(questions []*question) {
	network := p.opt.Transport
	ladder, own := p.effort.ladder, append(slices.Clone(p.effort.ladder), rare...)
	if network != result.Sim {
		ladder, own = smallReal, smallReal
	}
	sizes := p.sizes(questions, network, ladder)
	var many []int // sizes at which the construction is looked at for a growth
	var asked, slow []*question
	for _, q := range questions {
		switch {
		case !q.Static():
			asked = append(asked, q)
		case q.Growth():
			if many == nil {
				many = slices.Concat(sizes, p.sizes(questions, result.Sim, p.effort.wide))
			}
			p.construct(q, many)
		default:
			p.construct(q, slices.DeleteFunc(slices.Clone(sizes), func(n int) bool { return n > determined }))
			if len(q.evidence) == 0 {
				p.construct(q, p.sizes([]*question{q}, result.Sim, probes))
			}
		}
	}
	p.add(asked, network, sizes, false)
	for _, q := range asked {
		if len(sizesOf(q)) < 2 {
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
		return !q.Growth() && q.Claim.Load != dme.Light && q.Claim.Load != dme.Saturated
	})
	p.add(plain, realNetwork, p.regularSizes(deciding, realNetwork, p.effort.real), true)
}

// construct answers a question from the construction, without a run.
func (p *plan) construct(q *question, sizes []int) {
	slices.Sort(sizes)
	for _, n := range slices.Compact(sizes) {
		job, err := p.bench.job(q.Algorithm, q.Set, &conditions(result.Sim)[0], result.Sim, n)
		if err != nil {
			continue
		}
		if e, ok := claims.Construct(q.Claim, settingOf(job)); ok {
			q.evidence = append(q.evidence, e)
		}
	}
	if q.Unanswerable = ""; len(q.evidence) == 0 {
		q.unanswerable("the construction does not tell it at any size that is tried")
	}
}

// rare are further sizes for claims that are made at few of the ladder's.
var rare = []int{27, 64}

// mostParticular returns a few of the questions that decide which sizes are the
// right ones: exact claims are made for regular constructions alone.
func mostParticular(questions []*question) []*question {
	const few = 5
	order := slices.Clone(questions)
	rank := func(q *question) int {
		return slices.Index([]dme.ClaimKind{dme.Exact, dme.Asymptotic, dme.Mean}, q.Claim.Kind) & 3
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
	if q.Claim.Kind == dme.Asymptotic {
		return true
	}
	if q.Claim.Quantity != dme.MessagesPerCS || len(q.Set) > 0 {
		return false
	}
	type end struct{ n, x float64 }
	var least, most end
	for c, x := range q.predicted {
		n := float64(c.Spec.Nodes)
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
	return slices.Sorted(maps.Keys(p.claimsAt(questions, network, ladder)))
}

// regularSizes chooses like sizes, but leaves out rungs near which there is no
// size as regular as elsewhere: a growth over cubes and other meshes would be
// two growths.
func (p *plan) regularSizes(questions []*question, network string, ladder []int) []int {
	made := p.claimsAt(questions, network, ladder)
	most := 0
	for _, claims := range made {
		most = max(most, claims)
	}
	maps.DeleteFunc(made, func(_, claims int) bool { return claims < most })
	return slices.Sorted(maps.Keys(made))
}

// claimsAt chooses a size for each rung and says how many of the claims are made
// there.
func (p *plan) claimsAt(questions []*question, network string, ladder []int) map[int]int {
	claims := make(map[int]int)
	for _, rung := range ladder {
		if p.ctx.Err() != nil {
			break
		}
		if n, made := p.size(questions, network, rung); n > 0 {
			claims[n] = made
		}
	}
	return claims
}

// size returns the size near a rung at which most of the claims are made, and
// how many; 0 where none is.
func (p *plan) size(questions []*question, network string, rung int) (size, most int) {
	if rung > manyNodes {
		p.bench.forget()
	}
	for _, n := range near(rung) {
		if p.opt.Progress != nil {
			p.opt.Progress(0, 0, fmt.Sprintf("%s, N = %d", questions[0].Algorithm.Name, n))
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
	if q.Static() {
		c := conditions(result.Sim)[0]
		_, ok := p.predict(q, q.Set, &c, result.Sim, n)
		return ok
	}
	all := conditions(network)
	for _, wide := range []bool{true, false} {
		for _, c := range all {
			if c.plain && q.under(&c) && c.wide == wide {
				if _, ok := p.predict(q, q.Set, &c, network, n); ok {
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
				if !q.under(&c) || c.rare && planned[q] || growth && network != result.Sim && q.Claim.Quantity.Timed() {
					continue
				}
				planned[q] = p.plan(q, &q.cells, &c, network, n, growth) || planned[q]
			}
		}
	}
}

// plan has a condition answer a question at one size; it reports whether it can.
func (p *plan) plan(q *question, cells *[]*cell, c *condition, network string, nodes int, growth bool) bool {
	x, ok := p.predict(q, q.Set, c, network, nodes)
	if !ok {
		return false
	}
	cell := p.cell(q, c, network, nodes, growth)
	if cell != nil {
		q.attach(cells, cell, x)
	}
	return cell != nil
}

// cell returns the runs of a question's algorithm under a condition, which it
// plans if no other claim has done so; nil where they would be too dear.
func (p *plan) cell(q *question, c *condition, network string, nodes int, growth bool) *cell {
	key := place{q.Algorithm.Name, result.Settings(q.Set), c.name, network, nodes}
	known, ok := p.byPlace[key]
	if !ok {
		job, err := p.bench.job(q.Algorithm, q.Set, c, network, nodes)
		if err != nil {
			return nil
		}
		known = p.newCell(q, c, job, growth)
		p.byPlace[key] = known
		if known != nil {
			p.cells = append(p.cells, known)
		}
	}
	if known == nil {
		return nil
	}
	known.wide = known.wide || growth
	known.growth = known.growth || q.Growth()
	if q.Claim.Load == dme.Worst && !known.Real() && nodes <= p.effort.others {
		known.repetitions = max(known.repetitions, searches*p.effort.repetitions)
	}
	return known
}

// searches is how many times more runs there are where the worst is looked for.
const searches = 3

func (p *plan) newCell(q *question, c *condition, job *run.Job, growth bool) *cell {
	setting := settingOf(job)
	each := perEntry(q.Algorithm, setting)
	effort := p.effort
	if job.Network.Real() {
		effort.perNode, effort.messages = 30, 1e5
	}
	requests := c.requests(job.Spec.Nodes, each, q.Algorithm.Dynamic, &effort)
	if requests == 0 {
		return nil
	}
	x := &cell{
		Cell:      claims.Cell{Condition: c.name, Spec: job.Spec, Isolated: c.Isolated(), Dynamic: q.Algorithm.Dynamic},
		algorithm: q.Algorithm, set: q.Set, repetitions: p.effort.repetitions,
		cost: float64(requests) * each, members: otherMembers(setting),
	}
	x.Spec.Requests = requests
	switch {
	case growth && x.Real():
		x.repetitions = p.effort.onReal
	case job.Spec.Nodes > slices.Max(p.effort.ladder):
		x.repetitions = p.effort.onWide
	}
	if x.Real() {
		x.Setting = setting
	}
	return x
}

// sizesOf returns the sizes at which a question is asked.
func sizesOf(q *question) []int {
	var sizes []int
	for _, c := range q.cells {
		sizes = append(sizes, c.Spec.Nodes)
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
			if c.Real() == real && (k >= len(c.runs) || c.runs[k] == nil) {
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
