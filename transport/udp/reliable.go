package udp

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"dmebench/dme"
	"dmebench/internal/platform/rawio"
	"dmebench/transport"
	"dmebench/transport/peers"
)

// reliable makes the layers reliable and fifo of a transport with authentic senders.
type reliable struct {
	peers.Life[association] // its Mu guards met and parting; no other lock is taken under it

	below  transport.Transport
	config transport.Config
	layer  Layer
	limits limits
	body   int                   // bytes of the largest body of a segment
	caster transport.Broadcaster // below, if there is multicast; else nil
	cast   broadcast
	opened time.Time // when its clock began

	handler transport.Handler
	dirty   peers.Dirty[association]

	wake    wake
	serving sync.Mutex // guards awake; taken before the locks of links
	awake   instant    // since when this process has been running without a pause

	parted  chan struct{}  // closed when all processes know that this one closes
	met     []*association // in use: something was sent or received
	parting int            // processes that do not know yet that this one closes

	received, refused atomic.Uint64
}

func newReliable(below transport.Transport, c transport.Config, o Options, datagram int, l limits) *reliable {
	t := &reliable{
		below: below, config: c, layer: o.Layer, limits: l,
		body:   datagram - overhead - peers.MaxHeader - segmentRoom,
		opened: time.Now(), parted: make(chan struct{}),
	}
	t.Name = "udp"
	return t
}

// clock returns the time, which is never 0.
func (t *reliable) clock() instant { return time.Since(t.opened) + 1 }

func (t *reliable) Addr() string { return t.below.Addr() }

func (t *reliable) Start(book transport.AddressBook, h transport.Handler) error {
	top, err := peers.NewTopology[association]("udp", book, &t.config)
	if err != nil {
		return err
	}
	for p := range top.All() {
		p.State.init(t, p)
	}
	if err := t.start(top, h); err != nil {
		return err
	}
	if err := t.below.Start(book, t); err != nil {
		return err
	}
	for _, id := range t.config.Peers {
		l := &top.Of(id).State
		l.mu.Lock()
		if !l.known && l.fate == alive { // else this one, or the other, has begun
			l.ask(t.clock())
		}
		l.mu.Unlock()
	}
	return t.below.Flush()
}

func (t *reliable) start(top *peers.Topology[association], h transport.Handler) error {
	t.Mu.Lock()
	defer t.Mu.Unlock()
	if err := t.Begin(top); err != nil {
		return err
	}
	timer, err := rawio.NewTimer()
	if err != nil {
		return fmt.Errorf("udp: cannot make a timer: %w", err)
	}
	t.wake.at.Store(never)
	t.wake.timer, t.handler = timer, h
	t.Running.Go(func() { t.watch(timer) })
	return nil
}

func (t *reliable) Send(from, to dme.NodeID, b []byte) error {
	p, err := t.Route(from, to, len(b), transport.MaxFrame)
	if err != nil {
		return err
	}
	return p.State.send(from, to, b)
}

func (t *reliable) Flush() error {
	if t.Closing() {
		return t.Closed()
	}
	t.flushDirty()
	return t.below.Flush()
}

func (t *reliable) flushDirty() { t.dirty.Drain((*association).flush) }

// Frame takes a segment from the layer below, which flushes when its batch is done.
func (t *reliable) Frame(from, to dme.NodeID, b []byte) {
	p := t.Top().Of(from)
	var s segment
	switch {
	case p == nil || from != p.Node():
		t.refused.Add(1)
	case to == dme.None && t.caster != nil:
		t.broadcastArrived(p, b)
	case to != t.Top().Self.Node() || decodeSegment(b, &s) != nil:
		t.refused.Add(1)
	default:
		p.State.arrived(&s)
	}
}

// Down does nothing: the layer below notices no death.
func (t *reliable) Down(dme.NodeID, error) {}

// deliver hands a frame to the handler, for each node that it is for.
func (t *reliable) deliver(l *association, f peers.Frame) {
	if f.To != dme.None || t.caster == nil {
		t.deliverTo(l, f)
		return
	}
	for _, id := range t.Top().Self.Nodes {
		if id != f.From {
			t.deliverTo(l, peers.Frame{From: f.From, To: id, Body: f.Body})
		}
	}
}

func (t *reliable) deliverTo(l *association, f peers.Frame) {
	if !t.Top().Hosts(l.process, f.From, f.To) {
		t.refused.Add(1)
		return
	}
	if t.Closing() {
		return
	}
	t.received.Add(1)
	t.handler.Frame(f.From, f.To, f.Body)
	if l.batch++; l.batch%transport.MaxBatch == 0 {
		t.flushDirty()
		t.below.Flush()
	}
}

func (t *reliable) Counters() transport.Counters {
	c := t.below.Counters()
	c.Frames, c.Received = 0, t.received.Load() // below, these are segments
	c.RefusedFrames += t.refused.Load()
	t.Mu.Lock()
	met := t.met
	t.Mu.Unlock()
	for _, l := range met {
		l.mu.Lock()
		c.Frames += l.frames
		c.Retransmissions += l.out.again
		c.Duplicates += l.duplicates
		c.LargestBacklog = max(c.LargestBacklog, uint64(l.out.most))
		l.mu.Unlock()
	}
	return c
}

// Close stops delivery, sends what is queued as far as the peers take it within
// about a second, says farewell and frees everything.
func (t *reliable) Close() error { return t.Life.Close(t.shutDown) }

func (t *reliable) shutDown() {
	t.Mu.Lock()
	met := t.met
	t.parting = len(met)
	t.Mu.Unlock()
	if len(met) > 0 {
		now := t.clock()
		for _, l := range met {
			l.part(now)
		}
		t.below.Flush()
		select {
		case <-t.parted:
		case <-time.After(t.limits.drain):
		}
	}
	t.wake.close()
	t.Running.Wait()
	t.below.Close()
}
