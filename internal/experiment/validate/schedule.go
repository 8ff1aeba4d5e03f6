package validate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"dmebench/claims"
	"dmebench/dme/claim"
	"dmebench/runs"
)

func (p *plan) schedule(questions []*question) {
	network := p.opt.Transport
	ladder, own := p.effort.ladder, append(slices.Clone(p.effort.ladder), rare...)
	if network != runs.Sim {
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
				many = slices.Concat(sizes, p.sizes(questions, runs.Sim, p.effort.wide))
			}
			p.construct(q, many)
		default:
			p.construct(q, slices.DeleteFunc(slices.Clone(sizes), func(n int) bool { return n > determined }))
			if len(q.evidence) == 0 {
				p.construct(q, p.sizes([]*question{q}, runs.Sim, probes))
			}
		}
	}
	p.add(asked, network, sizes, false)
	for _, q := range asked {
		if len(sizesOf(q)) < 2 {
			p.add([]*question{q}, network, p.sizes([]*question{q}, network, own), false)
		}
		if network == runs.Sim && q.slow() {
			slow = append(slow, q)
		}
	}
	if len(slow) == 0 {
		return
	}
	deciding := mostParticular(slow)
	p.add(slow, runs.Sim, p.regularSizes(deciding, runs.Sim, p.effort.wide), true)
	plain := slices.DeleteFunc(slow, func(q *question) bool {
		return !q.Growth() && q.Claim.Load != claim.Light && q.Claim.Load != claim.Saturated
	})
	p.add(plain, realNetwork, p.regularSizes(deciding, realNetwork, p.effort.real), true)
}

func (p *plan) construct(q *question, sizes []int) {
	slices.Sort(sizes)
	for _, n := range slices.Compact(sizes) {
		if job, err := p.bench.job(q, &p.ways[runs.Sim][0], n); err == nil {
			if e, ok := claims.Construct(q.Claim, settingOf(job)); ok {
				q.evidence = append(q.evidence, e)
			}
		}
	}
	if q.Unanswerable = ""; len(q.evidence) == 0 {
		q.unanswerable("the construction decides it at none of the sizes tried")
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
		return slices.Index([]claim.Kind{claim.Exact, claim.Asymptotic, claim.Mean}, q.Claim.Kind) & 3
	}
	slices.SortStableFunc(order, func(a, b *question) int { return cmp.Compare(rank(a), rank(b)) })
	return order[:min(few, len(order))]
}

// determined is the largest size at which a claim determines its quantity from the construction, if
// it is not for its growth: some look at every subset.
const determined = 32

// realNetwork is that over which growth is measured beside the simulated one.
const realNetwork = "tcp"

// slow reports whether the claim is worth many sizes: it is about growth, or
// about messages of the algorithm as it comes that grow more slowly than the
// nodes do.
func (q *question) slow() bool {
	if q.Claim.Kind == claim.Asymptotic {
		return true
	}
	if q.Claim.Quantity != claim.MessagesPerCS || len(q.Set) > 0 {
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

// sizes chooses for each rung the nearest size at which most claims are made.
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

// claimsAt chooses sizes and says how many of the claims are made there.
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

// size returns the size near a rung at which most claims are made, and how many.
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
			if slices.ContainsFunc(p.plain(q, network), func(c *condition) bool { return p.made(q, c, n) }) {
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
		for i := range p.ways[network] {
			c := &p.ways[network][i]
			if growth && !c.wide || !c.plain && n > p.effort.others {
				continue
			}
			for _, q := range questions {
				if !q.under(c) || c.rare && planned[q] || growth && network != runs.Sim && q.Claim.Quantity.Timed() {
					continue
				}
				planned[q] = p.plan(q, &q.cells, c, n, growth) || planned[q]
			}
		}
	}
}

// plan has a condition answer a question at one size; it reports whether it can.
func (p *plan) plan(q *question, cells *[]*cell, c *condition, nodes int, growth bool) bool {
	x, ok := p.predict(q, c, nodes)
	if !ok {
		return false
	}
	cell := p.cell(q, c, nodes, growth)
	if cell != nil {
		q.attach(cells, cell, x)
	}
	return cell != nil
}
