package udp

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/frame"
)

// reliable makes the layers reliable and fifo of any transport whose frames
// come from whom they say: each frame arrives once.
type reliable struct {
	below    transport.Transport
	config   transport.Config
	layer    Layer
	datagram int
	limits   limits
	caster   transport.Broadcaster // below, where there is multicast; else nil
	castRoom int                   // bytes of the largest frame that goes as a broadcast
	cast     broadcast
	epoch    uint32    // of this incarnation; never 0
	opened   time.Time // when its clock began

	top     *topology
	handler transport.Handler
	peers   []*peer // by process
	dirty   dirtyList
	started atomic.Bool

	wake    wake
	serving sync.Mutex // guards prober; taken before the locks of peers
	prober  prober
	closing atomic.Bool
	close   func()        // once
	parted  chan struct{} // closed when all peers know that this process closes
	running sync.WaitGroup

	mu      sync.Mutex // guards what follows; no other lock is taken under it
	met     []*peer    // that something was sent to or taken from
	parting int        // peers that do not know yet that this process closes
	ended   bool       // no notice of a death begins any more
	notices sync.WaitGroup

	received, refused atomic.Uint64
}

func newReliable(below transport.Transport, c transport.Config, o Options, l limits) *reliable {
	t := &reliable{
		below: below, config: c, layer: o.Layer, datagram: o.Datagram, limits: l,
		epoch: 1 + rand.Uint32N(math.MaxUint32), opened: time.Now(),
		parted: make(chan struct{}),
	}
	t.close = sync.OnceFunc(t.shutDown)
	return t
}

// clock returns the time. It is never 0, which means no time.
func (t *reliable) clock() instant { return time.Since(t.opened) + 1 }

func (t *reliable) Addr() string { return t.below.Addr() }

func (t *reliable) Start(book transport.AddressBook, h transport.Handler) error {
	top, err := newTopology(book, &t.config)
	if err != nil {
		return err
	}
	t.mu.Lock()
	if t.started.Load() || t.closing.Load() {
		t.mu.Unlock()
		return errors.New("udp: Start of a transport that has been started or closed")
	}
	if err := t.wake.open(); err != nil {
		t.mu.Unlock()
		return err
	}
	t.top, t.handler = top, h
	t.peers = make([]*peer, len(top.all))
	t.castRoom = transport.MaxFrame
	for i, p := range top.all {
		t.peers[i] = newPeer(t, p)
		t.castRoom = min(t.castRoom, t.peers[i].out.body)
	}
	t.started.Store(true)
	timer := t.wake.timer
	t.running.Go(func() { t.watch(timer) })
	t.mu.Unlock()
	if err := t.below.Start(book, t); err != nil {
		return err
	}
	for _, id := range t.config.Peers {
		p := t.peers[top.at(id).index]
		p.mu.Lock()
		p.meet(t.clock())
		p.mu.Unlock()
	}
	return t.below.Flush()
}

func (t *reliable) Send(from, to dme.NodeID, b []byte) error {
	if err := t.sendable(from, b); err != nil {
		return err
	}
	process := t.top.at(to)
	if process == nil {
		return fmt.Errorf("udp: no node %d in this run", to)
	}
	return t.peers[process.index].send(from, to, b)
}

// sendable checks what does not depend on the receiver.
func (t *reliable) sendable(from dme.NodeID, b []byte) error {
	switch {
	case t.closing.Load():
		return errClosed
	case !t.started.Load():
		return errors.New("udp: Send before Start")
	case t.top.at(from) != t.top.self:
		return fmt.Errorf("udp: node %d does not live in this process and cannot send from here", from)
	case len(b) > transport.MaxFrame:
		return fmt.Errorf("udp: frame of %d bytes from node %d, at most %d allowed: %w",
			len(b), from, transport.MaxFrame, transport.ErrFrameTooLarge)
	}
	return nil
}

// Flush sends what is queued as far as the windows are open. It does not wait,
// and does not report lost peers: Handler.Down does.
func (t *reliable) Flush() error {
	if t.closing.Load() {
		return errClosed
	}
	t.flushDirty()
	return t.below.Flush()
}

// flushDirty hands what is queued to the layer below, which is still to be
// flushed.
func (t *reliable) flushDirty() {
	p := t.dirty.take()
	if p == nil {
		return
	}
	now := t.clock()
	for p != nil {
		next := p.nextDirty // before p may enter the list anew
		p.mu.Lock()
		p.dirty = false
		p.transmit(now)
		p.mu.Unlock()
		p = next
	}
}

// Frame takes a segment from the layer below, which flushes when its batch is
// done.
func (t *reliable) Frame(from, to dme.NodeID, b []byte) {
	process := t.top.at(from)
	if to == dme.None && t.caster != nil && process != nil && from == process.node() {
		t.broadcastArrived(process, b)
		return
	}
	var s segment
	if process == nil || from != process.node() || to != t.top.self.node() || decodeSegment(b, &s) != nil {
		t.refused.Add(1)
		return
	}
	t.peers[process.index].arrived(&s)
}

// Down takes the word of the layer below that a peer's port is closed.
func (t *reliable) Down(node dme.NodeID, err error) {
	if process := t.top.at(node); process != nil {
		t.peers[process.index].saidClosed(err)
	}
}

// deliver hands a frame of a peer to the handler, for each node that it is for.
func (t *reliable) deliver(p *peer, f frame.Frame) {
	if f.To != dme.None || t.caster == nil {
		t.deliverTo(p, f)
		return
	}
	for _, id := range t.top.self.nodes {
		if id != f.From {
			t.deliverTo(p, frame.Frame{From: f.From, To: id, Body: f.Body})
		}
	}
}

// deliverTo hands a frame to the handler, unless this side closes.
func (t *reliable) deliverTo(p *peer, f frame.Frame) {
	if t.top.at(f.From) != p.process || t.top.at(f.To) != t.top.self {
		t.refused.Add(1)
		return
	}
	if t.closing.Load() {
		return
	}
	t.received.Add(1)
	t.handler.Frame(f.From, f.To, f.Body)
	if p.batch++; p.batch%transport.MaxBatch == 0 {
		t.flushDirty()
		t.below.Flush()
	}
}

func (t *reliable) Counters() transport.Counters {
	below := t.below.Counters()
	c := transport.Counters{
		Bytes: below.Bytes, Writes: below.Writes, Packets: below.Packets,
		StalledWrites: below.StalledWrites, KernelDrops: below.KernelDrops,
		RefusedFrames: below.RefusedFrames + t.refused.Load(), Received: t.received.Load(),
	}
	t.mu.Lock()
	met := t.met
	t.mu.Unlock()
	for _, p := range met {
		p.mu.Lock()
		c.Frames += p.frames
		c.Retransmissions += p.out.again
		c.Duplicates += p.duplicates
		c.LargestBacklog = max(c.LargestBacklog, uint64(p.out.most))
		p.mu.Unlock()
	}
	return c
}

// dirtyList holds the peers to which something is queued that was not
// considered for sending. Any goroutine may push, and take all.
type dirtyList struct{ head atomic.Pointer[peer] }

func (d *dirtyList) push(p *peer) {
	for {
		head := d.head.Load()
		p.nextDirty = head
		if d.head.CompareAndSwap(head, p) {
			return
		}
	}
}

// take empties the list and returns its first peer, in the order of the pushes.
func (d *dirtyList) take() *peer {
	if d.head.Load() == nil {
		return nil
	}
	var first *peer
	for p := d.head.Swap(nil); p != nil; {
		p.nextDirty, first, p = first, p, p.nextDirty
	}
	return first
}
