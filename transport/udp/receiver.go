package udp

import (
	"bytes"
	"time"

	"dmebench/transport/peers"
)

// ackEvery is how many segments are acknowledged together at most.
const ackEvery = 128

// receiver is one direction of a link as its receiver sees it. It reads no clock.
type receiver struct {
	delay   time.Duration               // for which an acknowledgement waits for a segment that it can travel with
	next    uint64                      // all below have arrived
	highest uint64                      // none from here on has
	seen    [windowSegments / 64]uint64 // by number modulo windowSegments, from next on
	latest  instant                     // when the latest came
	owed    int                         // segments not yet acknowledged
	now     bool                        // an acknowledgement is due
	due     instant                     // when it is; 0 while none is owed
}

func (r *receiver) note(number uint64, urgent bool, now instant) (fresh bool, err error) {
	switch {
	case number >= r.next+windowSegments:
		return false, errRefused
	case number < r.next || r.has(number):
		// The sender has not heard of its arrival, or not in time.
		r.now = true
		return false, nil
	}
	r.seen[number%windowSegments/64] |= 1 << (number % 64)
	r.highest = max(r.highest, number+1)
	gap := number != r.next
	for r.next < r.highest && r.has(r.next) {
		r.seen[r.next%windowSegments/64] &^= 1 << (r.next % 64)
		r.next++
	}
	r.latest = now
	r.owed++
	if urgent || gap || r.next < r.highest || r.owed >= ackEvery {
		r.now = true
	} else if r.due == 0 {
		r.due = now + r.delay
	}
	return true, nil
}

func (r *receiver) has(number uint64) bool {
	return r.seen[number%windowSegments/64]&(1<<(number%64)) != 0
}

// acknowledge returns the acknowledgement that is to go out now, its bits appended to b.
func (r *receiver) acknowledge(b []byte, now instant) acknowledgement {
	// The sender may have looked at the clock just before the latest came.
	a := acknowledgement{next: r.next, delay: max(0, min(now-r.latest, time.Minute))}
	for number := r.next + 1; number < r.highest; number++ {
		at := int(number - r.next - 1)
		if at%8 == 0 {
			b = append(b, 0)
		}
		if r.has(number) {
			b[len(b)-1] |= 1 << (at % 8)
		}
	}
	a.bits = b
	r.owed, r.now, r.due = 0, false, 0
	return a
}

type arrival struct {
	number uint64
	kind   kind
	body   []byte
}

// order hands over the frames of arrivals. The layer fifo takes one segment after the other;
// reliable waits for those before only if a frame comes in parts.
type order struct {
	fifo    bool
	due     uint64             // all segments below have been dealt with
	early   map[uint64]arrival // arrivals above a gap; the window bounds their number
	partial []byte             // of a frame that comes in parts; its announced length bounds it
}

func newOrder(l Layer) order { return order{fifo: l == FIFO, early: make(map[uint64]arrival)} }

// arrive takes a segment that has arrived for the first time, whose body is valid during
// the call, and delivers the frames that are due.
func (o *order) arrive(a arrival, deliver func(peers.Frame)) (err error) {
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

func (o *order) next(a arrival, deliver func(peers.Frame)) error {
	if a.kind != part {
		return eachFrame(a.body, deliver)
	}
	o.partial = append(o.partial, a.body...)
	var f peers.Frame
	size, err := peers.DecodeFrame(o.partial, &f)
	if size == 0 && err == nil {
		return nil // the rest is to come
	}
	complete := size == len(o.partial)
	o.partial = nil
	if !complete {
		return errRefused
	}
	deliver(f)
	return nil
}

func eachFrame(b []byte, f func(peers.Frame)) error {
	var x peers.Frame
	for len(b) > 0 {
		size, err := peers.DecodeFrame(b, &x)
		if size == 0 || err != nil {
			return errRefused
		}
		b = b[size:]
		f(x)
	}
	return nil
}
