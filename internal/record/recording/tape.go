package recording

import (
	"strings"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// Tape notes down the steps of a network in memory, each at the time of its number in microseconds.
type Tape struct {
	Events []Event

	algorithm *dme.Algorithm
	step      int64
	kept      map[uint64]bool          // messages that have arrived as a copy and will arrive again
	states    map[dme.NodeID][]dme.Var // nodes whose variables are followed
}

func NewTape(a *dme.Algorithm) *Tape { return &Tape{algorithm: a, kept: make(map[uint64]bool)} }

// Start notes down what a node did at its start, before the first step.
func (t *Tape) Start(e *vnet.Event) { t.add(e, Event{Node: e.Node, What: dme.Start}) }

func (t *Tape) Add(e *vnet.Event) {
	t.step++
	x := Event{Node: e.Node, What: e.Kind}
	switch e.Kind {
	case dme.Receive, dme.Copy, dme.Lose:
		x.Peer, x.ID = e.From, e.Number
		x.Kind, x.Message = Described(t.algorithm, &e.Msg)
		x.Copy = e.Kind == dme.Copy || t.kept[e.Number]
		if e.Kind == dme.Copy {
			x.What = dme.Receive
			t.kept[e.Number] = true
		}
		if e.From == e.Node {
			x.What = dme.Hear
		}
	case dme.Timeout:
		timer := int(e.Timer)
		x.Timer = &timer
	case dme.PeerDown, dme.PeerUp:
		x.Peer = e.From
	}
	t.add(e, x)
}

func (t *Tape) add(e *vnet.Event, x Event) {
	put := func(x Event) {
		x.At = t.step * 1000
		t.Events = append(t.Events, x)
	}
	put(x)
	for i := range e.Effects {
		f := &e.Effects[i]
		x := Event{Node: e.Node, What: f.Kind}
		switch f.Kind {
		case dme.Send:
			x.Peer, x.ID, x.Lost = f.To, f.Number, f.Lost
			x.Kind, x.Message = Described(t.algorithm, &f.Msg)
		case dme.Enter:
			if !f.Stamp.IsZero() {
				x.Stamp = f.Stamp.String()
			}
		case dme.SetTimer:
			timer := int(f.Timer)
			x.Timer, x.Delay = &timer, int64(f.Delay)
		}
		put(x)
	}
	if e.Refused != "" {
		put(Event{Node: e.Node, What: dme.Refuse, Reason: e.Refused})
	}
}

// Watch notes the variables of a node before the first step, for Changed.
func (t *Tape) Watch(id dme.NodeID, n dme.Node) {
	if t.states == nil {
		t.states = make(map[dme.NodeID][]dme.Var)
	}
	t.states[id] = dme.Variables(n)
}

// Changed notes, at the last step, which variables of its node the step has
// changed: queues, sets, nodes and stamps first, then what is true or false. Numbers,
// which most often count, are left out.
func (t *Tape) Changed(id dme.NodeID, n dme.Node) {
	before, now := t.states[id], dme.Variables(n)
	t.states[id] = now
	var parts, flags []string
	for i, v := range now {
		switch text := v.Name + "=" + v.Value; {
		case v.Number || i < len(before) && before[i] == v:
		case v.Value == "true" || v.Value == "false":
			flags = append(flags, text)
		default:
			parts = append(parts, text)
		}
	}
	parts = append(parts, flags...)
	for i := len(t.Events) - 1; i >= 0 && parts != nil; i-- {
		if e := &t.Events[i]; e.Node == id && e.Begins() {
			e.State = strings.Join(parts, "  ")
			return
		}
	}
}

// Held lists the variables that hold something and are no numbers, which mostly count.
func Held(n dme.Node) []string {
	var lines []string
	for _, v := range dme.Variables(n) {
		switch v.Value {
		case "", "-", "[]", "{}", "false":
			continue
		}
		if !v.Number {
			lines = append(lines, v.Name+"="+v.Value)
		}
	}
	return lines
}
