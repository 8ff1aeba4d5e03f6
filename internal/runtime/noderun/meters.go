package noderun

import (
	"slices"
	"time"

	"dmebench/dme"
)

// Meters feeds the gauges of an algorithm from what happens at the nodes of one run.
// It is an [Observer] of all of them; whoever runs them calls Settle after each event.
type Meters struct {
	meters     []dme.Meter
	quantities []dme.Quantity // of the meters
	node       func(dme.NodeID) dme.Node
	now        func() time.Duration
	also       Observer // is told everything too; nil for nobody

	step  []dme.Moment // of the handler that was called last: what called it, and what it did
	onWay int          // messages that were sent and not handled
}

// NewMeters begins the measurements of a run; nil where there is nothing to measure.
// node returns a node as it is now, now the time since the nodes were started.
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

// Also has o told everything too, before the meters.
func (m *Meters) Also(o Observer) { m.also = o }

// Observe implements [Observer].
func (m *Meters) Observe(id dme.NodeID, h Happening) {
	if m.also != nil {
		m.also.Observe(id, h)
	}
	if h.What < Sends { // a handler is about to be called
		m.Settle()
		x := dme.Moment{What: occasions[h.What], ID: id}
		if h.What == Receives {
			m.onWay--
			x.Peer, x.Msg = h.Peer, copied(h.Msg)
		}
		m.step = append(m.step, x)
	}
	switch h.What {
	case Enters:
		m.step = append(m.step, dme.Moment{What: dme.HasEntered, ID: id})
	case Sends:
		m.onWay++
		m.step = append(m.step, dme.Moment{What: dme.HasSent, ID: id, Peer: h.Peer, Msg: copied(h.Msg)})
	}
}

// copied returns a message with a vector of its own: the receiver may change the other
// before it is looked at.
func copied(m *dme.Message) dme.Message {
	c := *m
	c.Vec = slices.Clone(m.Vec)
	return c
}

// occasions are those of what calls handlers; the others have no name.
var occasions = [Sends]dme.Occasion{
	Asks: dme.HasAsked, AsksShared: dme.HasAskedShared, Exits: dme.HasLeft, Receives: dme.HasReceived,
	Crashes: dme.HasCrashed, Restarts: dme.HasReturned, Joins: dme.HasReturned,
}

// Settle says that all handlers that were called are through.
func (m *Meters) Settle() {
	if m == nil {
		return
	}
	for _, x := range m.step {
		x.At, x.Node, x.OnTheWay = m.now(), m.node(x.ID), m.onWay
		for _, meter := range m.meters {
			meter.Note(x)
		}
	}
	m.step = m.step[:0]
}

// Figures returns what has been measured until now, by the ids of the quantities;
// nil where nothing was.
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
			figures[m.quantities[i].ID] = value
		}
	}
	return figures
}

// Observer is told what happens at a node, in order: first what calls a handler,
// such as a message that arrives, then what the handler did. It is called within
// the event, so it must not block; what Msg points to is valid during the call.
type Observer interface {
	Observe(id dme.NodeID, h Happening)
}

// What says what happens.
type What uint8

// What calls a handler comes first, then what handlers do.
const (
	Starts     What = iota + 1 // the node begins
	Asks                       // the local process asks for the critical section
	AsksShared                 // the same, as a reader
	Exits                      // the local process leaves the critical section
	Receives                   // a message arrives
	Hears                      // its own broadcast takes its place among all
	Fires                      // a timer fires
	Stops                      // the node is told that no more requests will come
	Crashes                    // the node is gone, or not there yet
	Restarts                   // it is back
	Joins                      // it comes in
	Departs                    // it is told to leave the system
	PeerDown                   // it hears that another is down
	PeerUp                     // it hears that another is up

	Sends     // a message to one node; a broadcast is one to each
	Enters    // the node enters the critical section
	SetsTimer // a timer is set
	Refuses   // a message is refused
	Gone      // the node has left the system
)

// Happening is something that happens at a node. The fields are set that What
// needs.
type Happening struct {
	What   What
	Peer   dme.NodeID // the sender or the receiver of a message; who is down or up
	Msg    *dme.Message
	Stamp  dme.Stamp // of the request that is granted
	Timer  dme.TimerID
	Delay  time.Duration
	Reason string // of a refusal
}

// Tell has o told what happens at the node from now on.
func (h *Runner) Tell(o Observer) { h.observer = o }

func (h *Runner) observe(x Happening) {
	if h.observer != nil {
		h.observer.Observe(h.id, x)
	}
}

func (h *Runner) observeBroadcast(m *dme.Message) {
	for to := dme.NodeID(1); int(to) <= h.nodes; to++ {
		if to != h.id {
			h.observer.Observe(h.id, Happening{What: Sends, Peer: to, Msg: m})
		}
	}
}
