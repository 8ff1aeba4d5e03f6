package udp

import (
	"bytes"

	"dmebench/transport/frame"
)

// arrival is a segment that has arrived for the first time.
type arrival struct {
	number uint64
	kind   kind
	body   []byte
}

// order hands over the frames of arrivals. The layer fifo takes one segment after
// the other; reliable waits for those before only where a frame comes in parts.
type order struct {
	fifo    bool
	due     uint64             // all segments below have been dealt with
	early   map[uint64]arrival // those that came before one below them; the window bounds their number
	partial []byte             // of a frame that comes in parts; its announced length bounds it
}

func newOrder(l Layer) order { return order{fifo: l == FIFO, early: make(map[uint64]arrival)} }

// arrive takes an arrival, whose body is valid during the call, and delivers the
// frames that are due, one after the other.
func (o *order) arrive(a arrival, deliver func(frame.Frame)) (err error) {
	if !o.fifo && a.kind != part {
		err = eachFrame(a.body, deliver)
		a.body = nil // only its place still counts
	}
	if a.number != o.due {
		a.body = bytes.Clone(a.body)
		o.early[a.number] = a
		return err
	}
	for ok := true; ok; {
		if e := o.next(a, deliver); e != nil {
			err = e
		}
		o.due++
		if a, ok = o.early[o.due]; ok {
			delete(o.early, o.due)
		}
	}
	return err
}

// next takes the segment that is due.
func (o *order) next(a arrival, deliver func(frame.Frame)) error {
	if a.kind != part {
		return eachFrame(a.body, deliver)
	}
	o.partial = append(o.partial, a.body...)
	var f frame.Frame
	size, err := frame.Decode(o.partial, &f)
	if size == 0 && err == nil {
		return nil // the rest is to come
	}
	complete := size == len(o.partial)
	o.partial = nil
	if !complete {
		return errSegment
	}
	deliver(f)
	return nil
}

// eachFrame calls f for each frame in b.
func eachFrame(b []byte, f func(frame.Frame)) error {
	var x frame.Frame
	for len(b) > 0 {
		size, err := frame.Decode(b, &x)
		if size == 0 || err != nil {
			return errSegment
		}
		b = b[size:]
		f(x)
	}
	return nil
}
