package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// LivenessVerdict says what a search for liveness has found.
type LivenessVerdict string

// The possible findings. Unsafe: a property that every step is judged by is broken, such as mutual
// exclusion. Deadlock: a node waits, and nothing can happen but that others ask. Livelock: a node
// waits, messages flow for ever, and none enters. Starved: a node waits while others enter again
// and again. Holds is a proof: with this number of nodes, which may ask any number of times, every
// property holds in every state, and every request is served in every fair schedule.
const (
	Holds      LivenessVerdict = "holds"
	Unsafe     LivenessVerdict = "unsafe"
	Deadlock   LivenessVerdict = "deadlock"
	Livelock   LivenessVerdict = "livelock"
	Starved    LivenessVerdict = "starvation"
	Incomplete LivenessVerdict = "incomplete"
)

// LivenessResult is what a search for liveness has found out. In its report, states are
// up to the values of clocks, and steps are those between them.
type LivenessResult struct {
	Report
	Verdict    LivenessVerdict
	Components uint64     // strongly connected ones that were looked at, over all nodes that may wait
	Node       dme.NodeID // the node that waits for ever; None if none does, or it is a matter of safety
	Lasso      *Lasso     // how; nil if there is none
}

// Lasso is a schedule without end: the way in, and the loop over and over; of a deadlock none.
type Lasso struct {
	Prefix, Loop []vnet.Step
}

// LivenessMost is the largest number of nodes that Liveness takes.
const LivenessMost = 32

// Liveness searches the schedules in which every node may ask any number of times for one in which
// a request waits for ever, although the schedule is fair: every message arrives, every timer that
// may fire does so or is set again, and every critical section ends. No node has to ask. It also
// looks for what [Search.Exhaustive] looks for.
//
// The states are visited breadth first, up to the values of clocks ([vnet.Classes]), and kept with
// the steps between them; there is no reduction. Then, for each node, the strongly connected
// components are found of the states in which it waits. One is a fair schedule if each link
// delivers something within it or is empty in one of its states, and so on: a schedule that goes
// round all of it for ever is fair then, and every fair schedule in which the node waits for ever
// ends in such a component. (On links that do not keep order each message counts separately,
// without its clocks: more schedules pass for fair than are, which is on the safe side.) If there
// is none, and the states came to an end, liveness is proved for that many nodes.
//
// An algorithm's invariants are looked at in each state, with the clocks of its representative:
// what they say of clocks beyond their order, and of rising clocks, is not proved.
//
// A loop that is found is repeated by a network of nodes, which has to come back to the same state
// but for its clocks. If it does not, the verdict is Incomplete. An error says that the search
// itself is wrong.
func (s *Search) Liveness(ctx context.Context) (LivenessResult, error) {
	if !s.Unlimited {
		return LivenessResult{}, errors.New("check: a search for liveness needs Options.Unlimited")
	}
	start := time.Now()
	ctx, cancel := s.within(ctx)
	defer cancel()
	g := newGraph(s)
	r, err := g.search(ctx)
	r.States, r.Steps, r.Depth, r.Components = uint64(g.states.len()), uint64(g.edges.len()), g.depth, g.components
	r.Refused, r.Refusal = g.walker.Refused()
	r.NeverSent, r.Complete, r.Seed, r.Workers = g.space.NeverSent(), r.Verdict != Incomplete, s.Seed, 1
	r.Elapsed = time.Since(start)
	return r, err
}

func starved(v LivenessVerdict, id dme.NodeID, loop int) *vnet.Violation {
	property, how := Liveness, fmt.Sprintf("livelock: node %d waits and no node enters", id)
	if v == Starved {
		property, how = Starvation, fmt.Sprintf("starvation: node %d waits for ever while others enter", id)
	}
	return &vnet.Violation{
		Property: property, Nodes: []dme.NodeID{id}, Verdict: fmt.Sprintf("%s: the last %d steps repeat for ever", how, loop),
	}
}

// errSpurious says that classes have a schedule that the nodes have not.
var errSpurious = errors.New("the nodes cannot follow the schedule that was found")

// trace repeats the moves to the violation in a network of nodes, which have to show it.
func (x *exhaustive) trace(ctx context.Context) (*Trace, error) {
	path := x.found.way
	if path == nil {
		path = x.origins.path(x.found.state)
		if x.found.move >= 0 {
			path = append(path, x.found.move)
		}
	}
	retrace := x.retrace
	if x.byClass {
		retrace = x.retraceClasses
	}
	steps, err := retrace(path)
	if err != nil {
		return nil, err
	}
	t, _ := x.replay(plan{model: x.model}, steps, false)
	switch {
	case t.Violation.Property == "" && x.byClass:
		return nil, errSpurious
	case t.Violation.Property == "":
		return nil, fault("the search found '%v', its schedule does not show it", &x.found.Violation)
	case x.reduction != nil || x.Bitstate > 0: // need not be the shortest
		t = x.shrink(ctx, plan{model: x.model}, t.Steps(), t.Violation.Property)
	}
	return t, nil
}

// retrace returns the steps of moves. A move is an index of the steps that are possible;
// what is forced follows it. The network has to be in the states of the search.
func (x *exhaustive) retrace(path []int) (steps []vnet.Step, err error) {
	n, walker := vnet.New(x.model), x.space.NewWalker()
	walker.Reduce(x.reduction)
	follow := func(v []uint32, h vnet.Hash, s vnet.Step) {
		if err != nil {
			return
		}
		if _, real := x.space.Of(n); real != h {
			err = fault("step %d, %v, leads the nodes into another state than in the search, "+
				"as happens if an algorithm's saved state is not all of its state", len(steps), steps[len(steps)-1])
			return
		}
		real, ok := walker.In(n, v, s)
		if !ok || !n.Possible(real) {
			err = fault("step %d, %v, of the schedule that was found is not possible", len(steps)+1, real)
			return
		}
		steps = append(steps, real)
		n.Do(real)
	}
	v, h := x.space.Of(n)
	for _, k := range path {
		enabled, _ := walker.Enabled(v, nil)
		follow(v, h, enabled[k])
		bad := walker.Do(v, h, enabled[k])
		if bad == nil && x.reduction != nil {
			_, bad = walker.Settle(follow)
		}
		if bad != nil || err != nil {
			break
		}
		copy(v, walker.Next)
		h = walker.Hash
	}
	return steps, err
}

// retraceClasses is retrace where each state stands for its class. All but the
// last move of a path that ends with a step are numbers of classes.
func (x *exhaustive) retraceClasses(path []int) (steps []vnet.Step, err error) {
	n, walker, classes := vnet.New(x.model), x.space.NewWalker(), x.space.NewClasses()
	first, _ := x.space.Of(n)
	v := slices.Clone(classes.Of(first))
	for i, move := range path {
		next, step := v, vnet.Step{}
		enabled, _ := walker.Enabled(v, nil)
		if last := i == len(path)-1 && x.found.move >= 0; last {
			step = enabled[move]
		} else {
			moves := 0
			for _, s := range enabled {
				classes.Step(walker, v, s, func(rep []uint32) {
					if moves == move {
						next, step = slices.Clone(rep), s
					}
					moves++
				})
			}
		}
		real, ok := classes.In(n, v, step)
		if !ok {
			return nil, errSpurious
		}
		steps = append(steps, real)
		n.Do(real)
		v = next
	}
	return steps, nil
}

func fault(format string, args ...any) error {
	return fmt.Errorf("check: "+format+"; this is a bug in the search; please report it", args...)
}
