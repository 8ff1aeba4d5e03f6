package udp

import (
	"sync"

	"dmebench/dme"
	"dmebench/transport/peers"
)

type process = peers.Process[association]

// association is the link with one process, both ways.
type association struct {
	t       *reliable
	process *process
	listed  peers.Entry[association]
	hand    func(peers.Frame) // delivers a frame

	// delivery serializes what is handed to the handler. It is taken before mu.
	delivery sync.Mutex
	order    order
	batch    int // frames delivered

	mu    sync.Mutex // never held while a handler runs
	fate  fate
	known bool // is in t.met
	dirty bool // in the dirty list

	out     sender
	in      receiver
	bye     uint64 // the number of the other side's farewell, and 1; 0 before it has come
	parting bool   // this side's farewell is queued
	parted  bool   // and the other side knows, or never will

	superseded bool           // another incarnation has taken its place
	reporting  sync.WaitGroup // of Down

	heard instant // when something came last
	asked instant // since when an answer is awaited; 0 while none is
	tries int     // to get one, that had their time

	frames, duplicates uint64
	scratch            []byte
	bits               [maxBits]byte
}

type fate uint8

const (
	alive  fate = iota
	left        // said farewell
	absent      // not here yet
	down        // fallen silent
)

func (l *association) init(t *reliable, p *process) {
	l.t, l.process, l.listed.Link = t, p, l
	l.order, l.out, l.in = newOrder(t.layer), newSender(t.body, &t.limits), receiver{delay: t.limits.ackDelay}
	l.hand = func(f peers.Frame) { t.deliver(l, f) }
	if p.Absent {
		l.fate = absent
	}
}

func (l *association) send(from, to dme.NodeID, b []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ok, err := l.accepts(1); !ok {
		return err
	}
	if !l.out.push(from, to, b) {
		return l.full()
	}
	l.frames++
	if !l.dirty {
		// Within the lock, so that a goroutine that sees dirty also finds the link in the list: a
		// flush must not miss a frame whose Send has returned.
		l.dirty = true
		l.t.dirty.Push(&l.listed)
	}
	return nil
}

// accepts reports whether frames are still queued; those to a process that is no more are
// dropped without an error. It is called with mu held.
func (l *association) accepts(frames uint64) (bool, error) {
	if l.fate == alive && !l.parting {
		l.introduce()
		return true, nil
	}
	l.frames += frames
	if l.t.Closing() {
		return false, l.t.Closed()
	}
	return false, nil
}

func (l *association) full() error {
	return l.t.Top().Full(l.process, l.out.queued, l.t.limits.backlog)
}

func (l *association) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dirty = false
	l.transmit(l.t.clock())
}

// transmit hands to the layer below what may be sent. As all below, it is called with mu held.
func (l *association) transmit(now instant) { l.transmitUpTo(nil, now) }

// transmitUpTo is transmit up to the segment last, which the caller sends if it is due.
func (l *association) transmitUpTo(last *outgoing, now instant) (due, urgent bool) {
	if l.fate != alive || l.out.empty() {
		return false, false
	}
	for o := l.out.next(); o != nil; o = l.out.next() {
		if !l.out.underWay() {
			l.asked = now
		}
		urgent = l.out.transmitted(o, now)
		if due = o == last; due {
			break
		}
		l.write(&segment{kind: o.kind, urgent: urgent, ack: l.in.acknowledge(l.bits[:0], now), number: o.number, body: o.body})
	}
	l.t.wake.by(l.out.timeout, now)
	return due, urgent
}

func (l *association) write(s *segment) {
	s.from, s.to = l.t.config.Incarnation, l.process.Incarnation
	l.scratch = appendSegment(l.scratch[:0], s)
	// Datagrams that the layer below does not take are lost, as if on the way.
	_ = l.t.below.Send(l.t.Top().Self.Node(), l.process.Node(), l.scratch)
}

func (l *association) writeAck(now instant) {
	l.write(&segment{kind: ack, ack: l.in.acknowledge(l.bits[:0], now)})
}

// ask sends a segment without frames, which is acknowledged as all are.
func (l *association) ask(now instant) {
	l.introduce()
	l.out.add(whole)
	l.transmit(now)
}

// arrived takes a segment of the other side, without mu.
func (l *association) arrived(s *segment) {
	l.delivery.Lock()
	defer l.delivery.Unlock()
	now := l.t.clock()

	l.mu.Lock()
	fresh, err := l.take(s, now)
	l.mu.Unlock()
	if err == nil && fresh {
		err = l.order.arrive(arrival{s.number, s.kind, s.body}, l.hand)
	}
	if err != nil {
		l.t.refused.Add(1)
	}
	l.t.flushDirty()
	l.t.serveEarly(now)

	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bye > 0 && l.in.next >= l.bye && l.fate == alive {
		l.fate = left
		l.forget()
		l.in.now = true
	}
	if l.out.unsent() {
		l.transmit(now) // an acknowledgement may have opened the window
	}
	switch {
	case l.in.now:
		l.writeAck(now)
	case l.in.due > 0:
		l.t.wake.by(l.in.due, now)
	}
	l.noteParted()
}

// take takes what concerns the link itself, and reports whether the segment
// carries something that is new. A segment is taken only from the incarnation that is
// there, for this one: layers below may hold some back while one takes the place of another.
func (l *association) take(s *segment, now instant) (fresh bool, err error) {
	if l.superseded {
		return false, nil // of the next one, which comes to its place at this moment
	}
	if s.from != l.process.Incarnation || s.to != l.t.config.Incarnation || l.fate >= absent {
		return false, errRefused
	}
	l.introduce()
	if l.heard == 0 {
		l.t.wake.by(now+l.t.limits.idle, now) // asked now and then from here on
		if l.out.rtt.backoff > 0 {
			l.out.restart()
		}
	}
	l.heard, l.asked, l.tries = now, 0, 0
	if err := l.out.acknowledge(&s.ack, now); err != nil {
		return false, err
	}
	if l.out.underWay() {
		l.asked = now
	}
	if !s.kind.numbered() {
		return false, nil
	}
	fresh, err = l.in.note(s.number, s.urgent, now)
	if err != nil {
		return false, err
	}
	if !fresh && s.kind != part {
		_ = eachFrame(s.body, func(peers.Frame) { l.duplicates++ })
	}
	if s.kind == farewell {
		l.bye = s.number + 1
	}
	return fresh, nil
}

// introduce makes the process one of those that this one has met.
func (l *association) introduce() {
	if l.known {
		return
	}
	l.known = true
	t := l.t
	t.Mu.Lock()
	t.met = append(t.met, l)
	t.Mu.Unlock()
}

// forget drops what is queued for a process that is no more.
func (l *association) forget() {
	l.out.drop()
	l.asked, l.tries, l.in.due = 0, 0, 0
}

// lose notes that the other side is dead, and has the handler told by a goroutine of
// its own, which waits until frames from there have been delivered.
func (l *association) lose(err error) {
	l.fate = down
	l.forget()
	l.reporting.Add(1)
	started := l.t.Go(func() {
		defer l.reporting.Done()
		l.delivery.Lock()
		defer l.delivery.Unlock()
		for _, id := range l.process.Nodes {
			if !l.t.Closing() {
				l.t.handler.Down(id, err)
			}
		}
	})
	if !started {
		l.reporting.Done()
	}
}

// part says farewell.
func (l *association) part(now instant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parting = true
	if l.fate == alive && l.process != l.t.Top().Self {
		l.out.add(farewell)
		l.transmit(now)
	} else {
		l.out.drop()
	}
	l.noteParted()
}

// noteParted notes that a process knows that this one closes, or is no more.
func (l *association) noteParted() {
	if !l.parting || l.parted || l.fate == alive && !l.out.empty() {
		return
	}
	l.parted = true
	t := l.t
	t.Mu.Lock()
	defer t.Mu.Unlock()
	if t.parting--; t.parting == 0 {
		close(t.parted)
	}
}
