package validate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dmebench/claims"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
)

type place struct {
	algorithm, set, condition, network string
	nodes                              int
}

type cell struct {
	claims.Cell
	algorithm   *dme.Algorithm
	set         map[string]string // of the algorithm's options
	repetitions int
	cost        float64 // messages of one run, as estimated
	doubted     bool    // there are more repetitions than planned, because those left something open
	wide        bool    // one of many sizes, over which a growth is measured
	growth      bool    // a claim about growth rests on it
	members     float64 // K−1, mean over the nodes; NaN if there are no request sets

	overtaking claim.Overtaking // how often a node may be overtaken

	runs []*runs.Result // by repetition; nil if it was not run
}

// usable gathers the results whose numbers can be used, in the order of their
// seeds, as one of that many means that are compared.
func (c *cell) usable(compared int) *claims.Cell {
	c.Compared = compared
	c.Results = slices.DeleteFunc(slices.Clone(c.runs), func(r *runs.Result) bool { return !runs.Usable(r) })
	return &c.Cell
}

func (c *cell) unfinished() bool { return len(c.runs) == 0 || slices.Contains(c.runs, nil) }

// cell returns the runs of a question's algorithm under a condition, which it plans if no other
// claim has done so; nil if they would be too expensive.
func (p *plan) cell(q *question, c *condition, nodes int, growth bool) *cell {
	key := place{q.Algorithm.Name, runs.Settings(q.Set), c.name, c.network, nodes}
	known, ok := p.byPlace[key]
	if !ok {
		job, err := p.bench.job(q, c, nodes)
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
	if q.gauged() && !known.Real() {
		known.Spec.Set["gauges"] = "on"
	}
	if (q.Claim.Load == claim.Worst || q.scatters()) && !known.Real() && nodes <= p.effort.others {
		known.repetitions = max(known.repetitions, searches*p.effort.repetitions)
	}
	return known
}

// searches is how many times more runs there are where the worst is looked for.
const searches = 3

func (p *plan) newCell(q *question, c *condition, job *run.Job, growth bool) *cell {
	setting := settingOf(job)
	each := cmp.Or(claim.PerEntry(q.Algorithm, setting, claim.AnyLoad), 3*float64(setting.Nodes))
	effort := p.effort
	effort.isolated = 2000
	if job.Network.Real() {
		effort.perNode, effort.messages = 30, 1e5
		if p.opt.Transport != runs.Sim { // several short runs tell more than a long one
			effort.isolated = 400
		}
	}
	requests := c.requests(job.Spec.Nodes, each, q.Algorithm.Dynamic, &effort)
	if requests == 0 {
		return nil
	}
	x := &cell{
		Cell: claims.Cell{
			Condition: c.name, Spec: job.Spec, Isolated: c.Isolated(), Dynamic: q.Algorithm.Dynamic, Perpetual: q.Algorithm.Endless(job.Options),
		},
		algorithm: q.Algorithm, set: q.Set, repetitions: p.effort.repetitions,
		cost: float64(requests) * each, members: otherMembers(setting),
		overtaking: claim.OvertakingBound(claim.Of(q.Algorithm), setting, c.Ordered),
	}
	x.Spec.Requests = requests
	if !x.Real() {
		x.Spec.Warmup = c.warmup(job.Spec.Nodes, requests, q.Algorithm.Dynamic)
	}
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

func sizesOf(q *question) []int {
	var sizes []int
	for _, c := range q.cells {
		sizes = append(sizes, c.Spec.Nodes)
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

type work struct {
	cell       *cell
	repetition int
}

// pending returns the runs that have not been carried out, in the order in which
// they are: every cell gets the repetitions that an interval needs before any
// gets more, over a real network every cell one before any gets two, and the cheap come before the
// expensive.
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
		if real && w.repetition > 0 {
			return 1 + w.repetition/leastForInterval
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

// leastForInterval is how many repetitions make an interval that says something.
const leastForInterval = 6

// otherMembers returns K−1, the mean number of other nodes in a request set.
func otherMembers(s dme.Setting) float64 {
	sum := 0
	for id := dme.NodeID(1); int(id) <= s.Nodes; id++ {
		set := s.RequestSet(id)
		if set == nil {
			return math.NaN()
		}
		sum += len(set)
		if slices.Contains(set, id) {
			sum--
		}
	}
	return float64(sum) / float64(s.Nodes)
}

// bench prepares jobs to evaluate predictions on. Their systems, which are the
// same under many conditions, it prepares once.
type bench struct {
	catalog run.Catalog
	seed    uint64
	systems map[string]system
}

type system struct {
	dme.System
	err error
}

func newBench(o *Options) *bench {
	b := &bench{seed: o.Seed, systems: make(map[string]system)}
	for _, a := range o.Catalog {
		once := *a
		once.Prepare = func(c dme.Config) (dme.System, error) {
			// The catalog's options name no files here: these decide everything.
			key := fmt.Sprint(a.Name, c.Nodes, c.Seed, c.Bound, c.Options)
			s, ok := b.systems[key]
			if !ok {
				s.System, s.err = a.Prepare(c)
				b.systems[key] = s
			}
			return s.System, s.err
		}
		b.catalog = append(b.catalog, &once)
	}
	return b
}

func (b *bench) forget() { clear(b.systems) }

// job resolves a run that answers a question; its number of requests is left open.
func (b *bench) job(q *question, c *condition, nodes int) (*run.Job, error) {
	spec := c.spec(q.Algorithm.Name, q.Set, nodes)
	spec.Seed = b.seed
	return run.Resolve(spec, b.catalog, nil)
}

// settingOf is what predictions for the runs of a job depend on.
func settingOf(j *run.Job) dme.Setting {
	s := j.Setting()
	s.T = messageDelay
	return s
}
