package udp

import (
	"errors"

	"dmebench/transport"
	"dmebench/transport/frame"
)

// arrival is a segment that has arrived for the first time.
type arrival struct {
	number       uint64
	kind         kind
	index, count uint32
	body         []byte
}

// order is what the layers above the acknowledgements do with arrivals: it
// hands over frames, one after the other.
type order interface {
	// arrive takes an arrival, whose body is valid during the call.
	arrive(a arrival, deliver func(frame.Frame)) error
}

func newOrder(l Layer) order {
	if l == FIFO {
		return &inOrder{held: make(map[uint64]arrival)}
	}
	return &asTheyCome{}
}

// asTheyCome is the order of the layer reliable: none.
type asTheyCome struct{ parts parts }

func (o *asTheyCome) arrive(a arrival, deliver func(frame.Frame)) error {
	return o.parts.arrive(a, deliver)
}

// inOrder is what the layer fifo adds: segments that come early are held back
// until those before them have come. The window bounds how many these are.
type inOrder struct {
	due   uint64
	held  map[uint64]arrival
	parts parts
}

func (o *inOrder) arrive(a arrival, deliver func(frame.Frame)) error {
	if a.number != o.due {
		a.body = append([]byte(nil), a.body...)
		o.held[a.number] = a
		return nil
	}
	var errs []error
	for ok := true; ok; {
		if err := o.parts.arrive(a, deliver); err != nil {
			errs = append(errs, err)
		}
		o.due++
		if a, ok = o.held[o.due]; ok {
			delete(o.held, o.due)
		}
	}
	return errors.Join(errs...)
}

// parts puts frames together that came in parts.
type parts struct {
	open map[uint64]*puzzle // by the number of the first part
	held int                // bytes that the open ones take
}

type puzzle struct {
	pieces  [][]byte
	missing int
	bytes   int
}

const (
	// maxHeld bounds the bytes in frames that are not complete: of a peer that
	// keeps to the protocol, one frame of which not all has been sent yet, and
	// others within a window.
	maxHeld = 2*(transport.MaxFrame+maxParts*pieceHeader) + windowSegments*MaxDatagram

	pieceHeader = 24 // bytes that a piece takes beside its content
)

// cost is what a puzzle takes in memory, in bytes.
func (z *puzzle) cost() int { return pieceHeader*len(z.pieces) + z.bytes }

func (p *parts) arrive(a arrival, deliver func(frame.Frame)) error {
	switch a.kind {
	case whole, shared:
		return deliverAll(a.body, deliver)
	case part:
		return p.piece(a, deliver)
	default:
		return nil
	}
}

func deliverAll(b []byte, deliver func(frame.Frame)) error {
	var f frame.Frame
	for len(b) > 0 {
		size, err := frame.Decode(b, &f)
		if size == 0 || err != nil {
			return errSegment
		}
		b = b[size:]
		deliver(f)
	}
	return nil
}

func (p *parts) piece(a arrival, deliver func(frame.Frame)) error {
	if uint64(a.index) > a.number {
		return errSegment
	}
	first := a.number - uint64(a.index)
	z := p.open[first]
	if grows := pieceHeader*int(a.count) + len(a.body); p.held+grows > maxHeld {
		return errSegment
	}
	if z == nil {
		if p.open == nil {
			p.open = make(map[uint64]*puzzle)
		}
		z = &puzzle{pieces: make([][]byte, a.count), missing: int(a.count)}
		p.open[first] = z
		p.held += z.cost()
	}
	if int(a.count) != len(z.pieces) || z.pieces[a.index] != nil || z.bytes+len(a.body) > transport.MaxFrame+frame.MaxHeader {
		return errSegment
	}
	z.pieces[a.index] = append([]byte(nil), a.body...)
	z.bytes += len(a.body)
	p.held += len(a.body)
	if z.missing--; z.missing > 0 {
		return nil
	}
	delete(p.open, first)
	p.held -= z.cost()
	b := make([]byte, 0, z.bytes)
	for _, piece := range z.pieces {
		b = append(b, piece...)
	}
	var f frame.Frame
	if size, err := frame.Decode(b, &f); err != nil || size != len(b) {
		return errSegment
	}
	deliver(f)
	return nil
}
