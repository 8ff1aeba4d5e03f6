package nats

import (
	"encoding/binary"

	"dmebench/dme"
)

// Under their seal, messages are unsigned varints in their shortest form, and
// then, for a frame, its body.
//
//	a frame:    2·from, or 2·from + 1 of a later incarnation than the first and its
//	            number; to (0: all), number; body
//	a welcome:  2·from + 1, 0, the incarnation, to, number; no body
//	an order:   number in the one order; the sealed frame
//	progress:   from (a process, by its first node), its incarnation, bytes handled
//	a goodbye:  likewise
//
// A welcome is the first that a process tells another where one of the two has not
// been there from the start: from where on its broadcasts are meant for the other,
// too. Its number is that of the last one before.
//
// maxOverhead is the most that is added to a frame's body, in bytes: two proofs,
// two node numbers, an incarnation and two numbers of frames.
const maxOverhead = 2*macSize + 3*binary.MaxVarintLen32 + 1 + 2*binary.MaxVarintLen64

// header is what precedes a frame's body.
type header struct {
	from, to    dme.NodeID // to: dme.None for all
	number      uint64     // from 1, of those from one process to another, or to all
	incarnation uint32     // of the sending process
	welcome     bool
}

func (h header) append(b []byte) []byte {
	if h.incarnation > 1 || h.welcome {
		b = binary.AppendUvarint(b, uint64(h.from)<<1|1)
		if h.welcome {
			b = append(b, 0)
		}
		b = binary.AppendUvarint(b, uint64(h.incarnation))
	} else {
		b = binary.AppendUvarint(b, uint64(h.from)<<1)
	}
	b = binary.AppendUvarint(b, uint64(h.to))
	return binary.AppendUvarint(b, h.number)
}

// decode reads a header and returns the body behind it.
func (h *header) decode(b []byte) (body []byte, ok bool) {
	var from, to uint64
	if b, ok = uvarint(b, &from); !ok {
		return nil, false
	}
	h.incarnation = 1
	if from&1 == 1 {
		if b, ok = h.decodeIncarnation(b); !ok {
			return nil, false
		}
	}
	if b, ok = uvarint(b, &to); !ok {
		return nil, false
	}
	if b, ok = uvarint(b, &h.number); !ok || (from>>1|to) > 1<<32-1 || h.welcome && (to == 0 || len(b) > 0) {
		return nil, false
	}
	h.from, h.to = dme.NodeID(from>>1), dme.NodeID(to)
	return b, true
}

// decodeIncarnation reads the part of a header that most have not.
func (h *header) decodeIncarnation(b []byte) (rest []byte, ok bool) {
	if len(b) > 0 && b[0] == 0 {
		h.welcome, b = true, b[1:]
	}
	var x uint64
	if rest, ok = uvarint(b, &x); !ok || x == 0 || x > 1<<32-1 || x == 1 && !h.welcome {
		return nil, false
	}
	h.incarnation = uint32(x)
	return rest, true
}

// uvarint reads a number and returns what follows it.
func uvarint(b []byte, x *uint64) (rest []byte, ok bool) {
	v, n := binary.Uvarint(b)
	if n <= 0 || n > 1 && b[n-1] == 0 { // cut off, too large, or a longer form of a shorter number
		return nil, false
	}
	*x = v
	return b[n:], true
}
