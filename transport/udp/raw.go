package udp

import (
	"bytes"
	"context"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
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
	phase
	config   transport.Config
	datagram int // bytes that datagrams are filled up to
	socket   *socket
	group    *group // nil without multicast

	// beneath says that the handler is a layer above, which takes a broadcast
	// once, for no node.
	beneath bool

	top     *peers.Topology[way]
	handler transport.Handler

	reading sync.Mutex // held for each datagram: two sockets may be read
	batch   int        // frames delivered since the last flush; guarded by reading

	mu     sync.Mutex // guards what follows, and what ways say of sending; no other lock is taken under it
	sealer *sealer
	toAll  way // to the group

	// changed says that not all processes have been there from the start, so that
	// some may hear the group who are not meant. The layers above see to that
	// themselves.
	changed bool
	out     *outbox
	sent    transport.Counters

	close   func() // once
	running sync.WaitGroup

	received, refused atomic.Uint64
}

type rawProcess = peers.Process[way]

// way is the way to a process, and what authenticates its datagrams.
type way struct {
	to   sockaddr
	open *packet // to which frames are still added; in out
	down bool    // what is for it is dropped

	incarnation uint32 // of the process; 0 for all

	// Guarded by reading.
	seal cipher.AEAD // nil before its first datagram
	over bool        // no datagram of it is taken any more
}

// packet is a datagram that is being made.
type packet struct {
	way *way
	b   []byte
}

// add queues an empty datagram; there must be room.
func (o *outbox) add(w *way) *packet {
	p := &o.packets[o.queued]
	o.queued++
	p.way = w
	return p
}

func listenRaw(c transport.Config, o Options) (*raw, error) {
	if err := peers.Check("udp", &c); err != nil {
		return nil, err
	}
	s, err := openSocket(c.Listen)
	if err != nil {
		return nil, fmt.Errorf("udp: listen: %w", err)
	}
	r := &raw{
		config: c, changed: c.Incarnation > 1, datagram: o.datagram, socket: s, out: newOutbox(s),
		sealer: newSealer(&c.Key, c.Local[0], c.Incarnation),
	}
	if o.Multicast {
		if r.group, err = join(groupOf(&c.Key), s); err != nil {
			s.close()
			return nil, err
		}
	}
	if r.datagram == 0 {
		r.datagram = networkDatagram
		if s.conn.LocalAddr().(*net.UDPAddr).IP.IsLoopback() {
			r.datagram = loopbackDatagram
		}
	}
	r.close = sync.OnceFunc(r.shutDown)
	return r, nil
}

func openSocket(listen string) (*socket, error) {
	c, err := new(net.ListenConfig).ListenPacket(context.Background(), "udp", listen)
	if err != nil {
		return nil, err
	}
	return newSocket(c.(*net.UDPConn))
}

func (r *raw) Addr() string { return r.socket.conn.LocalAddr().String() }

func (r *raw) Start(book transport.AddressBook, h transport.Handler) error {
	top, err := peers.NewTopology[way]("udp", book, &r.config)
	if err != nil {
		return err
	}
	for p := range top.All() {
		p.State.incarnation = p.Incarnation
		if p.Absent {
			p.State.down, p.State.over, r.changed = true, true, true
		} else if err := r.locate(p); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ready() != errNotStarted {
		return errBegun
	}
	r.top, r.handler = top, h
	r.started.Store(true)
	r.running.Go(func() { r.read(r.socket) })
	if r.group != nil {
		if r.toAll.to, err = r.socket.sockaddr(r.group.at); err != nil {
			return fmt.Errorf("udp: %w", err)
		}
		r.running.Go(func() { r.read(r.group.socket) })
	}
	return nil
}

// locate looks up a process's address.
func (r *raw) locate(p *rawProcess) error {
	at, err := resolve(p.Addr)
	if err == nil {
		p.State.to, err = r.socket.sockaddr(at)
	}
	if err != nil {
		return fmt.Errorf("udp: address of %v: %w; is the address book wrong?", p, err)
	}
	return nil
}

// resolve returns the address that HOST:PORT stands for.
func resolve(addr string) (netip.AddrPort, error) {
	u, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return netip.AddrPort{}, err
	}
	at := u.AddrPort()
	if !at.IsValid() {
		return at, fmt.Errorf("%q names no host", addr)
	}
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port()), nil
}

func (r *raw) Send(from, to dme.NodeID, b []byte) error {
	if err := r.ready(); err != nil {
		return err
	}
	p, err := r.top.Route(from, to, len(b), largestRaw)
	if err != nil {
		return err
	}
	r.queue(&p.State, from, to, b, 1)
	return nil
}

// Broadcast sends a frame to every node but from, where there is a group.
func (r *raw) Broadcast(from dme.NodeID, b []byte) error {
	if err := r.ready(); err != nil {
		return err
	}
	if err := r.top.Sendable(from, len(b), largestRaw); err != nil {
		return err
	}
	if r.group == nil {
		return errors.New("udp: Broadcast without a multicast group")
	}
	r.mu.Lock()
	changed := r.changed
	r.mu.Unlock()
	if !changed || r.beneath {
		r.queue(&r.toAll, from, dme.None, b, uint64(r.config.Nodes-1))
		return nil
	}
	for p := range r.top.All() {
		for _, to := range p.Nodes {
			if to != from {
				r.queue(&p.State, from, to, b, 1)
			}
		}
	}
	return nil
}

// queue adds a frame to the datagram that is being made on a way, which counts
// for as many as it has receivers.
func (r *raw) queue(w *way, from, to dme.NodeID, b []byte, receivers uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent.Frames += receivers
	if w.down {
		return
	}
	if w.open != nil && len(w.open.b)+peers.MaxHeader+len(b)+tagSize > r.datagram {
		w.open = nil
	}
	if w.open == nil {
		if r.out.queued == heldPackets {
			r.flushLocked()
		}
		w.open = r.out.add(w)
		w.open.b = r.sealer.begin(w.open.b, w.incarnation)
	}
	w.open.b = peers.AppendFrame(w.open.b, from, to, b)
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
	defer r.mu.Unlock()
	r.flushLocked()
}

func (r *raw) flushLocked() {
	for i := range r.out.queued {
		p := &r.out.packets[i]
		p.way.open = nil
		p.b = r.sealer.finish(p.b)
	}
	if r.out.queued > 0 {
		r.out.send(&r.sent)
		r.out.queued = 0
	}
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
	r.flushLocked()
	r.mu.Unlock()
	r.socket.close()
	if r.group != nil {
		r.group.socket.close()
	}
	r.running.Wait()
}

// read is the goroutine that delivers what comes to a socket.
func (r *raw) read(s *socket) {
	for {
		err := s.receive(r.datagramArrived, r.batchEnded)
		if r.closing.Load() || errors.Is(err, net.ErrClosed) {
			return
		}
		time.Sleep(time.Millisecond) // an error of the system that may pass
	}
}

// datagramArrived delivers the frames of a datagram.
func (r *raw) datagramArrived(b []byte) {
	r.reading.Lock()
	defer r.reading.Unlock()
	if r.closing.Load() {
		return
	}
	from, body, err := r.open(b)
	if err == nil && body != nil {
		err = eachFrame(body, func(f peers.Frame) { r.frameArrived(from, f) })
	}
	if err != nil {
		r.refused.Add(1)
	}
}

func (r *raw) frameArrived(from *rawProcess, f peers.Frame) {
	toAll := f.To == dme.None && r.group != nil
	switch {
	case toAll && r.top.Of(f.From) == from && r.beneath, r.top.Hosts(from, f.From, f.To):
		r.deliver(f)
	case toAll && r.top.Of(f.From) == from:
		for _, id := range r.top.Self.Nodes {
			if id != f.From {
				r.deliver(peers.Frame{From: f.From, To: id, Body: f.Body})
			}
		}
	default:
		r.refused.Add(1)
	}
}

func (r *raw) deliver(f peers.Frame) {
	if r.closing.Load() {
		return
	}
	r.handler.Frame(f.From, f.To, f.Body)
	if r.batch++; r.batch == transport.MaxBatch {
		r.deliveredBatch()
	}
}

// open returns which process a datagram comes from, and its frames; none where nobody
// has announced that incarnation yet.
func (r *raw) open(b []byte) (*rawProcess, []byte, error) {
	d, err := readDatagram(b)
	if err != nil {
		return nil, nil, err
	}
	from := r.top.Of(d.node)
	if from == nil {
		return nil, nil, errForeign
	}
	known := &from.State
	early := d.from > from.Incarnation
	if d.from < from.Incarnation || known.over && !early || d.to != 0 && d.to != r.config.Incarnation {
		return nil, nil, errOver
	}
	seal := known.seal
	if seal == nil || early {
		seal = newSeal(&r.config.Key, d.node, d.from)
	}
	body, err := d.open(seal)
	switch {
	case err != nil:
		return nil, nil, err
	case early, d.to == 0 && r.config.Incarnation > 1 && !r.beneath:
		return from, nil, nil // not there yet, or by who does not know of this process yet
	}
	known.seal = seal
	return from, body, nil
}

// batchEnded sends what the handler has sent.
func (r *raw) batchEnded() {
	r.reading.Lock()
	defer r.reading.Unlock()
	r.deliveredBatch()
}

// deliveredBatch is called with reading held.
func (r *raw) deliveredBatch() {
	r.received.Add(uint64(r.batch))
	r.batch = 0
	r.flush()
}

// DatagramSize is how many bytes of a datagram a transport fills that does not listen
// on the loopback and is not told otherwise; the headers of UDP and IP come on top.
const DatagramSize = networkDatagram

// Granted opens a socket as a transport does, closes it, and returns the sizes in bytes
// of the buffers that the system grants it, and the size that is asked for.
func Granted(listen string) (receive, send, asked int, err error) {
	s, err := openSocket(listen)
	if err != nil {
		return 0, 0, bufferSize, fmt.Errorf("udp: listen: %w", err)
	}
	defer s.close()
	return s.received, s.sent, bufferSize, nil
}

// TryMulticast sends a few datagrams to a multicast group as a transport with
// Options.Multicast that listens at that address does, and waits for one of them to
// arrive here again, until the deadline.
func TryMulticast(listen string, deadline time.Time) error {
	s, err := openSocket(listen)
	if err != nil {
		return fmt.Errorf("udp: listen: %w", err)
	}
	defer s.close()
	var key transport.Key
	_, _ = rand.Read(key[:]) // it never fails
	g, err := join(groupOf(&key), s)
	if err != nil {
		return err
	}
	defer g.socket.close()
	mark := key.Derive("multicast probe")
	for range 3 {
		if _, err := s.conn.WriteToUDP(mark, net.UDPAddrFromAddrPort(g.at)); err != nil {
			return fmt.Errorf("udp: send to %v from %v: %w", g.at, s.conn.LocalAddr(), err)
		}
	}
	if err := g.socket.conn.SetReadDeadline(deadline); err != nil {
		return err
	}
	b := make([]byte, len(mark)+1)
	for {
		n, _, err := g.socket.conn.ReadFromUDP(b)
		if err != nil {
			return fmt.Errorf("udp: what was sent to %v from %v did not arrive: %w", g.at, s.conn.LocalAddr(), err)
		}
		if bytes.Equal(b[:n], mark) {
			return nil
		}
	}
}
