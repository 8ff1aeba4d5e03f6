package check

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// LivenessVerdict says what a search for liveness has found.
type LivenessVerdict string

// What can be found. Unsafe: a property that every step is judged by is broken,
// such as mutual exclusion. Deadlock: somebody waits, and nothing can happen but
// that others ask. Livelock: somebody waits, messages flow for ever, and nobody
// enters. Starved: somebody waits while others enter again and again.
const (
	Holds      LivenessVerdict = "holds"
	Unsafe     LivenessVerdict = "unsafe"
	Deadlock   LivenessVerdict = "deadlock"
	Livelock   LivenessVerdict = "livelock"
	Starved    LivenessVerdict = "starvation"
	Incomplete LivenessVerdict = "incomplete"
)

// LivenessResult is what a search for liveness has found out.
type LivenessResult struct {
	Verdict LivenessVerdict

	// Proven: with so many nodes, which may ask any number of times, every
	// property holds in every state, and every request is served in every fair
	// schedule.
	Proven bool

	States     uint64 // up to the values of clocks
	Steps      uint64 // between them
	Depth      int    // steps to the farthest state
	Components uint64 // strongly connected ones that were looked at, over all nodes that may wait

	Violation *vnet.Violation // nil where none was found
	Node      dme.NodeID      // who waits for ever; None where nobody does, or it is a matter of safety
	Lasso     *Lasso          // how; nil where there is none
	Trace     *Trace          // the same as events; nil where there is none

	NeverSent []string // kinds of messages: nothing is known of what comes of them

	Stopped string // why the verdict is Incomplete
	Refused uint64 // messages that nodes refused, once for each local state and message
	Refusal string // the reason of one of them
	Elapsed time.Duration
}

// Lasso is a schedule without end: the way in, and then the loop over and over.
// The loop of a deadlock is empty.
type Lasso struct {
	Prefix, Loop []vnet.Step
}

// LivenessMost is the largest number of nodes that Liveness takes.
const LivenessMost = 32

// Liveness searches the schedules in which every node may ask any number of
// times for one in which a request waits for ever, although the schedule is
// fair: every message arrives, every timer that may fire does so or is set
// again, and every critical section ends. Nobody has to ask. It also looks for
// what [Search.Exhaustive] looks for.
//
// The states are visited breadth first, up to the values of clocks
// ([vnet.Classes]), and kept with the steps between them; there is no reduction.
// Then, for each node, the strongly connected components are found of the states
// in which it waits. One is a fair schedule if each link delivers something
// within it or is empty in one of its states, and so on: a schedule that goes
// round all of it for ever is fair then, and every fair schedule in which the
// node waits for ever ends in such a component. (On links that do not keep order
// this is asked of each message, its clocks left aside: more schedules pass for
// fair than are, which is on the safe side.) If there is none, and the states
// came to an end, liveness is proved for that many nodes.
//
// An algorithm's invariants are looked at in each state, with the clocks of its
// representative: what they say of clocks beyond their order, and of rising clocks,
// is not proved.
//
// A loop that is found is repeated by a network of nodes, which has to come back
// to the same state but for its clocks. Where it does not, the verdict is
// Incomplete. An error says that the search itself is wrong.
func (s *Search) Liveness(ctx context.Context) (LivenessResult, error) {
	if !s.Unlimited {
		return LivenessResult{}, errors.New("check: a search for liveness needs Options.Unlimited")
	}
	start := time.Now()
	if s.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.Time)
		defer cancel()
	}
	g := newGraph(s)
	r, err := g.search(ctx)
	r.States, r.Steps, r.Depth, r.Components = uint64(g.states.len()), uint64(g.edges.len()), g.depth, g.components
	r.Refused, r.Refusal = g.walker.Refused()
	r.NeverSent = g.space.NeverSent()
	r.Elapsed = time.Since(start)
	return r, err
}

func starved(v LivenessVerdict, id dme.NodeID, loop int) *vnet.Violation {
	again := fmt.Sprintf("the last %d steps repeat for ever", loop)
	if v == Starved {
		return &vnet.Violation{
			Property: Starvation, Nodes: []dme.NodeID{id},
			Verdict: fmt.Sprintf("starvation: node %d waits for ever while others enter: %s", id, again),
		}
	}
	return &vnet.Violation{
		Property: Liveness, Nodes: []dme.NodeID{id}, Verdict: fmt.Sprintf("livelock: node %d waits and nobody enters: %s", id, again),
	}
}
