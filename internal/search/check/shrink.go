package check

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// Bounds on the effort to shorten a schedule, in steps and states: the same on every machine.
const (
	shrinkingSteps  = 400_000
	otherSteps      = 300_000 // at most; fewer for a schedule that is short already
	shrinkingStates = 150_000
)

// shrink returns a schedule that breaks the same property, and from which no single step can be
// left out: ever smaller parts are dropped (Zeller, Hildebrandt, Simplifying and Isolating
// Failure-Inducing Input, IEEE TSE 28(2), 2002). At first what remains is run on to its end if
// nothing is broken at once, so that a system that stalls does so with all its messages delivered;
// then it has to do with its own steps.
//
// That is a valley among many. So other short schedules are drawn, which ask no more often, and the
// best of them is taken; and in the end all states are searched that the requests of the best lead
// to, as far as they are few: then there is no shorter schedule of these requests.
//
// If ctx ends, the schedule stays as short as it is then.
func (s *Search) shrink(ctx context.Context, p plan, steps []vnet.Step, property vnet.Property) *Trace {
	r := &shrinker{Search: s, ctx: ctx, plan: p, property: property, left: shrinkingSteps}
	best := r.minimal(steps)
	switch property {
	case Starvation:
		best, p = r.sooner(best)
	case Liveness, Rest: // no short schedule shows these
	default:
		m := *p.model
		m.Requests = func(id dme.NodeID) int {
			if s.Requesters != nil && !slices.Contains(s.Requesters, id) {
				return 0
			}
			return s.Requests
		}
		free := &shrinker{Search: s, ctx: ctx, plan: plan{model: &m}, property: property, left: shrinkingSteps}
		if less := free.shortest(free.others(best)); len(less) < len(best) {
			best, p = less, free.plan
		}
	}
	t, _ := s.replay(p, best, false)
	if t.Violation.Property != property { // a cycle, which shows itself in the end alone
		t, _ = s.replay(p, best, true)
	}
	return t
}

type shrinker struct {
	*Search
	ctx      context.Context
	plan     plan
	property vnet.Property
	left     int // steps that may still be taken
}

// fails repeats a schedule. If it breaks the property it returns the steps that were taken.
func (s *shrinker) fails(steps []vnet.Step, finish bool) (taken []vnet.Step, ok bool) {
	r := newRun(s.Search, s.plan, make([]vnet.Step, 0, len(steps)))
	r.repeat(steps, finish)
	s.left -= len(r.taken) + s.Nodes
	return r.taken, r.Violation != nil && r.Violation.Property == s.property
}

// minimal drops from a schedule that breaks the property what can be dropped. If nothing else fails
// there is only the schedule as it was: the plain end takes another turn than chance did.
func (s *shrinker) minimal(steps []vnet.Step) []vnet.Step {
	best := steps
	if taken, ok := s.fails(steps, true); ok {
		best = s.reduce(taken, shorter(taken, steps), true)
	}
	if taken, ok := s.fails(best, false); ok {
		best = s.reduce(taken, taken, false)
	}
	return best
}

// reduce drops what can be dropped. What is kept, and how the network runs on then, make up best.
func (s *shrinker) reduce(best, kept []vnet.Step, finish bool) []vnet.Step {
	try := func(less []vnet.Step) bool {
		taken, ok := s.fails(less, finish)
		if !ok || len(taken) > len(best) {
			return false
		}
		best, kept = taken, shorter(taken, less)
		return true
	}
	for id := range s.plan.model.IDs() { // all that a node has asked for
		if s.ctx.Err() != nil {
			return best
		}
		try(slices.DeleteFunc(slices.Clone(kept), func(x vnet.Step) bool { return asks(x) && x.Node == id }))
	}
	for size := (len(kept) + 1) / 2; size > 0; {
		dropped := false
		for at := 0; at < len(kept); {
			if s.left <= 0 || s.ctx.Err() != nil {
				return best
			}
			to := min(at+size, len(kept))
			if try(slices.Concat(kept[:at], kept[to:])) {
				dropped = true
			} else {
				at = to
			}
		}
		switch {
		case size > 1:
			size /= 2
		case !dropped:
			size = 0
		}
	}
	return best
}

// others draws schedules with no more requests, and returns the shortest once it is made minimal.
func (s *shrinker) others(best []vnet.Step) []vnet.Step {
	rng := rand.New(rand.NewPCG(s.plan.model.Seed, 0x5403))
	m := *s.plan.model
	const each = 500 // times the square of the length
	for left := min(otherSteps, each*len(best)*len(best)); left > 0 && s.ctx.Err() == nil; {
		asked := 0
		for _, x := range best {
			if asks(x) {
				asked++
			}
		}
		requests := vary(rng, s.Nodes, max(1, asked))
		m.Requests = requestsOf(requests)
		r := s.random(s.ctx, rng, &m, 3*len(best), nil)
		left -= r.Steps + s.Nodes
		if r.Violation == nil || r.Violation.Property != s.property {
			continue
		}
		s.left = left
		less := s.minimal(r.taken)
		left = s.left
		if taken, ok := s.fails(less, false); ok && len(taken) < len(best) {
			best = taken
		}
	}
	return best
}

// sooner returns a schedule that starves a node by holding things back for as few steps as any.
func (s *shrinker) sooner(best []vnet.Step) ([]vnet.Step, plan) {
	rng := rand.New(rand.NewPCG(s.plan.model.Seed, 0x500e))
	p := s.plan
	for left := otherSteps; left > 0 && s.ctx.Err() == nil; {
		other := s.plan
		other.patience, other.seed = leastPatience(s.Nodes), rng.Uint64()
		r := s.starve(s.ctx, other, nil)
		left -= r.Steps
		if r.Violation != nil && r.Violation.Property == Starvation && len(r.taken) < len(best) {
			best, p = r.taken, other
		}
	}
	return best, p
}

// shortest returns the shortest schedule of the best one's requests, if it leads to few states.
func (s *shrinker) shortest(best []vnet.Step) []vnet.Step {
	requests := make([]int, s.Nodes+1)
	for _, x := range best {
		if asks(x) {
			requests[x.Node]++
		}
	}
	m := *s.plan.model
	m.Requests = requestsOf(requests)
	if s.property != vnet.Overtaking {
		m.Bypass = 0 // to count would tell apart more states
	}
	search := *s.Search
	search.Options.States, search.Workers, search.Memory, search.Time, search.Progress = shrinkingStates, 1, 0, 0, nil
	search.Reduce, search.Bitstate, search.Reach = false, 0, nil // for the shortest, and what they find is shortened here
	search.model = &m
	r, err := search.Exhaustive(s.ctx)
	if err != nil || r.Trace == nil || r.Violation.Property != s.property || len(r.Trace.Events) >= len(best) {
		return best
	}
	if taken, ok := s.fails(r.Trace.Steps(), false); ok {
		return taken
	}
	return best
}

func asks(x vnet.Step) bool { return x.Kind == dme.Request || x.Kind == dme.RequestShared }

func shorter(a, b []vnet.Step) []vnet.Step {
	if len(a) <= len(b) {
		return a
	}
	return b
}

// Part is what came of some of the schedules of a random search: a range of them that
// was run elsewhere, one after the other. It travels as JSON.
type Part struct {
	First int `json:"first"` // schedule, counted from 0: its seed is the search's plus this
	Done  int `json:"done"`  // schedules that were run, up to the one that broke a property

	Tally
	Broken bool `json:"broken,omitempty"` // the last that was run broke a property
}

// Tally is what is counted in random schedules, up to the one that broke a property, or, of
// an exhaustive search, from all states.
type Tally struct {
	Steps   uint64 `json:"steps"`
	Entries uint64 `json:"entries"` // random: into the critical section, in these steps

	// MaxBypass is the most entries of others between a request and its entry; of an exhaustive
	// search only if Options.Bypass bounds it.
	MaxBypass int `json:"max_bypass"`

	// Refused counts the messages that nodes refused: in an exhaustive search
	// once for each local state and message.
	Refused uint64 `json:"refused,omitempty"`
	Refusal string `json:"refusal,omitempty"` // the reason of one of them

	// Starved counts the random schedules in which a node starved, of an algorithm that
	// is not claimed to be free of starvation.
	Starved  int    `json:"starved,omitempty"`
	Starving string `json:"starving,omitempty"` // what the first of them showed
}

// Part runs count schedules from first on, fewer if one breaks a property or ctx ends.
func (s *Search) Part(ctx context.Context, first, count int) Part {
	p := Part{First: first}
	var taken []vnet.Step
	for k := first; k < first+count && ctx.Err() == nil && !p.Broken; k++ {
		one, broken := s.schedule(ctx, int64(k), taken[:0])
		if p.Broken = broken != nil; !p.Broken && ctx.Err() != nil {
			break
		}
		p.Done++
		if one != nil {
			taken = one.taken
			p.count(one)
		}
	}
	return p
}

func (p *Tally) count(one *run) {
	p.Steps += uint64(one.Steps)
	p.Entries += one.Entries
	p.MaxBypass = max(p.MaxBypass, one.MaxBypass)
	count, reason := one.Refused()
	p.Refused += count
	p.Refusal = firstReason(p.Refusal, reason)
	if one.search.excuses(one.Violation) {
		p.starve(1, fmt.Sprintf("%v (seed %d)", one.Violation, one.Seed))
	}
}

// starve adds schedules in which a node starved, after those that are counted.
func (p *Tally) starve(schedules int, first string) {
	if p.Starved == 0 {
		p.Starving = first
	}
	p.Starved += schedules
}

// Join is the report of a random search that was run in parts, which next returns in the
// order of their schedules: the report of [Search.Random] with a single worker. What
// broke a property is run again here, and shortened. Elapsed and Workers are left to the
// caller.
//
// next's last argument is the first schedule of the part that is asked for. An error of
// next ends the search with it, but for the end of the search's time or of ctx.
func (s *Search) Join(ctx context.Context, next func(ctx context.Context, first int) (Part, error)) (Report, error) {
	start := time.Now()
	limited, cancel := s.within(ctx)
	defer cancel()
	var all Part
	for all.Done < s.Schedules && !all.Broken {
		p, err := next(limited, all.Done)
		if limited.Err() != nil {
			break
		}
		if err != nil {
			return Report{}, err
		}
		if p.First != all.Done || p.Done < 1 || p.Done > s.Schedules-all.Done {
			return Report{}, fmt.Errorf("check: a part of %d schedules from %d on, in place of those from %d to %d",
				p.Done, p.First, all.Done, s.Schedules)
		}
		all.add(p)
	}
	r := &randomSearch{Search: s, done: uint64(all.Done), sum: all}
	r.failed.Store(int64(s.Schedules))
	if all.Broken {
		k := all.Done - 1
		one, broken := s.schedule(ctx, int64(k), nil)
		if err := ctx.Err(); broken == nil && err != nil {
			return Report{}, err
		}
		if broken == nil {
			return Report{}, fmt.Errorf("check: the schedule of seed %d broke a property elsewhere, and breaks none here; "+
				"does its algorithm depend on more than its state?", s.Seed+uint64(k))
		}
		r.fail(int64(k), broken, one)
	}
	return r.finish(ctx, limited, start), nil
}

// add adds the part that comes after p.
func (p *Part) add(q Part) {
	p.Done += q.Done
	p.Steps += q.Steps
	p.Entries += q.Entries
	p.MaxBypass = max(p.MaxBypass, q.MaxBypass)
	p.Refused += q.Refused
	p.Refusal = firstReason(p.Refusal, q.Refusal)
	p.starve(q.Starved, q.Starving)
	p.Broken = q.Broken
}
