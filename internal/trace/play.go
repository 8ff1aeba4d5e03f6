package trace

import (
	"fmt"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/internal/noderun"
	"dmebench/internal/spacetime"
)

// Play carries out a scenario of algorithm a and returns its text with the
// outcomes as they are, and its diagram. readFile serves options that name a
// file. A command that cannot be carried out is an error, as is a second node
// in the critical section.
func (s *Scenario) Play(a *dme.Algorithm, readFile func(string) ([]byte, error)) (text []byte, d *spacetime.Diagram, err error) {
	opt, err := a.Resolve(s.Set)
	if err == nil {
		err = a.CheckNodes(s.Nodes, opt)
	}
	var sys dme.System
	if err == nil {
		sys, err = a.Prepare(dme.Config{Nodes: s.Nodes, Seed: 1, Options: opt, ReadFile: readFile})
	}
	if err != nil {
		return nil, nil, fmt.Errorf("trace: %s: %w", s.Name, err)
	}
	n := &network{algorithm: a, hosts: make([]*noderun.Runner, s.Nodes+1), picture: newPicture(s, a)}
	for id := 1; id <= s.Nodes; id++ {
		n.hosts[id] = noderun.New(a, sys, s.Nodes, dme.NodeID(id), n, new(noderun.Counters))
	}
	var out strings.Builder
	started := false
	for _, l := range s.lines {
		if l.command.verb != "" && !started {
			started = true
			for _, h := range n.hosts[1:] {
				h.Start()
			}
		}
		out.WriteString(l.text + "\n")
		if l.command.verb != "" {
			if err := n.carryOut(l.command); err != nil {
				return nil, nil, fmt.Errorf("trace: %s:%d: %s: %w", s.Name, l.number, l.text, err)
			}
		}
		for _, outcome := range n.outcomes {
			out.WriteString("  " + outcome + "\n")
		}
		n.outcomes = n.outcomes[:0]
	}
	return []byte(out.String()), n.picture.finish(n.flight), nil
}

// network is the nodes and what is on its way between them. It is their World.
type network struct {
	algorithm *dme.Algorithm
	hosts     []*noderun.Runner // by node
	flight    []letter          // oldest first
	timers    []timer
	inside    []dme.NodeID
	outcomes  []string
	picture   *picture
}

type letter struct {
	from, to dme.NodeID
	message  dme.Message
	sent     int // row of the picture
}

type timer struct {
	node dme.NodeID
	id   dme.TimerID
}

func (n *network) carryOut(c command) error {
	switch c.verb {
	case request:
		n.picture.point(c.node, spacetime.Request)
		n.hosts[c.node].Request()
	case requestShared:
		if _, ok := n.hosts[c.node].Node().(dme.SharedRequester); !ok {
			return fmt.Errorf("%s has no readers", n.algorithm.Name)
		}
		n.picture.point(c.node, spacetime.Request)
		n.hosts[c.node].RequestShared()
	case exit:
		if n.hosts[c.node].Activity() != noderun.Inside {
			return fmt.Errorf("node %d is %v", c.node, n.hosts[c.node].Activity())
		}
		n.leave(c.node)
	case deliver, lose:
		l, err := n.take(c)
		if err != nil {
			return err
		}
		if c.verb == lose {
			n.picture.ends(l, spacetime.Lost)
			break
		}
		n.receive(l)
	case settle:
		for len(n.flight) > 0 {
			l := n.flight[0]
			n.flight = n.flight[1:]
			n.note("deliver %d->%d %s", l.from, l.to, Describe(n.algorithm, &l.message))
			n.receive(l)
		}
	case timeout:
		for i, t := range n.timers {
			if t.node == c.node && t.id == c.timer {
				n.timers = append(n.timers[:i], n.timers[i+1:]...)
				n.picture.point(c.node, spacetime.Timer)
				n.hosts[c.node].Timeout(c.timer)
				return n.safe()
			}
		}
		return fmt.Errorf("node %d has no timer %d set", c.node, c.timer)
	case stop:
		for _, h := range n.hosts[1:] {
			h.Stop()
		}
	case state:
		for _, h := range n.hosts[1:] {
			if c.node == dme.None || h.ID() == c.node {
				n.note("%s", noderun.Describe(h))
			}
		}
	}
	return n.safe()
}

func (n *network) receive(l letter) {
	n.picture.ends(l, spacetime.Arrives)
	h := n.hosts[l.to]
	before := h.Counters().Refused.Load()
	h.Receive(l.from, &l.message)
	if h.Counters().Refused.Load() > before {
		n.note("refuse: %s", h.LastRefusal())
	}
}

func (n *network) leave(id dme.NodeID) {
	for i, inside := range n.inside {
		if inside == id {
			n.inside = append(n.inside[:i], n.inside[i+1:]...)
			break
		}
	}
	n.picture.leave(id)
	n.hosts[id].Release()
}

// take removes the message that the command means from what is on its way.
func (n *network) take(c command) (letter, error) {
	for i, l := range n.flight {
		if l.from == c.node && l.to == c.to && (c.kind == "" || n.algorithm.KindName(l.message.Kind) == c.kind) {
			n.flight = append(n.flight[:i:i], n.flight[i+1:]...)
			return l, nil
		}
	}
	return letter{}, fmt.Errorf("no such message is on its way; there are: %s", n.onTheWay())
}

func (n *network) onTheWay() string {
	var parts []string
	for _, l := range n.flight {
		parts = append(parts, fmt.Sprintf("%d->%d %s", l.from, l.to, n.algorithm.KindName(l.message.Kind)))
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// safe reports a violation of mutual exclusion.
func (n *network) safe() error {
	writers := 0
	for _, id := range n.inside {
		if !n.hosts[id].Shared() {
			writers++
		}
	}
	if writers > 0 && len(n.inside) > 1 {
		return fmt.Errorf("the nodes %v are in the critical section together", n.inside)
	}
	return nil
}

func (n *network) note(format string, args ...any) {
	n.outcomes = append(n.outcomes, fmt.Sprintf(format, args...))
}

// Send puts a message on its way.
func (n *network) Send(from, to dme.NodeID, m *dme.Message) {
	n.note("send %d->%d %s", from, to, Describe(n.algorithm, m))
	n.flight = append(n.flight, letter{from, to, *m, n.picture.row})
}

// Broadcast puts a message to everybody on its way.
func (n *network) Broadcast(from dme.NodeID, m *dme.Message) int {
	for to := dme.NodeID(1); int(to) < len(n.hosts); to++ {
		if to != from {
			copied := *m
			copied.Vec = append([]uint64(nil), m.Vec...)
			n.Send(from, to, &copied)
		}
	}
	return len(n.hosts) - 2
}

// Enter lets a node into the critical section.
func (n *network) Enter(id dme.NodeID, stamp dme.Stamp) {
	n.inside = append(n.inside, id)
	n.picture.enter(id)
	if stamp.IsZero() {
		n.note("enter %d", id)
		return
	}
	n.note("enter %d %v", id, stamp)
}

// SetTimer arms a timer; it fires when the scenario says so.
func (n *network) SetTimer(id dme.NodeID, t dme.TimerID, d time.Duration) {
	n.CancelTimer(id, t)
	n.timers = append(n.timers, timer{id, t})
	n.note("timer %d %d %v", id, t, d)
}

// CancelTimer disarms a timer.
func (n *network) CancelTimer(id dme.NodeID, t dme.TimerID) {
	for i, x := range n.timers {
		if x.node == id && x.id == t {
			n.timers = append(n.timers[:i], n.timers[i+1:]...)
			return
		}
	}
}

// Describe writes a message as a person reads it: its kind, and the fields that
// are not zero.
func Describe(a *dme.Algorithm, m *dme.Message) string {
	b := []byte(a.KindName(m.Kind))
	field := func(name string, value any, zero bool) {
		if !zero {
			b = fmt.Appendf(b, " %s=%v", name, value)
		}
	}
	field("flags", m.Flags, m.Flags == 0)
	field("node", m.Node, m.Node == dme.None)
	field("clock", m.Clock, m.Clock == 0)
	field("num", m.Num, m.Num == 0)
	field("req", m.Req, m.Req.IsZero())
	field("done", m.Done, m.Done.IsZero())
	field("vec", m.Vec, len(m.Vec) == 0)
	return string(b)
}
