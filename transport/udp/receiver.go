package udp

import (
	"errors"
	"time"
)

// ackEvery is how many segments are acknowledged together at most.
const ackEvery = 128

var errBeyond = errors.New("udp: segment beyond the window")

// receiver is one direction of a link as its receiver sees it: which segments
// have arrived, and whether it owes an acknowledgement. It does nothing by
// itself and reads no clock.
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

// note takes note of a segment, and reports whether it is new.
func (r *receiver) note(number uint64, urgent bool, now instant) (fresh bool, err error) {
	switch {
	case number >= r.next+windowSegments:
		return false, errBeyond
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

// acknowledge returns the acknowledgement that is to go out at the time now,
// with its bits appended to b.
func (r *receiver) acknowledge(b []byte, now instant) acknowledgement {
	// Who sends may have looked at the clock just before the latest came.
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
