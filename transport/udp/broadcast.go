package udp

import (
	"encoding/binary"
	"sync"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/frame"
)

// Multicasting is a [Transport] that was opened with [Options.Multicast], and a
// [transport.Broadcaster].
type Multicasting struct{ *Transport }

var _ transport.Broadcaster = Multicasting{}

// Broadcast is Send to every node but from, by one datagram to the run's
// multicast group; the package comment says when it takes more.
func (m Multicasting) Broadcast(from dme.NodeID, frame []byte) error {
	return m.Transport.Transport.(transport.Broadcaster).Broadcast(from, frame)
}

// A broadcast of the reliable layers is a segment of its own on each link, with
// one body, in which the frame is for no node: for all that live there. Those
// that can go at once go together, in one frame of the raw layer for all
// processes:
//
//	source   4 bytes, the epoch of the sending incarnation
//	count    varint, of the links that follow, and for each of them
//	         the receiving process by its place in the address book, a varint;
//	         4 bytes, the epoch of its incarnation;
//	         twice the segment's number, and 1 where it asks for an
//	         acknowledgement at once, a varint;
//	         what has arrived from there, as in a segment
//	body     the rest
//
// All else is as with segments for one process: a receiver acknowledges on its
// link, and what it misses, or what could not go at once, is sent to it alone.
type broadcast struct {
	mu      sync.Mutex // taken before the locks of peers
	body    []byte
	entries []byte
	count   uint64
	out     []byte
}

const (
	maxEntry = 3 + 4 + 9 + 9 + 5 + 1 + maxBits // bytes
	castHead = 4 + 3                           // bytes before the entries
)

// Broadcast is Send to every node but from.
func (t *reliable) Broadcast(from dme.NodeID, b []byte) error {
	if err := t.sendable(from, b); err != nil {
		return err
	}
	if frame.MaxHeader+len(b) > t.castRoom {
		return t.sendToAll(from, b) // in parts
	}
	c := &t.cast
	c.mu.Lock()
	defer c.mu.Unlock()
	c.body = frame.Append(make([]byte, 0, frame.MaxHeader+len(b)), from, dme.None, b)
	now := t.clock()
	for _, p := range t.peers {
		n := t.receivers(p.process, from)
		if n == 0 {
			continue
		}
		if err := p.queueBroadcast(c, n, now); err != nil {
			c.write(t) // what was queued is on its way
			return err
		}
		if castHead+len(c.entries)+maxEntry+len(c.body) > t.castRoom+segmentRoom {
			c.write(t)
		}
	}
	c.write(t)
	c.body = nil // the links have it, as long as they need it
	return nil
}

// sendToAll sends a frame to one node after the other.
func (t *reliable) sendToAll(from dme.NodeID, b []byte) error {
	for to := dme.NodeID(1); int(to) <= t.config.Nodes; to++ {
		if to == from {
			continue
		}
		if err := t.Send(from, to, b); err != nil {
			return err
		}
	}
	return nil
}

// receivers is how many nodes of a process a broadcast of node from is for.
func (t *reliable) receivers(p *process, from dme.NodeID) uint64 {
	n := len(p.nodes)
	if t.top.at(from) == p {
		n--
	}
	return uint64(n)
}

// queueBroadcast queues c.body, for n nodes, and adds it to c if it may be sent
// now.
func (p *peer) queueBroadcast(c *broadcast, n uint64, now instant) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if gone, err := p.gone(n); gone {
		return err
	}
	o, err := p.out.share(c.body)
	if err != nil {
		return p.full()
	}
	p.frames += n
	p.introduce()
	due, urgent := p.transmitUpTo(o, now)
	if !due {
		return nil // it follows on this link alone
	}
	c.entries = binary.AppendUvarint(c.entries, uint64(p.process.index))
	c.entries = binary.BigEndian.AppendUint32(c.entries, p.epoch)
	number := o.number << 1
	if urgent {
		number |= 1
	}
	c.entries = binary.AppendUvarint(c.entries, number)
	a := p.in.acknowledge(p.bits[:0], now)
	c.entries = a.append(c.entries)
	c.count++
	return nil
}

// write hands what was gathered to the layer below. It is called with mu held.
func (c *broadcast) write(t *reliable) {
	if c.count == 0 {
		return
	}
	c.out = binary.BigEndian.AppendUint32(c.out[:0], t.epoch)
	c.out = binary.AppendUvarint(c.out, c.count)
	c.out = append(c.out, c.entries...)
	c.out = append(c.out, c.body...)
	// What the layer below does not take is lost, as on the way.
	_ = t.caster.Broadcast(t.top.self.node(), c.out)
	c.entries, c.count = c.entries[:0], 0
}

// broadcastArrived takes a broadcast of a process from the layer below.
func (t *reliable) broadcastArrived(from *process, b []byte) {
	var s segment
	mine, err := decodeBroadcast(b, uint64(t.top.self.index), &s)
	switch {
	case err != nil:
		t.refused.Add(1)
	case mine: // else it comes on the link alone
		t.peers[from.index].arrived(&s)
	}
}

// decodeBroadcast reads the segment for a process out of a broadcast, into s;
// false where there is none for it.
func decodeBroadcast(b []byte, process uint64, s *segment) (mine bool, err error) {
	if len(b) < 4 {
		return false, errSegment
	}
	*s = segment{kind: shared, source: binary.BigEndian.Uint32(b)}
	r := reader{b: b[4:]}
	for count := r.uvarint(1 << 32); count > 0 && !r.failed; count-- {
		at := r.uvarint(1 << 32)
		epoch := r.bytes(4)
		number := r.uvarint(1 << 63)
		a := r.acknowledgement()
		if at == process && !r.failed && !mine {
			mine = true
			s.destination = binary.BigEndian.Uint32(epoch)
			s.number, s.urgent, s.ack = number>>1, number&1 == 1, a
		}
	}
	s.body = r.b
	if r.failed || s.source == 0 || len(s.body) == 0 {
		return false, errSegment
	}
	return mine, nil
}
