package check

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

const (
	// starvingTurn is how many schedules there are for each that tries to starve a node.
	starvingTurn = 16

	// victimsRequests: before the first the others may have had no reason to pass it over.
	victimsRequests = 2
)

// tooMany returns how many entries of others a node may see that has asked, on that many nodes, if
// nothing is held back for longer than a number of steps. A request that passes through all nodes,
// and a grant that comes back through all, are over after 2·N·delay steps; as an entry takes two
// steps, with the exit, others enter no more than N·delay times meanwhile. Twice as often is
// starvation.
func tooMany(nodes, delay int) int { return 2 * nodes * delay }

// leastPatience is the least number of steps for which schedules hold things back.
func leastPatience(nodes int) int { return max(8, nodes) }

// starvation is the plan to starve a node: it asks, and some or all others ask again and again.
func (s *Search) starvation(m vnet.Model, rng *rand.Rand) plan {
	who := rng.Perm(s.Nodes)
	p := plan{model: &m, victim: dme.NodeID(1 + who[0]), seed: rng.Uint64(), patience: leastPatience(s.Nodes) << rng.IntN(3)}
	if !s.Vary {
		return p
	}
	others := s.Nodes - 1
	if others > 2 && rng.IntN(2) == 0 {
		others = 2 + rng.IntN(others-2)
	}
	requests := make([]int, s.Nodes+1)
	requests[p.victim] = victimsRequests
	for _, i := range who[1 : 1+others] {
		requests[1+i] = 2 + victimsRequests*tooMany(s.Nodes, 2*p.patience)/others
	}
	m.Requests = requestsOf(requests)
	return p
}

// starve draws and takes the steps of a schedule that tries to starve a node, until it is served or
// ctx ends.
func (s *Search) starve(ctx context.Context, p plan, taken []vnet.Step) *run {
	rng := rand.New(rand.NewPCG(p.seed, p.model.Seed))
	r := newRun(s, p, taken)
	schedule := &vnet.Schedule{
		Network: r.Network, Rand: rng, Load: vnet.Saturation, Mishap: 1 / 16.,
		Choose: newStarver(p, r.starvation.delays, rng),
	}
	reading := rng.IntN(2) == 0 // the victim writes, and the others read, if nodes distinguish them
	schedule.Begin()
	for asked := 0; r.Violation == nil && !r.halted(ctx); {
		x, ok := schedule.Next()
		if !ok {
			break
		}
		if r.Shares && asks(x) {
			if x.Kind = dme.Request; reading && x.Node != p.victim {
				x.Kind = dme.RequestShared
			}
		}
		r.take(x)
		switch {
		case x.Node != p.victim:
		case x.Kind == dme.Request:
			asked++
		case x.Kind == dme.Exit && asked == victimsRequests:
			return r
		}
	}
	return r
}

// starvation counts the entries that pass over a waiting node, and how long things are held back
// meanwhile.
type starvation struct {
	*delays
	patience int
	passed   []int // by node, from 1; notWaiting for one that does not wait
	entries  uint64
}

// notWaiting stands in passed for a node that does not wait.
const notWaiting = -1

func (h *starvation) judge(x vnet.Step) *vnet.Violation {
	h.after()
	n := h.network
	if asks(x) {
		h.passed[x.Node] = 0
	}
	if n.Entries == h.entries {
		return nil
	}
	h.entries = n.Entries
	h.passed[x.Node] = notWaiting
	for i := range h.passed[1:] {
		id := dme.NodeID(i + 1)
		if h.passed[id] == notWaiting {
			continue
		}
		if h.passed[id]++; h.passed[id] <= tooMany(n.Nodes, h.patience) {
			continue
		}
		if delay := h.most(); h.passed[id] > tooMany(n.Nodes, delay) {
			return &vnet.Violation{Property: Starvation, Nodes: []dme.NodeID{id}, Verdict: fmt.Sprintf(
				"node %v starves: %d entries of others since it asked, though no message, exit or timer is delayed by more than %d steps",
				id, h.passed[id], delay)}
		}
	}
	return nil
}

// starver holds back what concerns its victim, and nothing for longer than its patience.
type starver struct {
	delays   *delays
	victim   dme.NodeID
	patience int // steps
	exits    exits
	order    vnet.Chooser // among what concerns others
	rand     *rand.Rand
	free     []vnet.Step // scratch
	places   []int       // scratch: of free among the possible steps
}

// exits say when nodes leave: like anything else, once nothing else can happen that does not
// concern the victim, or once nothing else can happen at all. If a node leaves late the others have
// time to ask, and readers to come in.
type exits int

const (
	soon exits = iota
	late
	last
)

func newStarver(p plan, d *delays, rng *rand.Rand) *starver {
	nodes := p.model.Nodes
	s := &starver{delays: d, victim: p.victim, rand: rng, order: vnet.Chance{Rand: rng}, patience: p.patience}
	s.exits = exits(rng.IntN(3))
	if rng.IntN(2) == 0 {
		s.order = newPriorities(nodes, 4*nodes, rng)
	}
	return s
}

func (s *starver) Pick(n *vnet.Network, steps []vnet.Step) int {
	overdue, oldest := -1, s.patience
	for i, x := range steps {
		if age, ok := s.delays.of(x); ok && age > oldest {
			overdue, oldest = i, age
		}
	}
	if overdue >= 0 {
		return overdue
	}
	for _, holds := range []func(vnet.Step) bool{
		func(x vnet.Step) bool { return s.concerns(x) || s.exits != soon && x.Kind == dme.Exit },
		func(x vnet.Step) bool {
			if s.exits == last {
				return x.Kind == dme.Exit
			}
			return s.concerns(x)
		},
	} {
		s.free, s.places = s.free[:0], s.places[:0]
		for i, x := range steps {
			if !holds(x) {
				s.free, s.places = append(s.free, x), append(s.places, i)
			}
		}
		if len(s.free) > 0 {
			return s.places[s.order.Pick(n, s.free)]
		}
	}
	return s.rand.IntN(len(steps))
}

func (s *starver) concerns(x vnet.Step) bool {
	return x.Node == s.victim || arrives(x) && x.From == s.victim
}

// newAdversary returns one of three adversaries. Each leaves one step in a while to chance, so that
// whatever stays possible happens in the end: otherwise the schedule alone could starve an
// algorithm.
func newAdversary(m *vnet.Model, requests int, rng *rand.Rand) vnet.Chooser {
	switch rng.IntN(3) {
	case 0:
		return &victims{fair: vnet.Chance{Rand: rng}, nodes: m.Nodes, kinds: len(m.Algorithm.Kinds)}
	case 1:
		return newPriorities(m.Nodes, requests, rng)
	}
	return newIsolation(m, requests, rng)
}

// victims holds back what concerns its victims while anything else can happen, for a while each.
type victims struct {
	fair  vnet.Chance
	nodes int
	kinds int
	until int // the step at which new victims are chosen
	held  [3]victim
	free  []int // scratch: the steps that concern none
}

// victim is a link, what a node sends or gets, a kind of message, or a node's exits and timers.
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
		return x.Kind == dme.Receive && n.Message(x).Kind == v.kind
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

func (p *priorities) Pick(n *vnet.Network, steps []vnet.Step) int {
	if p.fair.IntN(64) == 0 {
		return p.fair.Pick(n, steps)
	}
	best := p.best(n, steps)
	for i, at := range p.changes {
		if at <= n.Steps {
			p.changes = slices.Delete(p.changes, i, i+1)
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
	if n.Unordered && steps[best].Kind == dme.Receive {
		// A link that does not keep order has no next message: chance says.
		best += p.fair.IntN(1 + alike)
	}
	return best
}

// arrives reports whether something of a link arrives in a step.
func arrives(x vnet.Step) bool {
	return x.Kind == dme.Receive || x.Kind == dme.PeerDown || x.Kind == dme.PeerUp
}

func owner(n *vnet.Network, x vnet.Step) int {
	if arrives(x) {
		return int(x.From-1)*n.Nodes + int(x.Node-1)
	}
	return n.Nodes*n.Nodes + int(x.Node-1)
}
