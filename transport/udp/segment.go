package udp

import (
	"encoding/binary"
	"errors"
	"time"

	"dmebench/transport"
)

// A segment is what the reliable layers send as one frame of the raw one, from
// process to process:
//
//	kind          1 byte, the highest bit asks for an acknowledgement at once
//	source        4 bytes, the epoch of the sending incarnation
//	destination   4 bytes, that of the incarnation it is meant for
//
// and, but for greeting and welcome, what has arrived from the destination:
//
//	next, delay   varints: all segments below next have arrived, the latest so
//	              many microseconds before this was sent
//	bits          varint length and a bitmap of the segments from next+1 on
//
// A segment with a number has it next, as a varint. A part has its index and
// the number of parts after it. The rest is the body.
type segment struct {
	kind                kind
	urgent              bool
	source, destination uint32
	ack                 acknowledgement
	number              uint64
	index, count        uint32 // of parts
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
	greeting kind = iota + 1 // asks for the epoch of the destination, which is 0 here
	welcome                  // answers it
	whole                    // carries whole frames
	part                     // carries a part of a frame that does not fit into one segment
	farewell                 // the sender closes: no segment follows
	ack                      // carries an acknowledgement alone
	probe                    // asks whether the destination is still there
	shared                   // carries a broadcast, which other links have too
	kinds
)

func (k kind) numbered() bool { return k == whole || k == part || k == farewell || k == shared }

const (
	urgentBit    = 0x80
	segmentFixed = 1 + 4 + 4

	// segmentRoom is the most that comes before a body in a segment.
	segmentRoom = segmentFixed + 9 + 5 + 1 + maxBits + 9 + 2*3
	maxBits     = windowSegments / 8       // bytes
	maxParts    = transport.MaxFrame / 256 // of one frame
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
	if s.kind == greeting || s.kind == welcome {
		return b
	}
	b = s.ack.append(b)
	if s.kind.numbered() {
		b = binary.AppendUvarint(b, s.number)
	}
	if s.kind == part {
		b = binary.AppendUvarint(b, uint64(s.index))
		b = binary.AppendUvarint(b, uint64(s.count))
	}
	return append(b, s.body...)
}

func (a *acknowledgement) append(b []byte) []byte {
	b = binary.AppendUvarint(b, a.next)
	b = binary.AppendUvarint(b, uint64(a.delay.Microseconds()))
	b = binary.AppendUvarint(b, uint64(len(a.bits)))
	return append(b, a.bits...)
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
	if s.kind != greeting && s.kind != welcome {
		s.ack = r.acknowledgement()
	}
	if s.kind.numbered() {
		s.number = r.uvarint(1 << 62)
	}
	if s.kind == part {
		s.index = uint32(r.uvarint(maxParts))
		s.count = uint32(r.uvarint(maxParts))
		r.failed = r.failed || s.index >= s.count
	}
	s.body = r.b
	hasBody := s.kind.numbered() && s.kind != farewell
	if r.failed || hasBody != (len(s.body) > 0) {
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

func (r *reader) acknowledgement() (a acknowledgement) {
	a.next = r.uvarint(1 << 62)
	a.delay = time.Duration(r.uvarint(1<<31)) * time.Microsecond
	a.bits = r.bytes(r.uvarint(maxBits))
	return a
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
