package nats

import (
	"encoding/binary"

	"dmebench/dme"
)

// Under their seal, messages are unsigned varints in their shortest form, and
// then, for a frame, its body.
//
//	a frame:    from, to (0: all), number; body
//	an order:   number in the one order; the sealed frame
//	progress:   from (a process, by its first node), bytes handled
//	a goodbye:  from (likewise)
//
// maxOverhead is the most that is added to a frame's body, in bytes: two proofs,
// two node numbers and two numbers of frames.
const maxOverhead = 2*macSize + 2*binary.MaxVarintLen32 + 2*binary.MaxVarintLen64

// header is what precedes a frame's body.
type header struct {
	from, to dme.NodeID // to: dme.None for all
	number   uint64     // from 1, of those from one process to another, or to all
}

func (h header) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(h.from))
	b = binary.AppendUvarint(b, uint64(h.to))
	return binary.AppendUvarint(b, h.number)
}

// decode reads a header and returns the body behind it.
func (h *header) decode(b []byte) (body []byte, ok bool) {
	var from, to uint64
	if b, ok = uvarint(b, &from); !ok {
		return nil, false
	}
	if b, ok = uvarint(b, &to); !ok {
		return nil, false
	}
	if b, ok = uvarint(b, &h.number); !ok || (from|to) > 1<<32-1 {
		return nil, false
	}
	h.from, h.to = dme.NodeID(from), dme.NodeID(to)
	return b, true
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
