package nats

import (
	"errors"
	"fmt"

	"dmebench/dme"
	"dmebench/transport"
)

// Send publishes a frame; see [transport.Transport]. Frames to a process that
// has left are dropped without an error.
func (t *Transport) Send(from, to dme.NodeID, b []byte) error {
	top, err := t.ready(from, b)
	if err != nil {
		return err
	}
	p := top.at(to)
	if p == nil {
		return fmt.Errorf("nats: no node %d in this run", to)
	}
	c := cost(b)
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.out.left.Load() {
		t.frames++
		return nil
	}
	if !p.out.admits(c, t.limits.backlog) {
		return t.full(p)
	}
	h := header{from: from, to: to, number: p.out.number + 1}
	if err := t.publish(top.subjects[to], h, b); err != nil {
		return err
	}
	p.out.number++
	t.charge(p, c)
	t.frames++
	return nil
}

// Broadcast publishes one frame for every node but from.
func (t *Transport) Broadcast(from dme.NodeID, b []byte) error {
	top, err := t.ready(from, b)
	if err != nil {
		return err
	}
	c := cost(b)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range top.all {
		if !p.out.left.Load() && !p.out.admits(c, t.limits.backlog) {
			return t.full(p)
		}
	}
	h := header{from: from, to: dme.None, number: t.broadcasts + 1}
	if err := t.publish(top.subjects[dme.None], h, b); err != nil {
		return err
	}
	t.broadcasts++
	for _, p := range top.all {
		t.charge(p, c)
	}
	t.frames += uint64(t.config.Nodes - 1)
	return nil
}

// ready checks what does not depend on the receiver.
func (t *Transport) ready(from dme.NodeID, b []byte) (*topology, error) {
	top := t.top.Load()
	switch cause := t.cause.Load(); {
	case t.closing.Load():
		return nil, errClosed
	case cause != nil:
		return nil, *cause
	case top == nil:
		return nil, errors.New("nats: Send before Start")
	case top.at(from) != top.self:
		return nil, fmt.Errorf("nats: node %d does not live in this process and cannot send from here", from)
	case len(b) > t.largest:
		return nil, fmt.Errorf("nats: frame of %d bytes from node %d, at most %d allowed: %w",
			len(b), from, t.largest, transport.ErrFrameTooLarge)
	}
	return top, nil
}

// publish seals a frame and gives it to the client library, which copies it. It
// is called with mu held. The library writes in the background; where its buffer
// is full it writes at once, and waits for the socket. The broker and the other
// processes read on meanwhile, whatever their handlers do.
func (t *Transport) publish(subject string, h header, body []byte) error {
	frame := t.outSeal.start(t.frame[:0])
	frame = h.append(frame)
	frame = append(frame, body...)
	t.outSeal.close(frame, aFrame)
	err := t.conn.Publish(subject, frame)
	if cap(frame) > keptBuffer {
		frame = nil
	}
	t.frame = frame
	switch cause := t.cause.Load(); {
	case err == nil:
		return nil
	case t.closing.Load():
		return errClosed
	case cause != nil:
		return *cause
	default:
		return fmt.Errorf("nats: publish to %s: %w", subject, err)
	}
}

// keptBuffer is the largest encoding buffer in bytes that is kept for reuse.
const keptBuffer = 1 << 20

func (t *Transport) charge(p *process, c uint64) {
	if p.out.left.Load() {
		return
	}
	p.out.charged += c
	t.backlog = max(t.backlog, p.out.outstanding())
}

// Flush returns why the transport has ended, if it has. There is nothing to
// flush: Send has handed everything to the network.
func (t *Transport) Flush() error {
	if t.closing.Load() {
		return errClosed
	}
	if cause := t.cause.Load(); cause != nil {
		return *cause
	}
	return nil
}
