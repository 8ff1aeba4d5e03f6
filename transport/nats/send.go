package nats

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync/atomic"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
)

func (t *Transport) Send(from, to dme.NodeID, b []byte) error {
	if _, err := t.ready(); err != nil {
		return err
	}
	p, err := t.life.Route(from, to, len(b), t.largest)
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
	if err := t.publish(t.subjects[to], h, b); err != nil {
		return err
	}
	out.number++
	t.charge(p, c)
	t.frames++
	return nil
}

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
	if err := t.publish(t.subjects[dme.None], h, b); err != nil {
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
	if cause := t.cause.Load(); cause != nil && !t.life.Closing() {
		return nil, *cause
	}
	return t.life.Ready()
}

// publish seals a frame and gives it to the client library, which copies it. It is called with mu
// held. If the library's buffer is full, it waits for the socket: the broker and the other
// processes read on meanwhile.
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

// Flush returns why the transport has ended, if it has: nothing waits to be flushed.
func (t *Transport) Flush() error {
	_, err := t.ready()
	return err
}

const (
	// frameCost is charged for a frame beside its length, in bytes: about what a
	// message takes in the process that it waits in.
	frameCost = 512

	// progressShare is the part of a window after which a receiver reports its progress.
	progressShare = 8
)

func cost(body []byte) uint64 { return uint64(len(body)) + frameCost }

// window is what a sender knows of a receiver.
type window struct {
	number  uint64 // of the last frame to it alone; guarded by Transport.mu
	charged uint64 // for all frames to it, bytes; guarded by Transport.mu

	handled atomic.Uint64 // how many of them it has handled, as far as it has reported
	left    atomic.Bool   // said goodbye: frames to it are dropped
}

func (w *window) outstanding() uint64 { return w.charged - w.handled.Load() }

func (w *window) admits(cost uint64, backlog int) bool {
	return w.outstanding()+cost <= uint64(backlog)
}

func (t *Transport) full(p *process) error {
	return fmt.Errorf("nats: %v has not handled %d bytes yet (each frame counts %d and its length), at most %d allowed: %w",
		p, p.State.out.outstanding(), frameCost, t.limits.backlog, transport.ErrBacklog)
}

// inflow is what a receiver knows of a sender. It is the delivering goroutine's.
type inflow struct {
	unicast, broadcast uint64 // numbers of the last frames of either kind
	handled, reported  uint64 // bytes

	open bool // what comes is meant for this incarnation; else its welcome is awaited
	over bool // ended: its frames are refused from now on
}

// noteHandled counts a frame from p that was handled, and reports progress to p from time to time.
func (t *Transport) noteHandled(p *process, cost uint64) {
	in := &p.State.in
	in.handled += cost
	if in.handled-in.reported < uint64(t.limits.backlog/progressShare) {
		return
	}
	in.reported = in.handled
	if p == t.life.Top().Self {
		peers.Raise(&p.State.out.handled, in.handled)
		return
	}
	t.report = t.word(t.report, aProgress, in.handled)
	if err := t.conn.Publish(t.prefix+".k."+processName(p.Node(), p.Incarnation), t.report); err != nil {
		t.end(err)
	}
}

// word makes a message of this process about how far it is, in b's memory.
func (t *Transport) word(b []byte, what kind, handled uint64) []byte {
	b = t.seal.start(b, what)
	b = binary.AppendUvarint(b, uint64(t.config.Local[0]))
	b = binary.AppendUvarint(b, uint64(t.config.Incarnation))
	b = binary.AppendUvarint(b, handled)
	return t.seal.close(b, what)
}

// processName names an incarnation of a process in subjects, by its first node.
func processName(first dme.NodeID, incarnation uint32) string {
	if incarnation <= 1 {
		return "w" + first.String()
	}
	return fmt.Sprintf("w%d-%d", first, incarnation)
}

// listen takes in the progress of receivers, even while deliver is busy.
func (t *Transport) listen() {
	for {
		select {
		case m := <-t.reports:
			t.hear(m)
		case <-t.leaving.Done():
			return
		}
	}
}

func (t *Transport) hear(m *natsgo.Msg) {
	what := aProgress
	if m.Sub == t.byes {
		what = aGoodbye
	}
	content, ok := t.seal.open(m.Data, what)
	r := peers.Reader{Rest: content, Failed: !ok}
	first, incarnation := dme.NodeID(r.Uvarint(math.MaxUint32)), uint32(r.Uvarint(math.MaxUint32))
	handled := r.Uvarint(math.MaxUint64)
	p := t.life.Top().Of(first)
	if r.Failed || len(r.Rest) > 0 || p == nil || p.Node() != first || incarnation < p.Incarnation {
		t.refused.Add(1)
		return
	}
	if incarnation > p.Incarnation {
		return // nothing has been sent to it from here
	}
	if what == aGoodbye {
		p.State.out.left.Store(true)
	} else {
		peers.Raise(&p.State.out.handled, handled)
	}
}

// goodbye tells all that nothing more is handled here.
func (t *Transport) goodbye() error {
	return t.conn.Publish(t.prefix+".bye", t.word(nil, aGoodbye, 0))
}
