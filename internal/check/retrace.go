package check

import (
	"bytes"
	"fmt"
	"slices"

	"dmebench/dme"
	"dmebench/internal/noderun"
)

// standstill is the violation of a state in which somebody waits and nothing
// moves.
func (x *expander) standstill(v []uint32) *Violation {
	var waiting []dme.NodeID
	for i := range x.Nodes {
		if x.components.locals.at(v[i]).activity == noderun.Requesting {
			waiting = append(waiting, dme.NodeID(i+1))
		}
	}
	return stalled(waiting)
}

// trace repeats the way to the violation that was found in a system of nodes,
// which have to show the same.
func (x *exhaustive) trace() (*Trace, error) {
	e := newExpander(x.explorer)
	s := newSystem(x.model)
	v, h := x.vectorOf(s)
	path := x.origins.path(x.found.state)
	if x.found.move >= 0 {
		path = append(path, x.found.move)
	}
	var steps []Step
	for _, k := range path {
		moves, _ := e.possible(v)
		step, ok := e.stepOf(s, v, moves[k])
		if !ok || !s.possible(step) {
			return nil, fmt.Errorf("check: step %d, %v, of the schedule that was found is not possible; this is a fault of the search, please report it", len(steps)+1, step)
		}
		bad := e.take(v, h, moves[k])
		steps = append(steps, step)
		s.do(step)
		if bad != nil {
			break
		}
		copy(v, e.next)
		h = e.hash
		if _, real := x.vectorOf(s); real != h {
			return nil, fmt.Errorf("check: step %d, %v, leads the nodes into another state than in the search; an algorithm whose saved state is not all of its state does that, or a fault of the search", len(steps), step)
		}
	}
	t, _ := replay(x.model, steps, false)
	if t.Violation.Property == "" {
		return nil, fmt.Errorf("check: the search found «%v», its schedule does not show it; this is a fault of the search, please report it", &x.found.Violation)
	}
	return t, nil
}

// stepOf returns the step of s, which is in state v, that a move is.
func (x *expander) stepOf(s *system, v []uint32, m move) (Step, bool) {
	step := Step{Kind: m.kind, Node: m.node, Timer: m.timer}
	if m.kind != Deliver && m.kind != Copy && m.kind != Lose {
		return step, true
	}
	p := x.components.parcels.at(x.components.queues.at(v[m.at]).parcels[m.index])
	step.From = p.from
	for i, l := range s.links[s.linkOf(p.from, p.to)].queue {
		if l.copy == p.copy && slices.Equal(l.marks, p.marks) && bytes.Equal(dme.AppendMessage(nil, &l.msg), []byte(p.body)) {
			step.Index = i
			return step, true
		}
	}
	return step, false
}
