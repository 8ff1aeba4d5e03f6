package nats

import (
	"context"
	"fmt"
	"math"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/dme"
	"dmebench/transport/peers"
)

// held is a frame of an incarnation that has not been announced yet. Their number is bounded by the
// sender's window.
type held struct {
	header
	body []byte
}

// mark is a message of this process to itself, in the inbox: when deliver reaches it,
// all that had come before has been delivered.
type mark struct {
	m       natsgo.Msg // of no subscription
	reached func()
}

func (t *Transport) reached(m *natsgo.Msg) {
	if c := t.change.Load(); c != nil && &c.m == m {
		c.reached()
	}
}

// Expel reports a process as down, after all that the broker has of it.
func (t *Transport) Expel(peer dme.NodeID, cause error) error {
	return t.inOrder(peer, func(p *process) error {
		t.expel(p, cause)
		return nil
	})
}

// Readmit lets the next incarnation of a process take part.
func (t *Transport) Readmit(peer dme.NodeID, addr string, incarnation uint32) error {
	return t.inOrder(peer, func(p *process) error {
		top := t.life.Top()
		return top.Replace(p, addr, incarnation, !p.State.in.over, func(cause error) { t.expel(p, cause) }, func(next *process) error {
			if err := t.install(next); err != nil {
				return err
			}
			peers.Up(t.handler, next.Nodes, t.life.Closing)
			early := t.held
			t.held = nil
			for _, x := range early {
				t.take(top, top.Of(x.from), x.header, x.body)
			}
			return nil
		})
	})
}

// inOrder lets deliver call f with the process of peer, after all that the broker has
// for this process now, and returns when f has.
func (t *Transport) inOrder(peer dme.NodeID, f func(*process) error) error {
	return t.life.Change(peer, func(p *process) error {
		if _, err := t.ready(); err != nil {
			return peers.IgnoreClosed(err)
		}
		ctx, cancel := context.WithTimeout(t.leaving, connectTimeout)
		defer cancel()
		if err := t.conn.FlushWithContext(ctx); err != nil && !t.life.Closing() {
			return fmt.Errorf("nats: the broker at %s does not answer: %w", t.broker.Name(), err)
		}
		done := make(chan error, 1)
		c := &mark{reached: func() { done <- f(p) }}
		t.change.Store(c)
		select {
		case t.inbox <- &c.m:
		case <-t.leaving.Done():
			return nil
		case <-t.delivered:
			return t.Flush() // says why the transport has ended
		}
		select {
		case err := <-done:
			return err
		case <-t.delivered:
			return nil
		}
	})
}

// expel is called by deliver.
func (t *Transport) expel(p *process, cause error) {
	if p.State.in.over {
		return
	}
	p.State.in.over = true
	p.State.out.left.Store(true)
	for _, id := range p.Nodes {
		t.handler.Down(id, cause)
	}
}

// install puts an incarnation into the place of the one before, and welcomes it before
// anything else is sent to it.
func (t *Transport) install(next *process) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.life.Top().Install(next)
	t.address(next)
	return t.welcome(next)
}

// welcome tells a process that what follows is meant for it. It is called with mu
// held.
func (t *Transport) welcome(p *process) error {
	return t.publish(t.subjects[p.Node()], header{from: t.config.Local[0], to: p.Node(), number: t.broadcasts, welcome: true}, nil)
}

// deliver hands frames to the handler until the transport closes or ends. It waits for
// one channel only: a select costs more than all else that is done here for a frame.
func (t *Transport) deliver() {
	defer close(t.delivered)
	top := t.life.Top()
	for t.cause.Load() == nil && !t.life.Closing() {
		switch m := <-t.inbox; {
		case m == nil:
		case m.Sub == nil:
			t.reached(m)
		default:
			t.arrived(top, m)
		}
	}
}

// wakeDeliver makes deliver see that the transport closes, unless the inbox is full: it
// looks before it takes each frame.
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
	content, ok := t.seal.open(m.Data, what)
	r := peers.Reader{Rest: content, Failed: !ok}
	if what == anOrder {
		order = r.Uvarint(math.MaxUint64)
	}
	ok = h.decode(&r)
	p := top.Of(h.from)
	if !ok || p == nil || broadcast != (h.to == dme.None) || !broadcast && top.Of(h.to) != top.Self {
		t.refused.Add(1)
		return
	}
	if order > 0 {
		if t.order == 0 && t.config.Incarnation > 1 {
			t.order = order - 1 // this process came later
		}
		if !t.next(&t.order, order, "the sequencer") {
			return
		}
	}
	t.take(top, p, h, r.Rest)
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
		return // meant for the previous incarnation
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
	t.noteHandled(p, cost(body))
}

// deliverAll hands a broadcast to all nodes here; to its own only if broadcasts have one order.
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

// next reports whether number is the one that is due after last, and moves on. If a number is
// missing, it ends the transport.
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
