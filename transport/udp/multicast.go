package udp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"sync"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
)

// group is the IP multicast group of a run. A sender receives its own datagrams, too.
type group struct {
	at     netip.AddrPort
	socket *socket
}

// groupOf returns a run's group, which follows from its key: an address of the organization-local
// scope (RFC 2365, 6.2) and a port below those that systems give out by themselves. If another run
// has the same, its datagrams are refused.
func groupOf(key *transport.Key) netip.AddrPort {
	const firstPort, ports = 20_000, 10_000
	sum := key.Derive("udp group")
	addr := netip.AddrFrom4([4]byte{239, 192 + sum[0]%4, sum[1], sum[2]})
	return netip.AddrPortFrom(addr, firstPort+binary.BigEndian.Uint16(sum[3:])%ports)
}

// join makes a process a member of a group, by the network interface that its
// own socket listens at, and has what that socket sends to groups leave there.
func join(at netip.AddrPort, own *socket) (*group, error) {
	socket, err := joinAt(at, own)
	if err != nil {
		return nil, fmt.Errorf("udp: cannot use the multicast group %v from %v: %w; "+
			"listen at an IPv4 address of an interface that multicasts, or leave multicast out", at, own.conn.LocalAddr(), err)
	}
	return &group{at, socket}, nil
}

func joinAt(at netip.AddrPort, own *socket) (*socket, error) {
	local := own.conn.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
	if !local.Is4() || local.IsUnspecified() {
		return nil, errors.New("the address to listen at says no interface")
	}
	through, err := interfaceOf(local)
	if err != nil {
		return nil, err
	}
	if err := own.multicastBy(local); err != nil {
		return nil, err
	}
	conn, err := net.ListenMulticastUDP("udp4", through, net.UDPAddrFromAddrPort(at))
	if err != nil {
		return nil, err
	}
	return newSocket(conn)
}

func interfaceOf(local netip.Addr) (*net.Interface, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	for i := range all {
		addrs, err := all[i].Addrs()
		if err != nil {
			continue
		}
		for _, a := range addrs {
			p, err := netip.ParsePrefix(a.String())
			if err == nil && (p.Addr() == local || local.IsLoopback() && p.Contains(local)) {
				return &all[i], nil
			}
		}
	}
	return nil, fmt.Errorf("no interface has the address %v", local)
}

// Multicasting is a [Transport] that was opened with [Options.Multicast].
type Multicasting struct{ *Transport }

var _ transport.Broadcaster = Multicasting{}

// Broadcast is Send to every node but from, mostly by one datagram to the run's group.
func (m Multicasting) Broadcast(from dme.NodeID, frame []byte) error {
	return m.Transport.Transport.(transport.Broadcaster).Broadcast(from, frame)
}

// A broadcast of the reliable layers is a segment of its own on each link, with one body, in which
// the frame is for no node: for all that live there. Those that can go at once go together, in one
// frame of the raw layer for all processes:
//
//	from     varint, the sending incarnation
//	count    varint, of the links that follow, and for each of them, as varints,
//	         the receiving process by its place in the address book,
//	         its incarnation, and twice the segment's number, and 1 if it asks
//	         for an acknowledgement at once
//	body     the rest
//
// It acknowledges nothing. All else is as with segments for one process: a receiver acknowledges on
// its link, and what it misses, or what could not go at once, is sent to it alone.
type broadcast struct {
	mu      sync.Mutex // taken before the locks of peers
	body    []byte
	entries []byte
	count   uint64
	out     []byte
}

const (
	maxEntry = 3 + 5 + 9 // bytes
	castHead = 5 + 3     // bytes before the entries
)

func (t *reliable) Broadcast(from dme.NodeID, b []byte) error {
	top, err := t.Ready()
	if err != nil {
		return err
	}
	if err := top.Sendable(from, len(b), transport.MaxFrame); err != nil {
		return err
	}
	if peers.MaxHeader+len(b) > t.body {
		return transport.SendToAll(t, t.config.Nodes, from, b) // in parts
	}
	c := &t.cast
	c.mu.Lock()
	defer c.mu.Unlock()
	c.body = peers.AppendFrame(make([]byte, 0, peers.MaxHeader+len(b)), from, dme.None, b)
	now := t.clock()
	for p := range top.All() {
		receivers := len(p.Nodes)
		if p == top.Self {
			receivers-- // not the sender
		}
		if receivers == 0 {
			continue
		}
		if err := p.State.queueBroadcast(c, uint64(receivers), now); err != nil {
			c.write(t) // what was queued is on its way
			return err
		}
		if castHead+len(c.entries)+maxEntry+len(c.body) > t.body+segmentRoom {
			c.write(t)
		}
	}
	c.write(t)
	c.body = nil // the links have it, as long as they need it
	return nil
}

// queueBroadcast queues c.body, for n nodes, and adds it to c if it may be sent now.
func (l *association) queueBroadcast(c *broadcast, n uint64, now instant) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ok, err := l.accepts(n); !ok {
		return err
	}
	o := l.out.share(c.body)
	if o == nil {
		return l.full()
	}
	l.frames += n
	due, urgent := l.transmitUpTo(o, now)
	if !due {
		return nil // follows on this link alone
	}
	number := o.number << 1
	if urgent {
		number |= 1
	}
	c.entries = binary.AppendUvarint(c.entries, uint64(l.process.Index))
	c.entries = binary.AppendUvarint(c.entries, uint64(l.process.Incarnation))
	c.entries = binary.AppendUvarint(c.entries, number)
	c.count++
	return nil
}

func (c *broadcast) write(t *reliable) {
	if c.count == 0 {
		return
	}
	c.out = binary.AppendUvarint(c.out[:0], uint64(t.config.Incarnation))
	c.out = binary.AppendUvarint(c.out, c.count)
	c.out = append(c.out, c.entries...)
	c.out = append(c.out, c.body...)
	// Datagrams that the layer below does not take are lost, as if on the way.
	_ = t.caster.Broadcast(t.Top().Self.Node(), c.out)
	c.entries, c.count = c.entries[:0], 0
}

func (t *reliable) broadcastArrived(from *process, b []byte) {
	var s segment
	mine, err := decodeBroadcast(b, uint64(t.Top().Self.Index), &s)
	switch {
	case err != nil:
		t.refused.Add(1)
	case mine: // else it comes on the link alone
		from.State.arrived(&s)
	}
}

// decodeBroadcast reads the segment for a process out of a broadcast, into s, if there is one.
func decodeBroadcast(b []byte, process uint64, s *segment) (mine bool, err error) {
	r := peers.Reader{Rest: b}
	*s = segment{kind: shared, from: uint32(r.Uvarint(math.MaxUint32))}
	for count := r.Uvarint(1 << 32); count > 0 && !r.Failed; count-- {
		at := r.Uvarint(1 << 32)
		to := r.Uvarint(math.MaxUint32)
		number := r.Uvarint(1 << 63)
		if at == process && !r.Failed && !mine {
			mine = true
			s.to = uint32(to)
			s.number, s.urgent = number>>1, number&1 == 1
		}
	}
	s.body = r.Rest
	if r.Failed || len(s.body) == 0 {
		return false, errRefused
	}
	return mine, nil
}
