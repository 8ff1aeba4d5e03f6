package udp

import (
	"fmt"
	"sync"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/frame"
)

// peer is the link with one process, both ways.
type peer struct {
	t       *reliable
	process *process
	hand    func(frame.Frame) // delivers a frame

	// delivery serializes what is handed to the handler. It is taken before mu,
	// and held while handlers run.
	delivery sync.Mutex
	order    order
	batch    int // frames delivered

	nextDirty *peer // in the dirty list

	mu    sync.Mutex // never held while a handler runs
	fate  fate
	known bool // is in t.met
	dirty bool // in the dirty list
	epoch uint32
	// candidate is the epoch of an incarnation that has greeted, and has not
	// shown yet that it is not of the past.
	candidate uint32
	greetings greetings

	out     sender
	in      receiver
	bye     uint64 // the number of the peer's farewell, and 1; 0 before it has come
	parting bool   // this side's farewell is queued
	parted  bool   // and the peer knows, or never will

	heard  instant // when something of this link came last
	asked  instant // since when an answer is awaited; 0 while none is
	closed instant // when the network said that the peer's port is closed; 0 if it did not
	cause  error   // what it said

	frames, duplicates uint64
	scratch            []byte
	bits               [maxBits]byte
}

// fate is what became of a process.
type fate uint8

const (
	alive fate = iota
	left       // it said farewell
	down       // it has fallen silent
)

func newPeer(t *reliable, p *process) *peer {
	body := datagramSize(t.datagram, p) - overhead - frame.MaxHeader - segmentRoom
	x := &peer{
		t: t, process: p, order: newOrder(t.layer),
		out: newSender(body, &t.limits), in: receiver{delay: t.limits.ackDelay},
	}
	x.hand = func(f frame.Frame) { t.deliver(x, f) }
	return x
}

// send queues a frame.
func (p *peer) send(from, to dme.NodeID, b []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if gone, err := p.gone(1); gone {
		return err
	}
	if p.out.push(from, to, b) != nil {
		return p.full()
	}
	p.frames++
	p.introduce()
	if !p.dirty {
		// Within the lock, so that whoever sees dirty also finds the peer in
		// the list: a flush must not miss a frame whose Send has returned.
		p.dirty = true
		p.t.dirty.push(p)
	}
	return nil
}

// gone reports whether nothing is queued any more, with the error that this is
// for who sends; frames to a process that is no more are dropped without one. It
// is called with mu held.
func (p *peer) gone(frames uint64) (bool, error) {
	if p.fate == alive && !p.parting {
		return false, nil
	}
	p.frames += frames
	if p.t.closing.Load() {
		return true, errClosed
	}
	return true, nil
}

// full says that too much is queued. It is called with mu held.
func (p *peer) full() error {
	return fmt.Errorf("udp: link from %v to %v: %d bytes queued, at most %d allowed: %w",
		p.t.top.self, p.process, p.out.queued, p.t.limits.backlog, transport.ErrBacklog)
}

// transmit hands to the layer below what may be sent. It is called with mu held.
func (p *peer) transmit(now instant) { p.transmitUpTo(nil, now) }

// transmitUpTo is transmit up to the segment last. Where it is reported to be
// due, the caller sends that one. It is called with mu held.
func (p *peer) transmitUpTo(last *outgoing, now instant) (due, urgent bool) {
	if p.fate != alive || p.out.empty() {
		return false, false
	}
	if p.epoch == 0 {
		p.meet(now)
		return false, false
	}
	for o := p.out.next(); o != nil; o = p.out.next() {
		if !p.out.underWay() {
			p.asked = now
		}
		urgent = p.out.transmitted(o, now)
		if due = o == last; due {
			break
		}
		p.write(&segment{
			kind: o.kind, urgent: urgent, ack: p.in.acknowledge(p.bits[:0], now),
			number: o.number, index: o.index, count: o.count, body: o.body,
		})
	}
	p.t.wake.by(p.out.timeout, now)
	return due, urgent
}

// write hands a segment to the layer below. It is called with mu held.
func (p *peer) write(s *segment) {
	s.source = p.t.epoch
	if s.destination == 0 && s.kind != greeting {
		s.destination = p.epoch
	}
	p.scratch = appendSegment(p.scratch[:0], s)
	// What the layer below does not take is lost, as on the way.
	_ = p.t.below.Send(p.t.top.self.node(), p.process.node(), p.scratch)
}

// writeAck sends an acknowledgement alone. It is called with mu held.
func (p *peer) writeAck(k kind, now instant) {
	p.write(&segment{kind: k, urgent: k == probe, ack: p.in.acknowledge(p.bits[:0], now)})
}

// arrived takes a segment of the peer.
func (p *peer) arrived(s *segment) {
	p.delivery.Lock()
	defer p.delivery.Unlock()
	now := p.t.clock()

	p.mu.Lock()
	fresh, err := p.take(s, now)
	p.mu.Unlock()
	if err != nil {
		p.t.refused.Add(1)
		return
	}
	if fresh {
		err := p.order.arrive(arrival{s.number, s.kind, s.index, s.count, s.body}, p.hand)
		if err != nil {
			p.t.refused.Add(1)
		}
	}
	p.t.flushDirty()
	p.t.serveEarly(now)

	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bye > 0 && p.in.next >= p.bye && p.fate == alive {
		p.hasLeft()
	}
	if p.out.unsent() {
		p.transmit(now) // the acknowledgement may have opened the window
	}
	switch {
	case p.in.now:
		p.writeAck(ack, now)
	case p.in.due > 0:
		p.t.wake.by(p.in.due, now)
	}
	p.settle()
}

// take takes what concerns the link itself, and reports whether the segment
// carries something that is new. It is called with mu held.
func (p *peer) take(s *segment, now instant) (fresh bool, err error) {
	if s.kind == greeting {
		return false, p.greeted(s)
	}
	if err := p.recognize(s, now); err != nil {
		return false, err
	}
	p.heard, p.asked, p.closed = now, 0, 0
	if s.kind == welcome {
		p.writeAck(ack, now) // lets the peer know that this is not of the past
		p.transmit(now)
		return false, nil
	}
	if err := p.out.acknowledge(&s.ack, now); err != nil {
		return false, err
	}
	if p.out.underWay() {
		p.asked = now
	}
	if s.kind == probe {
		p.in.now = true
	}
	if !s.kind.numbered() {
		return false, nil
	}
	fresh, err = p.in.note(s.number, s.urgent, now)
	if err == nil && !fresh {
		p.duplicates += p.framesIn(s)
	}
	if err == nil && s.kind == farewell {
		p.bye = s.number + 1
	}
	return fresh, err
}

// framesIn counts the frames of a segment; one that comes in parts counts with
// the first of them.
func (p *peer) framesIn(s *segment) (n uint64) {
	switch {
	case s.kind == whole:
		_ = deliverAll(s.body, func(frame.Frame) { n++ })
	case s.kind == shared:
		n = p.t.receivers(p.t.top.self, p.process.node())
	case s.kind == part && s.index == 0:
		n = 1
	}
	return n
}

// hasLeft notes the peer's farewell. It is called with mu held.
func (p *peer) hasLeft() {
	p.fate = left
	p.out.drop()
	p.asked, p.in.now = 0, true
}
