package noderun

import (
	"slices"
	"time"

	"dmebench/dme"
)

// Meters feeds the gauges of an algorithm from what happens at the nodes of one run. It is an
// [Observer] of all of them; the runtime calls Settle after each event.
type Meters struct {
	meters     []dme.Meter
	quantities []string // of the meters
	node       func(dme.NodeID) dme.Node
	now        func() time.Duration
	also       Observer // receives everything too; may be nil

	step  []dme.Event // of the handler that was called last: what called it, and what it did
	onWay int         // messages that were sent and not handled
}

// NewMeters begins the measurements of a run; nil if there is nothing to measure.
func NewMeters(a *dme.Algorithm, s dme.Setting, node func(dme.NodeID) dme.Node, now func() time.Duration) *Meters {
	m := &Meters{node: node, now: now}
	for _, g := range a.Gauges {
		if meter := g.Begin(s); meter != nil {
			m.meters = append(m.meters, meter)
			m.quantities = append(m.quantities, g.Quantity)
		}
	}
	if len(m.meters) == 0 {
		return nil
	}
	return m
}

func (m *Meters) Also(o Observer) { m.also = o }

func (m *Meters) Observe(id dme.NodeID, h Event) {
	if m.also != nil {
		m.also.Observe(id, h)
	}
	switch {
	case !h.Kind.IsEffect(): // a handler is about to be called
		m.Settle()
		x := m.add(h.Kind, id)
		if h.Kind == dme.Receive {
			m.onWay--
			carry(x, &h)
		}
	case h.Kind == dme.Enter:
		m.add(dme.Enter, id)
	case h.Kind == dme.Send:
		m.onWay++
		carry(m.add(dme.Send, id), &h)
	}
}

func (m *Meters) add(k dme.EventKind, id dme.NodeID) *dme.Event {
	m.step = append(m.step, dme.Event{})
	x := &m.step[len(m.step)-1]
	x.Kind, x.ID = k, id
	return x
}

// carry sets what a message is, with a vector of its own: the receiver may change the other.
func carry(x *dme.Event, h *Event) {
	x.Peer, x.Msg = h.Peer, *h.Msg
	x.Msg.Vec = slices.Clone(h.Msg.Vec)
}

// Settle says that all handlers that were called are through.
func (m *Meters) Settle() {
	if m == nil || len(m.step) == 0 {
		return
	}
	at, node := m.now(), m.node(m.step[0].ID) // one handler: one instant, at one node
	for i := range m.step {
		x := &m.step[i]
		x.At, x.Node, x.OnTheWay = at, node, m.onWay
		for _, meter := range m.meters {
			meter.Note(x)
		}
	}
	m.step = m.step[:0]
}

// Figures returns what has been measured until now, by the ids of the quantities.
func (m *Meters) Figures() map[string]float64 {
	if m == nil {
		return nil
	}
	var figures map[string]float64
	for i, meter := range m.meters {
		if value, ok := meter.Value(); ok {
			if figures == nil {
				figures = make(map[string]float64)
			}
			figures[m.quantities[i]] = value
		}
	}
	return figures
}

// Observer sees what happens at a node, in order: first what calls a handler, then what the handler
// did. It must not block; what Msg points to is valid during the call.
type Observer interface {
	Observe(id dme.NodeID, h Event)
}

type Event struct {
	Kind   dme.EventKind
	Peer   dme.NodeID // the sender or the receiver of a message; the node that is down or up
	Msg    *dme.Message
	Stamp  dme.Stamp // of the request that is granted
	Timer  dme.TimerID
	Delay  time.Duration
	Reason string // of a refusal
}

func (g *Group) SetObserver(o Observer) { g.observer = o }

func (h *Runner) observe(x Event) {
	if h.observer != nil {
		h.observer.Observe(h.id, x)
	}
}

func (h *Runner) observeBroadcast(m *dme.Message) {
	for to := dme.NodeID(1); int(to) <= h.nodes; to++ {
		if to != h.id {
			h.observer.Observe(h.id, Event{Kind: dme.Send, Peer: to, Msg: m})
		}
	}
}
