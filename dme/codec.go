package dme

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// The wire form of a Message: its kind, a byte that says which fields follow,
// and those fields, integers as varints. There is exactly one encoding of a
// message; any other sequence of bytes is refused, so that a frame that
// decodes is byte for byte the frame that was sent.
const (
	hasFlags = 1 << iota
	hasNode
	hasClock
	hasNum
	hasReq
	hasDone
	hasVec
	hasUnknown // never set
)

// MaxVec bounds the length of Message.Vec.
const MaxVec = 1 << 20

// ErrMalformed is wrapped by every error of [DecodeMessage].
var ErrMalformed = errors.New("dme: malformed message")

// AppendMessage appends the wire form of m to b. It allocates only if b must grow.
func AppendMessage(b []byte, m *Message) []byte {
	var has byte
	at := len(b) + 1
	b = append(b, byte(m.Kind), 0)
	if m.Flags != 0 {
		has |= hasFlags
		b = append(b, m.Flags)
	}
	if m.Node != 0 {
		has |= hasNode
		b = binary.AppendUvarint(b, uint64(m.Node))
	}
	if m.Clock != 0 {
		has |= hasClock
		b = binary.AppendUvarint(b, m.Clock)
	}
	if m.Num != 0 {
		has |= hasNum
		b = binary.AppendUvarint(b, m.Num)
	}
	if !m.Req.IsZero() {
		has |= hasReq
		b = appendStamp(b, m.Req)
	}
	if !m.Done.IsZero() {
		has |= hasDone
		b = appendStamp(b, m.Done)
	}
	if len(m.Vec) > 0 {
		has |= hasVec
		b = binary.AppendUvarint(b, uint64(len(m.Vec)))
		for _, x := range m.Vec {
			b = binary.AppendUvarint(b, x)
		}
	}
	b[at] = has
	return b
}

func appendStamp(b []byte, s Stamp) []byte {
	b = binary.AppendUvarint(b, s.Clock)
	return binary.AppendUvarint(b, uint64(s.Node))
}

// MessageSize returns the number of bytes that AppendMessage would append.
func MessageSize(m *Message) int {
	n := 2
	if m.Flags != 0 {
		n++
	}
	if m.Node != 0 {
		n += uvarintSize(uint64(m.Node))
	}
	if m.Clock != 0 {
		n += uvarintSize(m.Clock)
	}
	if m.Num != 0 {
		n += uvarintSize(m.Num)
	}
	if !m.Req.IsZero() {
		n += uvarintSize(m.Req.Clock) + uvarintSize(uint64(m.Req.Node))
	}
	if !m.Done.IsZero() {
		n += uvarintSize(m.Done.Clock) + uvarintSize(uint64(m.Done.Node))
	}
	if len(m.Vec) > 0 {
		n += uvarintSize(uint64(len(m.Vec)))
		for _, x := range m.Vec {
			n += uvarintSize(x)
		}
	}
	return n
}

func uvarintSize(x uint64) int { return (bits.Len64(x|1) + 6) / 7 }

// DecodeMessage reads the message that b holds, all of b, into m. The vector is appended to
// vec[:0], so that a caller that recycles vectors allocates nothing; m.Vec is nil if the message
// has none. Memory is bounded by 8·len(b) whatever b holds. On error m is unspecified.
func DecodeMessage(b []byte, m *Message, vec []uint64) error {
	if len(b) < 2 {
		return fmt.Errorf("%w: %d bytes", ErrMalformed, len(b))
	}
	*m = Message{Kind: Kind(b[0])}
	d := decoder{b: b[2:]}
	has := b[1]
	if has&hasUnknown != 0 {
		return fmt.Errorf("%w: unknown field", ErrMalformed)
	}
	if has&hasFlags != 0 {
		m.Flags = d.flags()
	}
	if has&hasNode != 0 {
		m.Node = NodeID(d.number(math.MaxUint32))
	}
	if has&hasClock != 0 {
		m.Clock = d.number(math.MaxUint64)
	}
	if has&hasNum != 0 {
		m.Num = d.number(math.MaxUint64)
	}
	if has&hasReq != 0 {
		m.Req = d.stamp()
	}
	if has&hasDone != 0 {
		m.Done = d.stamp()
	}
	if has&hasVec != 0 {
		n := d.number(math.MaxUint64)
		// An element takes at least a byte: no memory is taken for what cannot be there.
		if n > MaxVec || n > uint64(len(d.b)) {
			return fmt.Errorf("%w: vector of %d in %d bytes", ErrMalformed, n, len(d.b))
		}
		// Made at once: growing step by step takes many times what is needed.
		if vec = vec[:0]; uint64(cap(vec)) < n {
			vec = make([]uint64, 0, n)
		}
		for range n {
			vec = append(vec, d.uvarint())
		}
		m.Vec = vec
	}
	if d.bad {
		return fmt.Errorf("%w: truncated or not canonical", ErrMalformed)
	}
	if len(d.b) != 0 {
		return fmt.Errorf("%w: %d bytes left over", ErrMalformed, len(d.b))
	}
	return nil
}

// decoder reads fields, which are never zero, and remembers the first fault.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) flags() byte {
	if len(d.b) == 0 || d.b[0] == 0 {
		d.bad = true
		return 0
	}
	x := d.b[0]
	d.b = d.b[1:]
	return x
}

// number reads a number from 1 to most.
func (d *decoder) number(most uint64) uint64 {
	x := d.uvarint()
	d.bad = d.bad || x == 0 || x > most
	return x
}

func (d *decoder) stamp() Stamp {
	clock, node := d.uvarint(), d.uvarint()
	d.bad = d.bad || clock|node == 0 || node > math.MaxUint32
	return Stamp{Clock: clock, Node: NodeID(node)}
}

func (d *decoder) uvarint() uint64 {
	x, n := binary.Uvarint(d.b)
	if n <= 0 || n > 1 && d.b[n-1] == 0 { // a last byte of zero is a longer form of a shorter number
		d.bad = true
		d.b = nil
		return 0
	}
	d.b = d.b[n:]
	return x
}
