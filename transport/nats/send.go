package nats

import (
	"errors"
	"fmt"

	"dmebench/dme"
)

// Send publishes a frame; see [transport.Transport]. Frames to a process that
// has left are dropped without an error.
func (t *Transport) Send(from, to dme.NodeID, b []byte) error {
	top, err := t.ready()
	if err != nil {
		return err
	}
	p, err := top.Route(from, to, len(b), t.largest)
	if err != nil {
		return err
	}
	out, c := &p.State.out, cost(b)
	t.mu.Lock()
	defer t.mu.Unlock()
	if out.left.Load() {
		t.frames++
		return nil
	}
	if !out.admits(c, t.limits.backlog) {
		return t.full(p)
	}
	h := header{from: from, to: to, number: out.number + 1}
	if err := t.publish(top.subjects[to], h, b); err != nil {
		return err
	}
	out.number++
	t.charge(p, c)
	t.frames++
	return nil
}

// Broadcast publishes one frame for every node but from.
func (t *Transport) Broadcast(from dme.NodeID, b []byte) error {
	top, err := t.ready()
	if err != nil {
		return err
	}
	if err := top.Sendable(from, len(b), t.largest); err != nil {
		return err
	}
	c := cost(b)
	t.mu.Lock()
	defer t.mu.Unlock()
	for p := range top.All() {
		if !p.State.out.left.Load() && !p.State.out.admits(c, t.limits.backlog) {
			return t.full(p)
		}
	}
	h := header{from: from, to: dme.None, number: t.broadcasts + 1}
	if err := t.publish(top.subjects[dme.None], h, b); err != nil {
		return err
	}
	t.broadcasts++
	for p := range top.All() {
		t.charge(p, c)
	}
	t.frames += uint64(t.config.Nodes - 1)
	return nil
}

// ready returns the topology, or why nothing can be sent.
func (t *Transport) ready() (*topology, error) {
	top := t.top.Load()
	switch cause := t.cause.Load(); {
	case t.closing.Load():
		return nil, errClosed
	case cause != nil:
		return nil, *cause
	case top == nil:
		return nil, errors.New("nats: not started")
	}
	return top, nil
}

// publish seals a frame and gives it to the client library, which copies it. It
// is called with mu held. The library writes in the background; where its buffer
// is full it writes at once, and waits for the socket. The broker and the other
// processes read on meanwhile, whatever their handlers do.
func (t *Transport) publish(subject string, h header, body []byte) error {
	h.incarnation = t.config.Incarnation
	frame := append(h.append(t.seal.start(t.frame, aFrame)), body...)
	frame = t.seal.close(frame, aFrame)
	err := t.conn.Publish(subject, frame)
	if cap(frame) > keptBuffer {
		frame = nil
	}
	t.frame = frame
	if err == nil {
		return nil
	}
	if _, ended := t.ready(); ended != nil {
		return ended
	}
	return fmt.Errorf("nats: publish to %s: %w", subject, err)
}

// keptBuffer is the largest encoding buffer in bytes that is kept for reuse.
const keptBuffer = 1 << 20

func (t *Transport) charge(p *process, c uint64) {
	if p.State.out.left.Load() {
		return
	}
	p.State.out.charged += c
	t.backlog = max(t.backlog, p.State.out.outstanding())
}

// Flush returns why the transport has ended, if it has. There is nothing to
// flush: Send has handed everything to the network.
func (t *Transport) Flush() error {
	_, err := t.ready()
	return err
}
