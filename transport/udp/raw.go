package udp

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/frame"
)

const (
	// largestRaw is the largest frame of the raw layer, which cannot take one
	// apart: a round number that fits into a datagram, whose payload is at most
	// 65,507 bytes.
	largestRaw = 65000

	// heldPackets is how many datagrams wait for a flush at most: Send sends
	// them itself when there are more.
	heldPackets = 64
)

// raw carries frames in datagrams, and promises nothing but that they come
// from a process with the run's key.
type raw struct {
	config   transport.Config
	datagram int // bytes that datagrams are filled up to; 0 for what suits the way
	socket   *socket
	sealer   *sealer

	group *group // nil without multicast

	// beneath says that the handler is a layer above, which takes a broadcast
	// once, for no node, and wants Down each time the network says that nobody
	// listens at a peer's port: it can find out what is behind that.
	beneath bool

	top     *topology
	handler transport.Handler

	reading sync.Mutex // held for each datagram where two sockets are read
	seals   []seals    // by process; the reader's
	batch   int        // frames delivered since the last flush; the reader's

	mu      sync.Mutex // guards what follows
	started atomic.Bool
	closing atomic.Bool
	ways    []way // by process
	toAll   way   // to the group
	out     *outbox
	spare   []*outbox
	free    []*packet
	sent    transport.Counters

	close   func() // once
	running sync.WaitGroup

	received, refused atomic.Uint64
}

// way is the way to a process.
type way struct {
	to   sockaddr
	size int     // bytes that datagrams are filled up to
	open *packet // to which frames are still added; in out
}

// packet is a datagram that is being made.
type packet struct {
	way *way
	b   []byte
}

var errClosed = fmt.Errorf("udp: %w", transport.ErrClosed)

func listenRaw(c transport.Config, o Options) (*raw, error) {
	if err := check(&c); err != nil {
		return nil, err
	}
	s, err := openSocket(c.Listen)
	if err != nil {
		return nil, fmt.Errorf("udp: listen: %w", err)
	}
	var g *group
	if o.Multicast {
		if g, err = join(groupOf(&c.Key), s); err != nil {
			s.close()
			return nil, err
		}
	}
	c.Local = slices.Sorted(slices.Values(c.Local))
	r := &raw{config: c, group: g, datagram: o.Datagram, socket: s, sealer: newSealer(&c.Key, c.Local[0], rand.Uint64()), out: newOutbox(s)}
	r.close = sync.OnceFunc(r.shutDown)
	return r, nil
}

func check(c *transport.Config) error {
	var errs []error
	if c.Key == (transport.Key{}) {
		errs = append(errs, errors.New("udp: the run's key is zero; draw a random one"))
	}
	if len(c.Local) == 0 {
		errs = append(errs, errors.New("udp: no node lives in this process"))
	}
	for _, id := range slices.Concat(c.Local, c.Peers) {
		if id < 1 || uint64(id) > uint64(max(c.Nodes, 0)) {
			errs = append(errs, fmt.Errorf("udp: node %d is not one of the run's 1 to %d", id, c.Nodes))
		}
	}
	return errors.Join(errs...)
}

func (r *raw) Addr() string { return r.socket.conn.LocalAddr().String() }

func (r *raw) Start(book transport.AddressBook, h transport.Handler) error {
	top, err := newTopology(book, &r.config)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started.Load() || r.closing.Load() {
		return errors.New("udp: Start of a transport that has been started or closed")
	}
	r.top, r.handler = top, h
	r.seals = make([]seals, len(top.all))
	r.ways = make([]way, len(top.all))
	for i, p := range top.all {
		to, err := r.socket.sockaddr(p.at)
		if err != nil {
			return fmt.Errorf("udp: %v: %w", p, err)
		}
		r.ways[i] = way{to: to, size: datagramSize(r.datagram, p)}
	}
	if r.group != nil {
		to, err := r.socket.sockaddr(r.group.at)
		if err != nil {
			return err
		}
		r.toAll = way{to: to, size: smallestDatagram(r.datagram, top)}
		r.running.Go(func() { r.read(r.group.socket) })
	}
	r.started.Store(true)
	r.running.Go(func() { r.read(r.socket) })
	return nil
}

// datagramSize returns up to how many bytes datagrams to p are filled.
func datagramSize(asked int, p *process) int {
	switch {
	case asked > 0:
		return asked
	case p.at.Addr().IsLoopback():
		return loopbackDatagram
	default:
		return networkDatagram
	}
}

// smallestDatagram is datagramSize for all processes.
func smallestDatagram(asked int, top *topology) int {
	size := MaxDatagram
	for _, p := range top.all {
		size = min(size, datagramSize(asked, p))
	}
	return size
}

func (r *raw) Send(from, to dme.NodeID, b []byte) error {
	if err := r.sendable(from, b); err != nil {
		return err
	}
	p := r.top.at(to)
	if p == nil {
		return fmt.Errorf("udp: no node %d in this run", to)
	}
	r.queue(&r.ways[p.index], from, to, b, 1)
	return nil
}

// Broadcast sends a frame to every node but from, where there is a group.
func (r *raw) Broadcast(from dme.NodeID, b []byte) error {
	if err := r.sendable(from, b); err != nil {
		return err
	}
	if r.group == nil {
		return errors.New("udp: Broadcast without a multicast group")
	}
	r.queue(&r.toAll, from, dme.None, b, uint64(r.config.Nodes-1))
	return nil
}

// sendable checks what does not depend on the receiver.
func (r *raw) sendable(from dme.NodeID, b []byte) error {
	switch {
	case r.closing.Load():
		return errClosed
	case !r.started.Load():
		return errors.New("udp: Send before Start")
	case r.top.at(from) != r.top.self:
		return fmt.Errorf("udp: node %d does not live in this process and cannot send from here", from)
	case len(b) > largestRaw:
		return fmt.Errorf("udp: frame of %d bytes from node %d, at most %d allowed without a layer that takes it apart: %w",
			len(b), from, largestRaw, transport.ErrFrameTooLarge)
	}
	return nil
}

// queue adds a frame to the datagram that is being made on a way, which counts
// for as many as it has receivers.
func (r *raw) queue(w *way, from, to dme.NodeID, b []byte, receivers uint64) {
	r.mu.Lock()
	r.sent.Frames += receivers
	if w.open != nil && len(w.open.b)+frame.MaxHeader+len(b)+tagSize > w.size {
		w.open = nil
	}
	if w.open == nil {
		w.open = r.newPacket(w)
		r.out.packets = append(r.out.packets, w.open)
	}
	w.open.b = frame.Append(w.open.b, from, to, b)
	full := len(r.out.packets) > heldPackets
	r.mu.Unlock()
	if full {
		r.flush()
	}
}

// newPacket is called with mu held.
func (r *raw) newPacket(w *way) *packet {
	if last := len(r.free) - 1; last >= 0 {
		p := r.free[last]
		r.free = r.free[:last]
		p.way, p.b = w, r.sealer.begin(p.b)
		return p
	}
	return &packet{way: w, b: r.sealer.begin(nil)}
}

func (r *raw) Flush() error {
	if r.closing.Load() {
		return errClosed
	}
	r.flush()
	return nil
}

// flush sends what is queued, as far as the socket takes it; the rest is lost.
func (r *raw) flush() {
	r.mu.Lock()
	out := r.out
	if len(out.packets) == 0 {
		r.mu.Unlock()
		return
	}
	if last := len(r.spare) - 1; last >= 0 {
		r.out, r.spare = r.spare[last], r.spare[:last]
	} else {
		r.out = newOutbox(r.socket)
	}
	for _, p := range out.packets {
		p.way.open = nil
	}
	r.mu.Unlock()

	for _, p := range out.packets {
		p.b = r.sealer.finish(p.b)
	}
	counted := out.send()

	r.mu.Lock()
	r.sent = r.sent.Plus(counted)
	for _, p := range out.packets {
		if len(r.free) < heldPackets {
			r.free = append(r.free, p)
		}
	}
	clear(out.packets)
	out.packets = out.packets[:0]
	r.spare = append(r.spare, out)
	r.mu.Unlock()
}

func (r *raw) Counters() transport.Counters {
	r.mu.Lock()
	c := r.sent
	r.mu.Unlock()
	c.Received, c.RefusedFrames, c.KernelDrops = r.received.Load(), r.refused.Load(), r.socket.drops()
	if r.group != nil {
		c.KernelDrops += r.group.socket.drops()
	}
	return c
}

func (r *raw) Close() error {
	r.close()
	return nil
}

func (r *raw) shutDown() {
	r.mu.Lock()
	r.closing.Store(true)
	r.mu.Unlock()
	r.flush()
	r.socket.close()
	if r.group != nil {
		r.group.socket.close()
	}
	r.running.Wait()
}

func (r *raw) isClosed(err error) bool { return r.closing.Load() || errors.Is(err, net.ErrClosed) }
