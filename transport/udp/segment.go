package udp

import (
	"encoding/binary"
	"errors"
	"time"
)

// A segment is what the reliable layers send as one frame of the raw one, from
// process to process:
//
//	kind          1 byte, the highest bit asks for an acknowledgement at once
//	source        4 bytes, the epoch of the sending incarnation
//	destination   4 bytes, that of the incarnation it is meant for
//
// and, but for a hello, what has arrived from the destination:
//
//	next, delay   varints: all segments below next have arrived, the latest so
//	              many microseconds before this was sent
//	bits          varint length and a bitmap of the segments from next+1 on
//
// A segment with a number has it next, as a varint. The rest is the body.
type segment struct {
	kind                kind
	urgent              bool
	source, destination uint32
	ack                 acknowledgement
	number              uint64
	body                []byte
}

type acknowledgement struct {
	next  uint64
	delay time.Duration
	bits  []byte
}

// kind is what a segment is for.
type kind uint8

const (
	hello    kind = iota + 1 // to destination 0 asks for the other side's epoch, else answers that
	whole                    // carries whole frames; without any, it asks whether the other side is there
	part                     // carries a part of a frame that does not fit into one segment
	shared                   // carries a broadcast, which other links have too
	farewell                 // the sender closes: no segment follows
	ack                      // carries an acknowledgement alone
	kinds
)

func (k kind) numbered() bool { return k >= whole && k <= farewell }

const (
	urgentBit    = 0x80
	segmentFixed = 1 + 4 + 4

	// segmentRoom is the most that comes before a body in a segment.
	segmentRoom = segmentFixed + 9 + 5 + 1 + maxBits + 9
	maxBits     = windowSegments / 8 // bytes
)

var errSegment = errors.New("udp: malformed segment")

func appendSegment(b []byte, s *segment) []byte {
	k := byte(s.kind)
	if s.urgent {
		k |= urgentBit
	}
	b = append(b, k)
	b = binary.BigEndian.AppendUint32(b, s.source)
	b = binary.BigEndian.AppendUint32(b, s.destination)
	if s.kind != hello {
		b = binary.AppendUvarint(b, s.ack.next)
		b = binary.AppendUvarint(b, uint64(s.ack.delay.Microseconds()))
		b = binary.AppendUvarint(b, uint64(len(s.ack.bits)))
		b = append(b, s.ack.bits...)
	}
	if s.kind.numbered() {
		b = binary.AppendUvarint(b, s.number)
	}
	return append(b, s.body...)
}

// decodeSegment reads b into s, whose bits and body then lie in b.
func decodeSegment(b []byte, s *segment) error {
	if len(b) < segmentFixed {
		return errSegment
	}
	*s = segment{
		kind: kind(b[0] &^ urgentBit), urgent: b[0]&urgentBit != 0,
		source: binary.BigEndian.Uint32(b[1:]), destination: binary.BigEndian.Uint32(b[5:]),
	}
	r := reader{b: b[segmentFixed:]}
	if s.kind == 0 || s.kind >= kinds || s.source == 0 {
		return errSegment
	}
	if s.kind != hello {
		s.ack.next = r.uvarint(1 << 62)
		s.ack.delay = time.Duration(r.uvarint(1<<31)) * time.Microsecond
		s.ack.bits = r.bytes(r.uvarint(maxBits))
	}
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
