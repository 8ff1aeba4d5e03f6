package udp

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// A segment is what the reliable layers send as one frame of the raw one, from
// process to process:
//
//	kind          1 byte, the highest bit asks for an acknowledgement at once
//	from, to      varints, the sending incarnation and that which it is meant for
//	next, delay   varints: of what went the other way, all segments below next have
//	              arrived, the latest so many microseconds before this was sent
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

// kind is what a segment is for.
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

var errSegment = errors.New("udp: malformed segment")

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
		return errSegment
	}
	*s = segment{kind: kind(b[0] &^ urgentBit), urgent: b[0]&urgentBit != 0}
	if s.kind == 0 || s.kind >= kinds {
		return errSegment
	}
	r := reader{b: b[1:]}
	s.from, s.to = uint32(r.uvarint(math.MaxUint32)), uint32(r.uvarint(math.MaxUint32))
	s.ack.next = r.uvarint(1 << 62)
	s.ack.delay = time.Duration(r.uvarint(1<<31)) * time.Microsecond
	s.ack.bits = r.bytes(r.uvarint(maxBits))
	if s.kind.numbered() {
		s.number = r.uvarint(1 << 62)
	}
	s.body = r.b
	mayHaveBody := s.kind == whole || s.kind == part || s.kind == shared
	if r.failed || len(s.body) > 0 && !mayHaveBody {
		return errSegment
	}
	return nil
}

// reader takes fields off the front of a slice.
type reader struct {
	b      []byte
	failed bool
}

func (r *reader) uvarint(most uint64) uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > most {
		r.failed, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.failed, r.b = true, nil
		return nil
	}
	x := r.b[:n:n]
	r.b = r.b[n:]
	return x
}
