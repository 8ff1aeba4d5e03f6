package check

import (
	"math/rand/v2"

	"dmebench/dme"
)

// newAdversary returns one of two adversaries. Each leaves one step in a while
// to chance, so that whatever stays possible happens in the end: without that,
// an algorithm could be starved by the schedule alone.
func newAdversary(m *model, rng *rand.Rand) chooser {
	fair := chance{rng}
	if rng.IntN(2) == 0 {
		return &victims{fair: fair, nodes: m.Nodes, kinds: len(m.alg.Kinds)}
	}
	return newPriorities(m, rng)
}

// victims holds back what concerns its victims for as long as anything else
// can happen, and chooses new victims after a while.
type victims struct {
	fair  chance
	nodes int
	kinds int
	until int // the step at which new victims are chosen
	held  [3]victim
	free  []int // scratch: the steps that concern none
}

// victim is a link, everything sent by a node or to it, a kind of message, or
// the exits and timers of a node.
type victim struct {
	what     victimKind
	from, to dme.NodeID
	kind     dme.Kind
}

type victimKind int

const (
	nobody victimKind = iota
	aLink
	aSender
	aReceiver
	aKind
	aProcess
	victimKinds
)

func (v *victims) pick(s *system, steps []Step) int {
	if s.steps >= v.until {
		v.until = s.steps + 1 + v.fair.rng.IntN(8*s.Nodes*s.Nodes)
		for i := range v.held {
			v.held[i] = v.draw()
		}
	}
	if v.fair.rng.IntN(64) == 0 {
		return v.fair.pick(s, steps)
	}
	v.free = v.free[:0]
	for i, x := range steps {
		if !v.holds(s, x) {
			v.free = append(v.free, i)
		}
	}
	if len(v.free) == 0 {
		return v.fair.pick(s, steps)
	}
	return v.free[v.fair.rng.IntN(len(v.free))]
}

func (v *victims) draw() victim {
	node := func() dme.NodeID { return dme.NodeID(1 + v.fair.rng.IntN(v.nodes)) }
	return victim{
		what: victimKind(v.fair.rng.IntN(int(victimKinds))), from: node(), to: node(),
		kind: dme.Kind(1 + v.fair.rng.IntN(v.kinds)),
	}
}

func (v *victims) holds(s *system, x Step) bool {
	for _, h := range v.held {
		if h.concerns(s, x) {
			return true
		}
	}
	return false
}

func (v victim) concerns(s *system, x Step) bool {
	if x.Kind != Deliver {
		return v.what == aProcess && x.Node == v.from
	}
	switch v.what {
	case aLink:
		return x.From == v.from && x.Node == v.to
	case aSender:
		return x.From == v.from
	case aReceiver:
		return x.Node == v.to
	case aKind:
		return s.links[s.linkOf(x.From, x.Node)].queue[x.Index].msg.Kind == v.kind
	}
	return false
}

// priorities gives each link and each local process a priority of its own, and
// takes the possible step of the highest; at a few steps drawn beforehand, the
// highest becomes the lowest. It finds a fault that needs d such changes with a
// probability that falls with the length of the schedule only as its d-th power
// (Burckhardt, Kothari, Musuvathi, Nagarakatte, A Randomized Scheduler with
// Probabilistic Guarantees of Finding Bugs, ASPLOS 2010).
type priorities struct {
	fair    chance
	of      []int // by link, then by node
	lowest  int
	changes []int // steps
}

func newPriorities(m *model, rng *rand.Rand) *priorities {
	p := &priorities{fair: chance{rng}, of: rng.Perm(m.Nodes*m.Nodes + m.Nodes)}
	length := 4 * m.Nodes * m.Requests
	for range rng.IntN(6) {
		p.changes = append(p.changes, rng.IntN(length))
	}
	return p
}

func (p *priorities) pick(s *system, steps []Step) int {
	if p.fair.rng.IntN(64) == 0 {
		return p.fair.pick(s, steps)
	}
	best := p.best(s, steps)
	for i, at := range p.changes {
		if at <= s.steps {
			p.changes = append(p.changes[:i], p.changes[i+1:]...)
			p.lowest--
			p.of[p.owner(s, steps[best])] = p.lowest
			return p.best(s, steps)
		}
	}
	return best
}

func (p *priorities) best(s *system, steps []Step) int {
	best := 0
	for i, x := range steps {
		if p.of[p.owner(s, x)] > p.of[p.owner(s, steps[best])] {
			best = i
		}
	}
	if x := steps[best]; x.Kind == Deliver && s.Unordered {
		// A link that does not keep order has no next message: chance says.
		best += p.fair.rng.IntN(s.deliverable(s.linkOf(x.From, x.Node)))
	}
	return best
}

func (p *priorities) owner(s *system, x Step) int {
	if x.Kind == Deliver {
		return s.linkOf(x.From, x.Node)
	}
	return s.Nodes*s.Nodes + int(x.Node-1)
}
