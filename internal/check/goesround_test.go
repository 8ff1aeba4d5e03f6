package check

import (
	"testing"

	"dmebench/dme"
)

// slow: node 2 asks node 1 again and again, whose clock rises by 1 each time, and is
// next when that clock has reached a goal.
type slow struct {
	id              dme.NodeID
	clock, goal     uint64
	busy            bool // node 1 is inside, or node 2 may be
	waiting, wanted bool // node 2 is next; node 1 asks
}

const (
	slowQuestion dme.Kind = iota + 1
	slowNotYet
	slowNow
	slowRelease
)

func slowly(goal uint64) *dme.Algorithm {
	a := toy("slow", func(id dme.NodeID, _ int) dme.Node { return &slow{id: id, goal: goal} }, "QUESTION", "NOT_YET", "NOW", "RELEASE")
	a.Clocks = func(int, dme.NodeID, *dme.Message, *dme.Visitor) {}
	return a
}

func (n *slow) Request(out *dme.Outbox) {
	if n.id == 2 {
		out.Send(1, dme.Message{Kind: slowQuestion})
		return
	}
	n.wanted = true
	n.serve(out)
}

func (n *slow) Release(out *dme.Outbox) {
	if n.id == 2 {
		out.Send(1, dme.Message{Kind: slowRelease})
		return
	}
	n.busy = false
	n.serve(out)
}

func (n *slow) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch {
	case m.Kind == slowNow:
		out.Enter(dme.Stamp{})
	case m.Kind == slowNotYet:
		out.Send(from, dme.Message{Kind: slowQuestion})
	case m.Kind == slowRelease:
		n.busy = false
		n.serve(out)
	case n.clock == n.goal:
		n.waiting = true
		n.serve(out)
	default:
		n.clock++
		out.Send(from, dme.Message{Kind: slowNotYet})
	}
}

func (n *slow) serve(out *dme.Outbox) {
	switch {
	case n.busy:
	case n.waiting:
		n.busy, n.waiting = true, false
		out.Send(2, dme.Message{Kind: slowNow})
	case n.wanted:
		n.busy, n.wanted = true, false
		out.Enter(dme.Stamp{})
	}
}

func (n *slow) State(v *dme.Visitor) {
	if n.id == 1 { // node 2's, which stays where it was, would fall behind at the same time
		v.Clock("clock", &n.clock)
		v.Clock("goal", &n.goal)
	}
	v.Bool("busy", &n.busy)
	v.Bool("waiting", &n.waiting)
	v.Bool("wanted", &n.wanted)
}

// A loop in which one clock comes closer to another ends some day: nobody waits for
// ever in it.
func TestALoopThatComesToAnEnd(t *testing.T) {
	if r := livenessOf(t, slowly(100), Options{Nodes: 2}); r.Verdict != Incomplete || r.Violation != nil {
		t.Errorf("%s of node %d: %v", r.Verdict, r.Node, r.Violation)
	}
}
