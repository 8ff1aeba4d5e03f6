package check

import (
	"context"
	"slices"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// search builds the graph and looks for a node that may wait for ever.
func (g *graph) search(ctx context.Context) (LivenessResult, error) {
	r := LivenessResult{Verdict: Incomplete}
	end, stopped := g.build(ctx)
	switch {
	case end != nil:
		return g.ended(end)
	case stopped != "":
		r.Stopped = stopped
		return r, nil
	}
	n := g.states.len()
	t := &tarjan{graph: g, index: make([]uint32, n), low: make([]uint32, n), member: make([]uint32, n)}
	for id := dme.NodeID(1); int(id) <= g.Nodes; id++ {
		c := t.cycle(id)
		if c == nil {
			if ctx.Err() != nil {
				r.Stopped = whyStopped(ctx)
				return r, nil
			}
			continue
		}
		found, err := g.lasso(c)
		if found.Verdict != Incomplete || err != nil {
			return found, err
		}
		r.Stopped = found.Stopped
	}
	if r.Stopped != "" {
		return r, nil
	}
	if err := g.compareClocks(); err != nil {
		return r, err
	}
	r.Verdict = Holds
	return r, nil
}

func (g *graph) ended(end *dead) (LivenessResult, error) {
	r := LivenessResult{Verdict: Incomplete}
	way, err := g.steps(g.way(end.state))
	if err != nil {
		return r, err
	}
	n := vnet.New(g.model)
	prefix, ok := g.repeat(n, way, nil)
	if ok && end.step.Kind != 0 {
		var x vnet.Step
		if x, ok = g.classes.In(n, g.vector(end.state), end.step); ok {
			prefix = append(prefix, x)
		}
	}
	if !ok {
		r.Stopped = spurious
		return r, nil
	}
	r.Trace, _ = g.replay(plan{model: g.model}, prefix, false)
	switch bad := end.violation; {
	case r.Trace.Violation.Property != "":
	case bad == nil:
		return r, fault("the search found that nothing serves the waiting nodes, its schedule does not show it")
	default: // an invariant that does more with clocks than compare them
		r.Trace = nil
		r.Stopped = "if clocks counted by their order alone, which they do not for these nodes: " + bad.Verdict
		return r, nil
	}
	r.Violation, r.Lasso = &r.Trace.Violation, &Lasso{Prefix: prefix}
	if r.Verdict = Unsafe; r.Violation.Property == Progress {
		r.Verdict, r.Node = Deadlock, r.Violation.Nodes[0]
	}
	return r, nil
}

// spurious is why a schedule that was found counts for nothing.
const spurious = "a schedule that breaks a property was found with clocks that count by their order alone; the nodes cannot follow it"

func (g *graph) lasso(c *cycle) (LivenessResult, error) {
	r := LivenessResult{Verdict: Incomplete}
	way, err := g.steps(g.way(int(c.first)))
	if err != nil {
		return r, err
	}
	round, err := g.steps(g.round(c))
	if err != nil {
		return r, err
	}
	n := vnet.New(g.model)
	flights := make(flights)
	for i := range n.Started {
		flights.see(&n.Started[i])
	}
	prefix, ok := g.repeat(n, way, flights)
	if !ok {
		r.Stopped = spurious
		return r, nil
	}
	loop, ok := g.repeats(n, round, flights)
	if !ok {
		r.Stopped = spurious
		return r, nil
	}
	r.Verdict, r.Node, r.Lasso = c.verdict, c.node, &Lasso{prefix, loop}
	r.Trace, _ = g.replay(plan{model: g.model}, append(slices.Clone(prefix), loop...), false)
	if r.Trace.Violation.Property != "" {
		return r, fault("a schedule that was found safe shows '%v'", &r.Trace.Violation)
	}
	r.Trace.Repeats = len(loop)
	r.Trace.Violation = *starved(c.verdict, c.node, len(loop))
	r.Violation = &r.Trace.Violation
	return r, nil
}

// round returns hops from the first state of a cycle back to it that leave no duty undone and, in a
// search for starvation, on which a node enters.
func (g *graph) round(c *cycle) (hops []hop) {
	owed := g.duties(int(c.first))
	entered := c.verdict != Starved
	at := int(c.first)
	for len(owed) > 0 || !entered {
		some := g.nearest(c, at, func(h hop) bool {
			return !entered && g.entry(h.from, h.edge) || len(g.after(slices.Clone(owed), h)) < len(owed)
		})
		if some == nil {
			return nil // the component was not fair
		}
		for _, h := range some {
			entered = entered || g.entry(h.from, h.edge)
			owed = g.after(owed, h)
			at = int(h.edge.to)
		}
		hops = append(hops, some...)
	}
	if at != int(c.first) || len(hops) == 0 {
		hops = append(hops, g.nearest(c, at, func(h hop) bool { return h.edge.to == c.first })...)
	}
	return hops
}

// after strikes off what a hop does, or leads to a state that does not owe it.
func (g *graph) after(owed []duty, h hop) []duty {
	return g.meet(g.do(owed, h.from, h.edge), int(h.edge.to))
}

// nearest returns the fewest hops within a cycle to one that is wanted.
func (g *graph) nearest(c *cycle, from int, wanted func(hop) bool) []hop {
	before := map[int]hop{}
	queue := []int{from}
	seen := map[int]bool{from: true}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for i, end := g.out(at); i < end; i++ {
			h := hop{at, g.edges.at(i)}
			to := int(h.edge.to)
			if !c.states[h.edge.to] || c.part.goes != nil && !c.part.goes(at, h.edge) {
				continue
			}
			if wanted(h) {
				hops := []hop{h}
				for at != from {
					hops = append(hops, before[at])
					at = before[at].from
				}
				slices.Reverse(hops)
				return hops
			}
			if !seen[to] {
				seen[to], before[to] = true, h
				queue = append(queue, to)
			}
		}
	}
	return nil
}

type flights map[uint64]bool

func (f flights) see(e *vnet.Event) {
	delete(f, e.Number)
	for _, x := range e.Effects {
		if x.Kind == dme.Send {
			f[x.Number] = true
		}
	}
}

// repeat has a network take steps, and reports whether it can and is each time in
// the state that the graph says, up to the values of clocks. It returns the steps
// as the network took them.
func (g *graph) repeat(n *vnet.Network, all []taken, f flights) (steps []vnet.Step, ok bool) {
	for _, t := range all {
		x, ok := g.classes.In(n, g.vector(t.from), t.step)
		if !ok {
			return steps, false
		}
		e := n.Do(x)
		steps = append(steps, x)
		if f != nil {
			f.see(e)
		}
		v, _ := g.space.Of(n)
		if !g.classes.Covers(g.vector(t.to), v) {
			return steps, false
		}
	}
	return steps, true
}

// repeats has a network go round a loop three times, and reports whether it
// can go on so for ever: each time by the same steps, with no difference between
// clocks shrinking from one time to the next, and with every message that was on
// the way at the beginning arriving.
func (g *graph) repeats(n *vnet.Network, round []taken, f flights) (loop []vnet.Step, ok bool) {
	if len(round) == 0 {
		return nil, false
	}
	var before [][]uint64
	for turn := range 3 {
		old := make(flights)
		for number := range f {
			old[number] = true
		}
		var differences [][]uint64
		var steps []vnet.Step
		for i := range round {
			x, ok := g.repeat(n, round[i:i+1], f)
			if !ok {
				return nil, false
			}
			steps = append(steps, x...)
			v, _ := g.space.Of(n)
			differences = append(differences, g.classes.Differences(v))
		}
		for number := range f {
			if old[number] {
				return nil, false
			}
		}
		if turn == 0 {
			loop = steps
		} else if !slices.Equal(steps, loop) || shrinks(before, differences) {
			return nil, false
		}
		before = differences
	}
	return loop, true
}

// shrinks reports whether some difference between clocks is smaller than a round before.
func shrinks(before, after [][]uint64) bool {
	for i := range before {
		for j := range before[i] {
			if after[i][j] < before[i][j] {
				return true
			}
		}
	}
	return false
}
