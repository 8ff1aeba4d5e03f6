package nats

import (
	"fmt"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/dme"
	"dmebench/transport/peers"
)

// held is a frame of an incarnation that nobody has announced yet. How many there are
// is bounded by its sender's window.
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

// reached is called by deliver with a message that is a mark.
func (t *Transport) reached(m *natsgo.Msg) {
	if c := t.change.Load(); c != nil && &c.m == m {
		c.reached()
	}
}

// Expel reports a process as down, after all that the broker has of it; see
// [transport.Readmitter].
func (t *Transport) Expel(peer dme.NodeID, cause error) error {
	return t.inOrder(peer, func(_ *topology, p *process) error {
		t.expel(p, cause)
		return nil
	})
}

// Readmit lets the next incarnation of a process take part; see
// [transport.Readmitter].
func (t *Transport) Readmit(peer dme.NodeID, addr string, incarnation uint32) error {
	return t.inOrder(peer, func(top *topology, p *process) error {
		return top.Replace(p, addr, incarnation, !p.State.in.over, func(cause error) { t.expel(p, cause) }, func(next *process) error {
			if err := t.install(top, next); err != nil {
				return err
			}
			peers.Up(t.handler, next.Nodes, t.closing.Load)
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
func (t *Transport) inOrder(peer dme.NodeID, f func(*topology, *process) error) error {
	t.changing.Lock()
	defer t.changing.Unlock()
	top, err := t.ready()
	if err != nil {
		return peers.IgnoreClosed(err)
	}
	p, err := top.Other(peer)
	if err != nil {
		return err
	}
	if err := t.conn.FlushTimeout(connectTimeout); err != nil && !t.closing.Load() {
		return fmt.Errorf("nats: the broker at %s does not answer: %w", t.broker.Name(), err)
	}
	done := make(chan error, 1)
	c := &mark{reached: func() { done <- f(top, p) }}
	t.change.Store(c)
	select {
	case t.inbox <- &c.m:
	case <-t.closed:
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
func (t *Transport) install(top *topology, next *process) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	top.Install(next)
	top.address(next)
	return t.welcome(top, next)
}

// welcomeAll welcomes all processes that are there, where this one or they have not
// been there from the start.
func (t *Transport) welcomeAll(top *topology) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for p := range top.All() {
		if p.State.in.open || p.Absent {
			continue
		}
		if err := t.welcome(top, p); err != nil {
			return err
		}
	}
	return nil
}

// welcome tells a process that what follows is meant for it. It is called with mu
// held.
func (t *Transport) welcome(top *topology, p *process) error {
	return t.publish(top.subjects[p.Node()], header{from: t.config.Local[0], to: p.Node(), number: t.broadcasts, welcome: true}, nil)
}
