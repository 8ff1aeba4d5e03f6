package vnet

import (
	"fmt"
	"slices"
	"strings"

	"dmebench/dme"
)

// Event is a step and what came of it.
type Event struct {
	Step
	Number  uint64      // of the message that arrived or was lost
	Msg     dme.Message // the message
	Effects []Effect    // in order: messages, entries, timers that were set
	Refused string      // why the message was refused
}

// Effect is something that a handler has done. The number of a message identifies its arrival.
type Effect struct {
	dme.Effect
	Number uint64
	Lost   bool // the message has no receiver
}

func (e *Event) lose(number uint64) {
	for i := range e.Effects {
		if e.Effects[i].Number == number {
			e.Effects[i].Lost = true
		}
	}
}

// Clone returns a copy that later steps leave alone.
func (e *Event) Clone() Event {
	c := *e
	c.Msg.Vec = slices.Clone(e.Msg.Vec)
	c.Effects = slices.Clone(e.Effects)
	for i := range c.Effects {
		c.Effects[i].Msg.Vec = slices.Clone(c.Effects[i].Msg.Vec)
	}
	return c
}

// Entered reports whether the step let the node into the critical section.
func (e *Event) Entered() bool {
	return slices.ContainsFunc(e.Effects, func(x Effect) bool { return x.Kind == dme.Enter })
}

// DescribeMessage writes the kind of a message and its fields that are not zero.
func DescribeMessage(a *dme.Algorithm, m *dme.Message) string { return a.KindName(m.Kind) + fields(m) }

func fields(m *dme.Message) string {
	var b []byte
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

// Describe tells an event in a line: what happened, and what came of it.
func (e *Event) Describe(a *dme.Algorithm) string {
	line := e.sentence(a)
	if effects := e.effects(a); effects != "" {
		line += ": " + effects
	}
	return line
}

var verbs = [...]string{
	dme.Start: "starts", dme.Request: "asks", dme.RequestShared: "asks, as a reader", dme.Exit: "leaves",
	dme.Receive: "arrives", dme.Copy: "arrives, and will again", dme.Lose: "is lost",
	dme.Stop: "is told that no more requests will come", dme.Crash: "crashes", dme.Restart: "restarts", dme.Join: "joins",
	dme.Depart: "is told to leave the system", dme.PeerDown: "is down", dme.PeerUp: "is up",
}

func (e *Event) sentence(a *dme.Algorithm) string {
	switch {
	case e.ofMessage():
		return fmt.Sprintf("%s %d→%d%s %s", a.KindName(e.Msg.Kind), e.From, e.Node, fields(&e.Msg), verbs[e.Kind])
	case e.Kind == dme.Timeout:
		return fmt.Sprintf("timer %d of node %d fires", e.Timer, e.Node)
	case e.Kind == dme.PeerDown || e.Kind == dme.PeerUp:
		return fmt.Sprintf("node %d hears that node %d %s", e.Node, e.From, verbs[e.Kind])
	}
	return fmt.Sprintf("node %d %s", e.Node, verbs[e.Kind])
}

func (e *Event) way(x *Effect) string {
	if x.Lost {
		return fmt.Sprintf(" %d→%d (lost)", e.Node, x.To)
	}
	return fmt.Sprintf(" %d→%d", e.Node, x.To)
}

func (e *Event) effects(a *dme.Algorithm) string {
	var parts []string
	for i := 0; i < len(e.Effects); i++ {
		switch x := &e.Effects[i]; x.Kind {
		case dme.Send:
			// A message to several nodes in a row is printed once.
			said := fields(&x.Msg)
			to := e.way(x)
			for i+1 < len(e.Effects) {
				next := &e.Effects[i+1]
				if next.Kind != dme.Send || next.Msg.Kind != x.Msg.Kind || fields(&next.Msg) != said {
					break
				}
				to += e.way(next)
				i++
			}
			parts = append(parts, a.KindName(x.Msg.Kind)+to+said)
		case dme.SetTimer:
			parts = append(parts, fmt.Sprintf("timer %d set to %v", x.Timer, x.Delay))
		case dme.Left:
			parts = append(parts, fmt.Sprintf("node %d has left", e.Node))
		case dme.Enter:
			parts = append(parts, fmt.Sprintf("node %d enters", e.Node))
		}
	}
	if e.Refused != "" {
		parts = append(parts, "refused, "+e.Refused)
	}
	return strings.Join(parts, ", ")
}
