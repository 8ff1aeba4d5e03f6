package nats

import (
	"fmt"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/dme"
)

// deliver hands frames to the handler, in the order of their arrival, until the
// transport closes or ends. It waits for one channel only: a select costs more
// than all else that is done here for a frame.
func (t *Transport) deliver() {
	defer close(t.delivered)
	top := t.top.Load()
	for t.cause.Load() == nil && !t.closing.Load() {
		switch m := <-t.inbox; {
		case m == nil:
		case m.Sub == nil:
			t.reached(m)
		default:
			t.arrived(top, m)
		}
	}
}

// wakeDeliver makes deliver see that the transport closes. Where the inbox is
// full, nothing needs to be done: deliver looks before it takes each frame.
func (t *Transport) wakeDeliver() {
	select {
	case t.inbox <- nil:
	default:
	}
}

// arrived takes in a message: a frame for a node here, or a broadcast.
func (t *Transport) arrived(top *topology, m *natsgo.Msg) {
	broadcast := m.Sub == t.alls
	what := aFrame
	if broadcast && t.broker.Sequenced {
		what = anOrder
	}
	var order uint64
	var h header
	var body []byte
	content, ok := t.seal.open(m.Data, what)
	if ok && what == anOrder {
		content, ok = uvarint(content, &order)
	}
	if ok {
		body, ok = h.decode(content)
	}
	p := top.Of(h.from)
	if !ok || p == nil || broadcast != (h.to == dme.None) || !broadcast && top.Of(h.to) != top.Self {
		t.refused.Add(1)
		return
	}
	if order > 0 {
		if t.order == 0 && t.config.Incarnation > 1 {
			t.order = order - 1 // this process has come later
		}
		if !t.next(&t.order, order, "the sequencer") {
			return
		}
	}
	t.take(top, p, h, body)
}

// take delivers a frame, if it comes from and for incarnations that are there.
func (t *Transport) take(top *topology, p *process, h header, body []byte) {
	in := &p.State.in
	switch {
	case h.incarnation < p.Incarnation || h.incarnation == p.Incarnation && in.over:
		t.refused.Add(1)
		return
	case h.incarnation > p.Incarnation:
		t.held = append(t.held, held{h, body})
		return
	case h.welcome:
		in.open, in.broadcast = true, h.number
		return
	case !in.open:
		return // it was meant for the incarnation before this one
	}
	broadcast := h.to == dme.None
	last := &in.unicast
	if broadcast {
		last = &in.broadcast
	}
	if !t.next(last, h.number, p) {
		return
	}
	if broadcast {
		t.deliverAll(top, h.from, body)
	} else {
		t.handler.Frame(h.from, h.to, body)
		t.received.Add(1)
	}
	t.settle(p, cost(body))
}

// deliverAll hands a broadcast to all nodes here; to its own only where
// broadcasts have one order.
func (t *Transport) deliverAll(top *topology, from dme.NodeID, body []byte) {
	for _, id := range top.Self.Nodes {
		if id != from {
			t.handler.Frame(from, id, body)
			t.received.Add(1)
		} else if t.monitor != nil {
			t.monitor.Transmitted(from, body)
		}
	}
}

// next reports whether number is the one that is due after last, and moves on.
// A smaller one has been here. A larger one means that something was lost, and
// ends the transport.
func (t *Transport) next(last *uint64, number uint64, from any) bool {
	switch {
	case number == *last+1:
		*last = number
		return true
	case number <= *last:
		t.duplicates.Add(1)
	default:
		t.end(fmt.Errorf("nats: the broker has lost %d messages from %v on the way to %s; "+
			"a server that restarts or a subscriber that does not keep up does that", number-*last-1, from, t.Addr()))
	}
	return false
}
