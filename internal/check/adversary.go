package check

import (
	"math/rand/v2"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// newAdversary returns one of three adversaries. Each leaves one step in a while
// to chance, so that whatever stays possible happens in the end: without that,
// an algorithm could be starved by the schedule alone.
func newAdversary(m *vnet.Model, requests int, rng *rand.Rand) vnet.Chooser {
	switch rng.IntN(3) {
	case 0:
		return &victims{fair: vnet.Chance{Rand: rng}, nodes: m.Nodes, kinds: len(m.Algorithm.Kinds)}
	case 1:
		return newPriorities(m.Nodes, requests, rng)
	}
	return newIsolation(m, requests, rng)
}

// victims holds back what concerns its victims for as long as anything else
// can happen, and chooses new victims after a while.
type victims struct {
	fair  vnet.Chance
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

// Pick implements [vnet.Chooser].
func (v *victims) Pick(n *vnet.Network, steps []vnet.Step) int {
	if n.Steps >= v.until {
		v.until = n.Steps + 1 + v.fair.IntN(8*n.Nodes*n.Nodes)
		for i := range v.held {
			v.held[i] = v.draw()
		}
	}
	if v.fair.IntN(64) == 0 {
		return v.fair.Pick(n, steps)
	}
	v.free = v.free[:0]
	for i, x := range steps {
		if !v.holds(n, x) {
			v.free = append(v.free, i)
		}
	}
	if len(v.free) == 0 {
		return v.fair.Pick(n, steps)
	}
	return v.free[v.fair.IntN(len(v.free))]
}

func (v *victims) draw() victim {
	node := func() dme.NodeID { return dme.NodeID(1 + v.fair.IntN(v.nodes)) }
	return victim{
		what: victimKind(v.fair.IntN(int(victimKinds))), from: node(), to: node(),
		kind: dme.Kind(1 + v.fair.IntN(v.kinds)),
	}
}

func (v *victims) holds(n *vnet.Network, x vnet.Step) bool {
	for _, h := range v.held {
		if h.concerns(n, x) {
			return true
		}
	}
	return false
}

func (v victim) concerns(n *vnet.Network, x vnet.Step) bool {
	if !arrives(x) {
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
		return x.Kind == vnet.Deliver && n.Message(x).Kind == v.kind
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
	fair    vnet.Chance
	of      []int // by link, then by node
	lowest  int
	changes []int // steps
}

func newPriorities(nodes, requests int, rng *rand.Rand) *priorities {
	p := &priorities{fair: vnet.Chance{Rand: rng}, of: rng.Perm(nodes*nodes + nodes)}
	length := 4 * nodes * requests
	for range rng.IntN(6) {
		p.changes = append(p.changes, rng.IntN(length))
	}
	return p
}

// Pick implements [vnet.Chooser].
func (p *priorities) Pick(n *vnet.Network, steps []vnet.Step) int {
	if p.fair.IntN(64) == 0 {
		return p.fair.Pick(n, steps)
	}
	best := p.best(n, steps)
	for i, at := range p.changes {
		if at <= n.Steps {
			p.changes = append(p.changes[:i], p.changes[i+1:]...)
			p.lowest--
			p.of[owner(n, steps[best])] = p.lowest
			return p.best(n, steps)
		}
	}
	return best
}

func (p *priorities) best(n *vnet.Network, steps []vnet.Step) int {
	best, alike := 0, 0 // alike: further messages of the same link
	most := p.of[owner(n, steps[0])]
	for i := 1; i < len(steps); i++ {
		x := &steps[i]
		switch mine := p.of[owner(n, *x)]; {
		case mine > most:
			best, alike, most = i, 0, mine
		case mine == most && arrives(*x):
			alike++
		}
	}
	if n.Unordered && steps[best].Kind == vnet.Deliver {
		// A link that does not keep order has no next message: chance says.
		best += p.fair.IntN(1 + alike)
	}
	return best
}

// arrives reports whether something of a link arrives in a step.
func arrives(x vnet.Step) bool {
	return x.Kind == vnet.Deliver || x.Kind == vnet.Down || x.Kind == vnet.Up
}

// owner numbers the links and then the local processes, from 0.
func owner(n *vnet.Network, x vnet.Step) int {
	if arrives(x) {
		return int(x.From-1)*n.Nodes + int(x.Node-1)
	}
	return n.Nodes*n.Nodes + int(x.Node-1)
}
