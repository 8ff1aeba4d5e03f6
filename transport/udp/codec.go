package udp

import (
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"math"
	"time"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
)

// A datagram, in network byte order:
//
//	version  1 byte
//	to       4 bytes   the incarnation it is meant for; 0 for all, to a group
//	node     4 bytes   the first node of the sending process
//	from     4 bytes   the sending incarnation
//	number   8 bytes   of the datagram: no two of an incarnation have the same
//	frames             as peers.AppendFrame writes them
//	tag      16 bytes  AES-GMAC over everything before it
//
// Each incarnation has a key of its own, which follows from the run's, its node
// and its number, so that datagrams may be numbered from 1 without a nonce ever being
// used twice with one key.
const (
	version    = 3
	toAt       = 1
	nodeAt     = toAt + 4
	fromAt     = nodeAt + 4
	numberAt   = fromAt + 4
	headerSize = numberAt + 8
	tagSize    = 16
	overhead   = headerSize + tagSize

	nonceAt = fromAt // the nonce is the incarnation and the number, as they stand in the header
)

// errRefused is the error for what is refused and counted, for any reason.
var errRefused = errors.New("udp: malformed, forged, or of an incarnation that is not there")

func newSeal(key *transport.Key, node dme.NodeID, incarnation uint32) cipher.AEAD {
	who := binary.BigEndian.AppendUint32(nil, uint32(node))
	return peers.NewSeal(key, "udp datagrams", binary.BigEndian.AppendUint32(who, incarnation)...)
}

// sealer makes the datagrams of this process, one at a time.
type sealer struct {
	seal   cipher.AEAD
	header [headerSize]byte
	number uint64 // of the last datagram
}

func newSealer(key *transport.Key, node dme.NodeID, incarnation uint32) *sealer {
	s := &sealer{seal: newSeal(key, node, incarnation)}
	s.header[0] = version
	binary.BigEndian.PutUint32(s.header[nodeAt:], uint32(node))
	binary.BigEndian.PutUint32(s.header[fromAt:], incarnation)
	return s
}

// begin begins a datagram for an incarnation in b: frames may be appended.
func (s *sealer) begin(b []byte, to uint32) []byte {
	b = append(b[:0], s.header[:]...)
	binary.BigEndian.PutUint32(b[toAt:], to)
	return b
}

// finish numbers a datagram and appends its tag.
func (s *sealer) finish(b []byte) []byte {
	s.number++
	binary.BigEndian.PutUint64(b[numberAt:], s.number)
	return s.seal.Seal(b, b[nonceAt:headerSize], nil, b)
}

// datagram is one that has arrived, before it is known to be genuine.
type datagram struct {
	b    []byte
	node dme.NodeID // the claimed sender
	from uint32     // and its incarnation
	to   uint32     // the incarnation that it is meant for; 0 for any
}

func readDatagram(b []byte) (d datagram, err error) {
	if len(b) < overhead || b[0] != version {
		return d, errRefused
	}
	at := func(i int) uint32 { return binary.BigEndian.Uint32(b[i:]) }
	return datagram{b, dme.NodeID(at(nodeAt)), at(fromAt), at(toAt)}, nil
}

// open returns the frames of a datagram whose tag is right.
func (d *datagram) open(seal cipher.AEAD) ([]byte, error) {
	end := len(d.b) - tagSize
	if _, err := seal.Open(nil, d.b[nonceAt:headerSize], d.b[end:], d.b[:end]); err != nil {
		return nil, errRefused
	}
	return d.b[headerSize:end:end], nil
}

// A segment is what the reliable layers send as one frame of the raw one, from
// process to process:
//
//	kind          1 byte, the highest bit asks for an acknowledgement at once
//	from, to      varints, the sending incarnation and that which it is meant for
//	next, delay   varints: of what went the other way, all segments below next have
//	              arrived, the latest that many microseconds before this was sent
//	bits          varint length and a bitmap of the segments from next+1 on
//
// A segment with a number has it next, as a varint. The rest is the body.
type segment struct {
	kind     kind
	urgent   bool
	from, to uint32
	ack      acknowledgement
	number   uint64
	body     []byte
}

type acknowledgement struct {
	next  uint64
	delay time.Duration
	bits  []byte
}

type kind uint8

const (
	whole    kind = iota + 1 // carries whole frames; without any, it asks whether the other side is there
	part                     // carries a part of a frame that does not fit into one segment
	shared                   // carries a broadcast, which other links have too
	farewell                 // the sender closes: no segment follows
	ack                      // carries an acknowledgement alone
	kinds
)

func (k kind) numbered() bool { return k >= whole && k <= farewell }

const (
	urgentBit = 0x80

	// segmentRoom is the most that comes before a body in a segment.
	segmentRoom = 1 + 5 + 5 + 9 + 5 + 1 + maxBits + 9
	maxBits     = windowSegments / 8 // bytes
)

func appendSegment(b []byte, s *segment) []byte {
	k := byte(s.kind)
	if s.urgent {
		k |= urgentBit
	}
	b = append(b, k)
	b = binary.AppendUvarint(b, uint64(s.from))
	b = binary.AppendUvarint(b, uint64(s.to))
	b = binary.AppendUvarint(b, s.ack.next)
	b = binary.AppendUvarint(b, uint64(s.ack.delay.Microseconds()))
	b = binary.AppendUvarint(b, uint64(len(s.ack.bits)))
	b = append(b, s.ack.bits...)
	if s.kind.numbered() {
		b = binary.AppendUvarint(b, s.number)
	}
	return append(b, s.body...)
}

// decodeSegment reads b into s, whose bits and body then lie in b.
func decodeSegment(b []byte, s *segment) error {
	if len(b) == 0 {
		return errRefused
	}
	*s = segment{kind: kind(b[0] &^ urgentBit), urgent: b[0]&urgentBit != 0}
	if s.kind == 0 || s.kind >= kinds {
		return errRefused
	}
	r := peers.Reader{Rest: b[1:]}
	s.from, s.to = uint32(r.Uvarint(math.MaxUint32)), uint32(r.Uvarint(math.MaxUint32))
	s.ack.next = r.Uvarint(1 << 62)
	s.ack.delay = time.Duration(r.Uvarint(1<<31)) * time.Microsecond
	s.ack.bits = r.Bytes(r.Uvarint(maxBits))
	if s.kind.numbered() {
		s.number = r.Uvarint(1 << 62)
	}
	s.body = r.Rest
	mayHaveBody := s.kind == whole || s.kind == part || s.kind == shared
	if r.Failed || len(s.body) > 0 && !mayHaveBody {
		return errRefused
	}
	return nil
}
