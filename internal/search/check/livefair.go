package check

import (
	"maps"
	"math"
	"math/bits"
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

type part struct {
	has  func(state int) bool
	goes func(from int, e *edge) bool // to another state of the part; nil: every step
}

// each calls found with each component of a part that has a step within; states are valid meanwhile.
func (t *tarjan) each(p part, found func(states []uint32)) {
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
	for root := range t.states.len() {
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
			if component := stack[at:]; len(component) > 1 || t.loops(int(state), p) {
				found(component)
			}
			stack = stack[:at]
		}
	}
}

func (t *tarjan) loops(state int, p part) bool {
	for i, end := t.out(state); i < end; i++ {
		if e := t.edges.at(i); int(e.to) == state && (p.goes == nil || p.goes(state, e)) {
			return true
		}
	}
	return false
}

// duty is what a fair schedule must do within a component, or find undone in one of its
// states: let a node leave or a link deliver, which its label says; have a timer fire, or
// set again; or, on links that do not keep order, have a kind of message arrive.
type duty struct {
	label label
	timer vnet.Timer
	kind  uint32 // as vnet.Classes.Skeletons
}

func (g *graph) duties(id int) (owed []duty) {
	v := g.vector(id)
	for nodes := g.states.at(id).inside; nodes != 0; nodes &= nodes - 1 {
		owed = append(owed, duty{label: leaving + label(bits.TrailingZeros32(nodes)+1)})
	}
	if g.Unordered {
		kinds := g.classes.Skeletons(nil, v)
		slices.Sort(kinds)
		for _, kind := range slices.Compact(kinds) {
			owed = append(owed, duty{kind: kind})
		}
	} else {
		g.space.Occupied(v, func(link int) { owed = append(owed, duty{label: arrival + label(link)}) })
	}
	if g.timed {
		steps, _ := g.walker.Enabled(v, nil)
		for _, x := range steps {
			if x.Kind == dme.Timeout {
				owed = append(owed, duty{label: firing, timer: vnet.Timer{Node: x.Node, ID: x.Timer}})
			}
		}
	}
	return owed
}

func (g *graph) meet(owed []duty, id int) []duty {
	if len(owed) == 0 {
		return owed
	}
	here := g.duties(id)
	return slices.DeleteFunc(owed, func(d duty) bool { return !slices.Contains(here, d) })
}

func (g *graph) do(owed []duty, from int, e *edge) []duty {
	if e.label >= leaving {
		owed = slices.DeleteFunc(owed, func(d duty) bool { return d.label == e.label })
	}
	if len(owed) == 0 || !g.timed && !g.Unordered {
		return owed
	}
	v := g.vector(from)
	g.through(from, int(e.to), e.label, func(x vnet.Step) {
		arrives := uint32(0)
		if x.Kind == dme.Receive && g.Unordered {
			arrives = g.classes.Skeleton(v, x)
		}
		owed = slices.DeleteFunc(owed, func(d duty) bool {
			switch {
			case d.label == firing:
				return x.Kind == dme.Timeout && x.Node == d.timer.Node && x.Timer == d.timer.ID || g.walker.Sets(d.timer.Node, d.timer.ID)
			case d.label >= leaving:
				return false
			}
			return x.Kind == dme.Receive && d.kind == arrives
		})
	})
	return owed
}

// fair reports whether a schedule that goes round a component for ever, by all its steps, is fair.
func (t *tarjan) fair(states []uint32, p part) bool {
	owed := t.duties(int(states[0]))
	for i := 1; i < len(states) && len(owed) > 0; i++ {
		owed = t.meet(owed, int(states[i]))
	}
	mine := t.member[states[0]]
	for i := 0; i < len(states) && len(owed) > 0; i++ {
		from := int(states[i])
		for k, end := t.out(from); k < end; k++ {
			if e := t.edges.at(k); t.member[e.to] == mine && (p.goes == nil || p.goes(from, e)) {
				owed = t.do(owed, from, e)
			}
		}
	}
	return len(owed) == 0
}

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

// cycle returns a fair component of the states in which node id waits, the nearest to the
// beginning; nil if there is none. If a part of it without entries is fair, it is that part.
func (t *tarjan) cycle(id dme.NodeID) *cycle {
	waits := part{has: func(s int) bool { return t.states.at(s).waiting&bit(id) != 0 }}
	best := t.nearest(waits)
	if best == nil {
		return nil
	}
	c := &cycle{id, best, slices.Min(slices.Collect(maps.Keys(best))), waits, Starved}
	quiet := part{
		has:  func(s int) bool { return best[uint32(s)] },
		goes: func(from int, e *edge) bool { return !t.entry(from, e) },
	}
	if still := t.nearest(quiet); still != nil {
		c.states, c.first, c.part, c.verdict = still, slices.Min(slices.Collect(maps.Keys(still))), quiet, Livelock
	}
	within := c.states
	c.part.has = func(s int) bool { return within[uint32(s)] }
	return c
}

// nearest returns the states of the fair component of a part that is nearest to the beginning.
func (t *tarjan) nearest(p part) (best map[uint32]bool) {
	nearest := uint32(math.MaxUint32)
	t.each(p, func(states []uint32) {
		if first := slices.Min(states); first < nearest && t.fair(states, p) {
			best, nearest = make(map[uint32]bool, len(states)), first
			for _, s := range states {
				best[s] = true
			}
		}
	})
	return best
}
