package check

import (
	"context"
	"math/rand/v2"
	"slices"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// Bounds on the effort to shorten one schedule, in steps and states and not in time: the
// same search shows the same schedule on every machine.
const (
	shrinkingSteps  = 400_000
	otherSteps      = 300_000 // at most; fewer for a schedule that is short already
	shrinkingStates = 150_000
)

// shrink returns a schedule that breaks the same property, and from which no
// single step can be left out: ever smaller parts are dropped (Zeller,
// Hildebrandt, Simplifying and Isolating Failure-Inducing Input, IEEE TSE 28(2),
// 2002). At first what remains is run on to its end where nothing is broken at
// once, so that a system that stalls does so with all its messages delivered;
// then it has to do with its own steps.
//
// That is a valley among many. So other short schedules are drawn, which ask no more
// often, and the best of them is taken; and in the end all states are searched that the
// requests of the best lead to, as far as they are few: then there is no shorter schedule
// of these requests.
func (s *Search) shrink(p plan, steps []vnet.Step, property vnet.Property) *Trace {
	r := &shrinker{Search: s, plan: p, property: property, left: shrinkingSteps}
	best := r.minimal(steps)
	switch property {
	case Starvation:
		best, p = r.sooner(best)
	case Liveness, Rest: // which no short schedule shows
	default:
		m := *p.model
		m.Requests = func(id dme.NodeID) int {
			if s.Requesters != nil && !slices.Contains(s.Requesters, id) {
				return 0
			}
			return s.Requests
		}
		free := &shrinker{Search: s, plan: plan{model: &m}, property: property, left: shrinkingSteps}
		if less := free.shortest(free.others(best)); len(less) < len(best) {
			best, p = less, free.plan
		}
	}
	t, _ := s.replayOf(p, best, false)
	if t.Violation.Property != property { // a cycle, which shows itself in the end alone
		t, _ = s.replayOf(p, best, true)
	}
	return t
}

// shrinker drops steps from schedules that break a property.
type shrinker struct {
	*Search
	plan     plan
	property vnet.Property
	left     int // steps that may still be taken
}

// fails repeats a schedule. If it breaks the property it returns the steps that were
// taken.
func (s *shrinker) fails(steps []vnet.Step, finish bool) (taken []vnet.Step, ok bool) {
	r := newRun(s.Search, s.plan, make([]vnet.Step, 0, len(steps)))
	r.repeat(steps, finish)
	s.left -= len(r.taken) + s.Nodes
	return r.taken, r.Violation != nil && r.Violation.Property == s.property
}

// minimal drops from a schedule that breaks the property what can be dropped. Where
// nothing else fails there is only the schedule as it was: the plain end takes another
// turn than chance did.
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

// reduce drops what can be dropped from a schedule. The steps that are kept, and how the
// network runs on after them where it may, make up best.
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
		try(without(kept, func(x vnet.Step) bool { return asks(x) && x.Node == id }))
	}
	for size := (len(kept) + 1) / 2; size > 0; {
		dropped := false
		for at := 0; at < len(kept); {
			if s.left <= 0 {
				return best
			}
			to := min(at+size, len(kept))
			if try(append(append([]vnet.Step(nil), kept[:at]...), kept[to:]...)) {
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

// others draws schedules that make no more requests than the best so far, and returns
// the shortest that breaks the property once it is made minimal.
func (s *shrinker) others(best []vnet.Step) []vnet.Step {
	rng := rand.New(rand.NewPCG(s.plan.model.Seed, 0x5403))
	m := *s.plan.model
	const each = 500 // times the square of the length
	for left := min(otherSteps, each*len(best)*len(best)); left > 0; {
		requests := vary(rng, s.Nodes, max(1, asked(best)))
		m.Requests = requestsOf(requests)
		r := s.randomBy(rng, &m, 3*len(best), nil)
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

// sooner returns a schedule that starves a node while it holds things back for as few
// steps as any does: the fewer entries of others are starvation then.
func (s *shrinker) sooner(best []vnet.Step) ([]vnet.Step, plan) {
	rng := rand.New(rand.NewPCG(s.plan.model.Seed, 0x500e))
	p := s.plan
	for left := otherSteps; left > 0; {
		other := s.plan
		other.patience, other.seed = leastPatience(s.Nodes), rng.Uint64()
		r := s.starve(other, nil)
		left -= r.Steps
		if r.Violation != nil && r.Violation.Property == Starvation && len(r.taken) < len(best) {
			best, p = r.taken, other
		}
	}
	return best, p
}

// shortest returns the shortest schedule of the best one's requests, where it leads to
// few states.
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
	r, err := search.Exhaustive(context.Background())
	if err != nil || r.Trace == nil || r.Violation.Property != s.property || len(r.Trace.Events) >= len(best) {
		return best
	}
	if taken, ok := s.fails(r.Trace.Steps(), false); ok {
		return taken
	}
	return best
}

// without returns the steps but those that are to go.
func without(steps []vnet.Step, goes func(vnet.Step) bool) []vnet.Step {
	var kept []vnet.Step
	for _, x := range steps {
		if !goes(x) {
			kept = append(kept, x)
		}
	}
	return kept
}

func asks(x vnet.Step) bool { return x.Kind == vnet.Ask || x.Kind == vnet.AskShared }

// asked returns how many requests a schedule makes.
func asked(steps []vnet.Step) (requests int) {
	for _, x := range steps {
		if asks(x) {
			requests++
		}
	}
	return requests
}

// shorter returns the shorter of two schedules that come to the same.
func shorter(a, b []vnet.Step) []vnet.Step {
	if len(a) <= len(b) {
		return a
	}
	return b
}
