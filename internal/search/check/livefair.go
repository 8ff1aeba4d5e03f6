package check

import (
	"math"
	"slices"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// tarjan finds the strongly connected components of a part of the graph, by
// R. Tarjan's algorithm (SIAM J. Computing 1(2), 1972) without recursion.
type tarjan struct {
	*graph
	index  []uint32 // by state: when it was met, from 1; 0: not yet
	low    []uint32 // the least index that is known to be reachable within the component
	member []uint32 // the number of its component, from 1; 0: none yet
	count  uint32   // of components
}

func newTarjan(g *graph) *tarjan {
	n := g.states.len()
	return &tarjan{graph: g, index: make([]uint32, n), low: make([]uint32, n), member: make([]uint32, n)}
}

// part is a part of the graph: states, and steps between them.
type part struct {
	has  func(state int) bool
	goes func(from int, e *edge) bool // to another state of the part; nil: every step
}

// each calls found with every component that can be reached from the roots, each
// of which has a step within it, until found reports false. The states are valid
// during the call.
func (t *tarjan) each(p part, roots func(yield func(int) bool), found func(states []uint32) bool) {
	type frame struct {
		state uint32
		next  int // the step that is looked at next
		end   int
	}
	var frames []frame
	var stack []uint32
	met := uint32(0)
	clear(t.index)
	clear(t.member)
	push := func(state int) {
		met++
		t.index[state], t.low[state] = met, met
		stack = append(stack, uint32(state))
		first, end := t.out(state)
		frames = append(frames, frame{uint32(state), first, end})
	}
	for root := range roots {
		if t.index[root] != 0 || !p.has(root) {
			continue
		}
		push(root)
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			if f.next < f.end {
				e := t.edges.at(f.next)
				f.next++
				if to := int(e.to); !p.has(to) || p.goes != nil && !p.goes(int(f.state), e) {
					continue
				} else if t.index[to] == 0 {
					push(to)
				} else if t.member[to] == 0 {
					t.low[f.state] = min(t.low[f.state], t.index[to])
				}
				continue
			}
			state := f.state
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				above := frames[len(frames)-1].state
				t.low[above] = min(t.low[above], t.low[state])
			}
			if t.low[state] != t.index[state] {
				continue
			}
			t.count++
			at := len(stack) - 1
			for ; stack[at] != state; at-- {
				t.member[stack[at]] = t.count
			}
			t.member[state] = t.count
			t.components++
			if component := stack[at:]; (len(component) > 1 || t.loops(int(state), p)) && !found(component) {
				return
			}
			stack = stack[:at]
		}
	}
}

// loops reports whether a step leads from a state to itself.
func (t *tarjan) loops(state int, p part) bool {
	for i, end := t.out(state); i < end; i++ {
		if e := t.edges.at(i); int(e.to) == state && (p.goes == nil || p.goes(state, e)) {
			return true
		}
	}
	return false
}

// duties are what a fair schedule must do within a component, or find undone in
// one of its states.
type duties struct {
	nodes  uint32       // to leave
	links  []int        // to deliver
	timers []vnet.Timer // to fire, or to be set again
	kinds  []uint32     // messages to arrive, as vnet.Classes.Skeletons: on links that do not keep order
}

func (d *duties) none() bool {
	return d.nodes == 0 && len(d.links) == 0 && len(d.timers) == 0 && len(d.kinds) == 0
}

// of returns what a state owes.
func (g *graph) dutiesOf(id int) (d duties) {
	v := g.vector(id)
	d.nodes = g.states.at(id).inside
	if g.Unordered {
		d.kinds = g.classes.Skeletons(nil, v)
		slices.Sort(d.kinds)
		d.kinds = slices.Compact(d.kinds)
	} else {
		g.space.Occupied(v, func(link int) { d.links = append(d.links, link) })
	}
	d.timers = g.ready(v)
	return d
}

// ready returns the timers that may fire in a state.
func (g *graph) ready(v []uint32) (timers []vnet.Timer) {
	if !g.timed {
		return nil
	}
	steps, _ := g.walker.Enabled(v, nil)
	for _, x := range steps {
		if x.Kind == vnet.Fire {
			timers = append(timers, vnet.Timer{Node: x.Node, ID: x.Timer})
		}
	}
	return timers
}

// meet strikes off what a state does not owe.
func (d *duties) meet(g *graph, id int) {
	if d.none() {
		return
	}
	here := g.dutiesOf(id)
	d.nodes &= here.nodes
	d.links = slices.DeleteFunc(d.links, func(x int) bool { return !slices.Contains(here.links, x) })
	d.timers = slices.DeleteFunc(d.timers, func(x vnet.Timer) bool { return !slices.Contains(here.timers, x) })
	d.kinds = slices.DeleteFunc(d.kinds, func(x uint32) bool { return !slices.Contains(here.kinds, x) })
}

// do strikes off what a step does.
func (d *duties) do(g *graph, from int, e *edge) {
	switch {
	case e.label >= arrival:
		link := int(e.label - arrival)
		d.links = slices.DeleteFunc(d.links, func(x int) bool { return x == link })
	case e.label > leaving:
		d.nodes &^= bit(dme.NodeID(e.label - leaving))
	}
	if len(d.timers) == 0 && len(d.kinds) == 0 {
		return
	}
	v := g.vector(from)
	g.through(from, int(e.to), e.label, func(x vnet.Step) {
		d.timers = slices.DeleteFunc(d.timers, func(t vnet.Timer) bool {
			return x.Kind == vnet.Fire && x.Node == t.Node && x.Timer == t.ID || g.walker.Sets(t.Node, t.ID)
		})
		if x.Kind == vnet.Deliver && len(d.kinds) > 0 {
			arrives := g.classes.Skeleton(v, x)
			d.kinds = slices.DeleteFunc(d.kinds, func(kind uint32) bool { return kind == arrives })
		}
	})
}

// fair reports whether a schedule that goes round a component for ever, by all
// its steps, is fair.
func (t *tarjan) fair(states []uint32, p part) bool {
	d := t.dutiesOf(int(states[0]))
	for _, id := range states[1:] {
		if d.none() {
			return true
		}
		d.meet(t.graph, int(id))
	}
	mine := t.member[states[0]]
	for _, from := range states {
		if d.none() {
			return true
		}
		for i, end := t.out(int(from)); i < end; i++ {
			e := t.edges.at(i)
			if t.member[e.to] == mine && (p.goes == nil || p.goes(int(from), e)) {
				d.do(t.graph, int(from), e)
			}
		}
	}
	return d.none()
}

// entry reports whether somebody enters in a step.
func (g *graph) entry(from int, e *edge) bool {
	return g.states.at(int(e.to)).inside&^g.states.at(from).inside != 0
}

// cycle is a fair component in which a node waits.
type cycle struct {
	node    dme.NodeID
	states  map[uint32]bool
	first   uint32 // of them: the nearest to the beginning
	part    part
	verdict LivenessVerdict
}

// cycle returns a fair component of the states in which node id waits, and of
// these the nearest to the beginning; nil where there is none. Where there is a
// part of it in which nobody enters, and which is fair, it is that part.
func (t *tarjan) cycle(id dme.NodeID) *cycle {
	waits := part{has: func(s int) bool { return t.states.at(s).waiting&bit(id) != 0 }}
	best := t.nearest(waits, func(yield func(int) bool) {
		for s := range t.states.len() {
			if !yield(s) {
				return
			}
		}
	})
	if best == nil {
		return nil
	}
	c := &cycle{id, best, least(best), waits, Starved}
	quiet := part{
		has:  func(s int) bool { return best[uint32(s)] },
		goes: func(from int, e *edge) bool { return !t.entry(from, e) },
	}
	if still := t.nearest(quiet, func(yield func(int) bool) {
		for s := range best {
			if !yield(int(s)) {
				return
			}
		}
	}); still != nil {
		c.states, c.first, c.part, c.verdict = still, least(still), quiet, Livelock
	}
	within := c.states
	c.part.has = func(s int) bool { return within[uint32(s)] }
	return c
}

// nearest returns the states of the fair component of a part that has the state
// with the least number.
func (t *tarjan) nearest(p part, roots func(yield func(int) bool)) (best map[uint32]bool) {
	nearest := uint32(math.MaxUint32)
	t.each(p, roots, func(states []uint32) bool {
		if first := slices.Min(states); first < nearest && t.fair(states, p) {
			best, nearest = make(map[uint32]bool, len(states)), first
			for _, s := range states {
				best[s] = true
			}
		}
		return true
	})
	return best
}

func least(states map[uint32]bool) uint32 {
	first := uint32(math.MaxUint32)
	for s := range states {
		first = min(first, s)
	}
	return first
}
