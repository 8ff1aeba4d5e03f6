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
	// largestRaw is the largest frame of the raw layer, which takes none apart: a round
	// number that fits into a datagram.
	largestRaw = 65000

	// heldPackets is how many datagrams wait for a flush at most.
	heldPackets = 64
)

// raw carries frames in datagrams, and promises nothing but that they come
// from a process with the run's key.
type raw struct {
	peers.Life[way] // its Mu guards sender, and what ways say of sending; no other lock is taken under it

	config   transport.Config
	datagram int // bytes that datagrams are filled up to
	socket   *socket
	group    *group // nil without multicast
	beneath  bool   // the handler is a layer above, which takes a broadcast once, for no node
	handler  transport.Handler

	reading sync.Mutex // held for each datagram: two sockets may be read
	batch   int        // frames delivered since the last flush; guarded by reading

	// Guarded by Mu.
	sealer *sealer
	toAll  way // to the group

	// changed says that not all processes have been there from the start, so that some may hear the
	// group that are not meant. The layers above handle that themselves.
	changed bool
	out     *outbox
	sent    transport.Counters

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

type packet struct {
	way *way
	b   []byte
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
	r.Name = "udp"
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
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if err := r.Begin(top); err != nil {
		return err
	}
	r.handler = h
	r.Running.Go(func() { r.read(r.socket) })
	if r.group != nil {
		if r.toAll.to, err = r.socket.sockaddr(r.group.at); err != nil {
			return fmt.Errorf("udp: %w", err)
		}
		r.Running.Go(func() { r.read(r.group.socket) })
	}
	return nil
}

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
	p, err := r.Route(from, to, len(b), largestRaw)
	if err != nil {
		return err
	}
	r.queue(&p.State, from, to, b, 1)
	return nil
}

func (r *raw) Broadcast(from dme.NodeID, b []byte) error {
	top, err := r.Ready()
	if err != nil {
		return err
	}
	if err := top.Sendable(from, len(b), largestRaw); err != nil {
		return err
	}
	if r.group == nil {
		return errors.New("udp: Broadcast without a multicast group")
	}
	r.Mu.Lock()
	changed := r.changed
	r.Mu.Unlock()
	if changed && !r.beneath {
		return transport.SendToAll(r, r.config.Nodes, from, b)
	}
	r.queue(&r.toAll, from, dme.None, b, uint64(r.config.Nodes-1))
	return nil
}

// queue adds a frame to the datagram that is being made on a way.
func (r *raw) queue(w *way, from, to dme.NodeID, b []byte, receivers uint64) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
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
		w.open = &r.out.packets[r.out.queued]
		w.open.way = w
		r.out.queued++
		w.open.b = r.sealer.begin(w.open.b, w.incarnation)
	}
	w.open.b = peers.AppendFrame(w.open.b, from, to, b)
}

func (r *raw) Flush() error {
	if r.Closing() {
		return r.Closed()
	}
	r.flush()
	return nil
}

// flush sends what is queued, as far as the socket takes it; the rest is lost.
func (r *raw) flush() {
	r.Mu.Lock()
	defer r.Mu.Unlock()
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
	r.Mu.Lock()
	c := r.sent
	r.Mu.Unlock()
	c.Received, c.RefusedFrames, c.KernelDrops = r.received.Load(), r.refused.Load(), r.socket.drops()
	if r.group != nil {
		c.KernelDrops += r.group.socket.drops()
	}
	return c
}

func (r *raw) Close() error { return r.Life.Close(r.shutDown) }

func (r *raw) shutDown() {
	r.flush()
	r.socket.close()
	if r.group != nil {
		r.group.socket.close()
	}
	r.Running.Wait()
}

// read is the goroutine that delivers what comes to a socket.
func (r *raw) read(s *socket) {
	for {
		err := s.receive(r.datagramArrived, r.batchEnded)
		if r.Closing() || errors.Is(err, net.ErrClosed) {
			return
		}
		time.Sleep(time.Millisecond) // an error of the system that may pass
	}
}

func (r *raw) datagramArrived(b []byte) {
	r.reading.Lock()
	defer r.reading.Unlock()
	if r.Closing() {
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
	case toAll && r.Top().Of(f.From) == from && r.beneath, r.Top().Hosts(from, f.From, f.To):
		r.deliver(f)
	case toAll && r.Top().Of(f.From) == from:
		for _, id := range r.Top().Self.Nodes {
			if id != f.From {
				r.deliver(peers.Frame{From: f.From, To: id, Body: f.Body})
			}
		}
	default:
		r.refused.Add(1)
	}
}

func (r *raw) deliver(f peers.Frame) {
	if r.Closing() {
		return
	}
	r.handler.Frame(f.From, f.To, f.Body)
	if r.batch++; r.batch == transport.MaxBatch {
		r.deliveredBatch()
	}
}

// open returns which process a datagram comes from, and its frames; none if that incarnation has
// not been announced yet.
func (r *raw) open(b []byte) (*rawProcess, []byte, error) {
	d, err := readDatagram(b)
	if err != nil {
		return nil, nil, err
	}
	from := r.Top().Of(d.node)
	if from == nil {
		return nil, nil, errRefused
	}
	known := &from.State
	early := d.from > from.Incarnation
	if d.from < from.Incarnation || known.over && !early || d.to != 0 && d.to != r.config.Incarnation {
		return nil, nil, errRefused
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
		return from, nil, nil // not there yet, or sent by a process that does not know of this one yet
	}
	known.seal = seal
	return from, body, nil
}

func (r *raw) batchEnded() {
	r.reading.Lock()
	defer r.reading.Unlock()
	r.deliveredBatch()
}

// deliveredBatch sends what the handler has sent. It is called with reading held.
func (r *raw) deliveredBatch() {
	r.received.Add(uint64(r.batch))
	r.batch = 0
	r.flush()
}

// Granted opens a socket as a transport does, closes it, and returns the sizes in bytes of the
// buffers that the system grants it, and the size that is asked for; 0 if there is none.
func Granted(listen string) (receive, send, asked int) {
	s, err := openSocket(listen)
	if err != nil {
		return 0, 0, 0
	}
	defer s.close()
	return s.received, s.sent, bufferSize
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
	_, _ = rand.Read(key[:]) // never fails
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
