package udp

import (
	"math/bits"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/transport/peers"
)

const (
	// accountedSegment is what a segment counts for beside its body: about its memory.
	accountedSegment = 128

	keptSegments = 2 * ackEvery // for reuse, by link
	keptBody     = 2 << 10      // bytes; larger bodies are not kept

	// windowSegments is how many segments a sender may be ahead of the oldest that is not
	// acknowledged. A multiple of 64.
	windowSegments = 512

	// windowBytes bounds what is in flight on a link. Thirty processes that all send
	// to one as fast as they can do not overflow its buffer of 4 MB; of more, some is
	// sent again.
	windowBytes = 128 << 10
)

// sender is one direction of a link as its sender sees it: the segments that are not
// acknowledged, oldest first. It reads no clock.
type sender struct {
	body    int // bytes of the largest body
	backlog int // bound on the bytes queued
	window  int // bound on the bytes in flight

	queue  []*outgoing // queue[head:] are there
	head   int
	fresh  int    // index of the first that has never been sent
	base   uint64 // number of queue[head]
	lost   int    // segments that are to be sent again
	queued int    // bytes, with what a segment is accounted for
	most   int    // bytes that were ever queued
	flying int    // bytes sent, and neither acknowledged nor taken for lost

	arrived instant // when the latest was sent that is known to have arrived
	rescue  bool    // after a timeout: nothing was acknowledged since
	rtt     rtt
	timeout instant // when the oldest is sent again; 0 while nothing is under way

	sent  uint64 // transmissions
	again uint64 // of these, segments that were sent again
	free  []*outgoing
}

type outgoing struct {
	number uint64
	kind   kind
	body   []byte
	state  state
	tries  int
	at     instant // of the latest transmission
}

type state uint8

const (
	waiting state = iota // has never been sent
	flying
	lost
	acknowledged
)

func (o *outgoing) bytes() int { return len(o.body) + accountedSegment }

func newSender(body int, l *limits) sender {
	window := max(windowBytes, 4*(body+accountedSegment))
	return sender{body: body, backlog: l.backlog, window: window, rtt: rtt{ackDelay: l.ackDelay}}
}

func (s *sender) empty() bool { return s.head == len(s.queue) }

func (s *sender) underWay() bool { return s.fresh > s.head }

func (s *sender) unsent() bool { return s.lost > 0 || s.fresh < len(s.queue) }

// push queues a frame, in the last segment if that is there and has room. It reports false if too
// much is queued.
func (s *sender) push(from, to dme.NodeID, body []byte) bool {
	size := peers.MaxHeader + len(body)
	if s.queued+size+(size/s.body+1)*accountedSegment > s.backlog {
		return false
	}
	if size > s.body {
		for piece := range slices.Chunk(peers.AppendFrame(make([]byte, 0, size), from, to, body), s.body) {
			s.add(part).body = piece
			s.account(len(piece))
		}
		return true
	}
	var last *outgoing
	if len(s.queue) > s.fresh {
		last = s.queue[len(s.queue)-1]
	}
	if last == nil || last.kind != whole || len(last.body)+size > s.body {
		last = s.add(whole)
	}
	before := len(last.body)
	last.body = peers.AppendFrame(last.body, from, to, body)
	s.account(len(last.body) - before)
	return true
}

// share queues a body that other links have too. The result is nil if too much is queued.
func (s *sender) share(body []byte) *outgoing {
	if s.queued+len(body)+accountedSegment > s.backlog {
		return nil
	}
	o := s.add(shared)
	o.body = body
	s.account(len(body))
	return o
}

func (s *sender) add(k kind) *outgoing {
	var o *outgoing
	if last := len(s.free) - 1; last >= 0 {
		o, s.free = s.free[last], s.free[:last]
	} else {
		o = new(outgoing)
	}
	*o = outgoing{number: s.base + uint64(len(s.queue)-s.head), kind: k, body: o.body[:0]}
	s.queue = append(s.queue, o)
	s.account(accountedSegment)
	return o
}

func (s *sender) account(bytes int) {
	s.queued += bytes
	s.most = max(s.most, s.queued)
}

// next returns the segment that may be sent now, if any.
func (s *sender) next() *outgoing {
	var o *outgoing
	switch {
	case s.lost > 0:
		for i := s.head; o == nil; i++ {
			if s.queue[i].state == lost {
				o = s.queue[i]
			}
		}
	case s.fresh < len(s.queue):
		o = s.queue[s.fresh]
	default:
		return nil
	}
	if s.flying > 0 && (s.rescue || s.flying+o.bytes() > s.window) || o.number >= s.base+windowSegments {
		return nil
	}
	return o
}

// transmitted notes that o, which next has returned, is sent. It reports whether the receiver
// should acknowledge at once: if the sender would otherwise wait for that.
func (s *sender) transmitted(o *outgoing, now instant) (urgent bool) {
	if o.state == lost {
		s.lost--
		s.again++
	} else {
		s.fresh++
	}
	s.sent++
	o.state, o.at = flying, now
	o.tries++
	s.flying += o.bytes()
	if s.timeout == 0 {
		s.timeout = now + s.rtt.timeout()
	}
	return o.tries > 1 || len(o.body) == 0 || 2*s.flying > s.window || 2*(o.number-s.base) > windowSegments
}

// acknowledge takes an acknowledgement. One of what was not sent changes nothing.
func (s *sender) acknowledge(a *acknowledgement, now instant) error {
	end := s.base + uint64(s.fresh-s.head) // numbers below were sent
	if a.next > end || a.end() > end {
		return errRefused
	}
	var newest instant // transmission of those that were sent only once: by Karn's rule
	progress := false
	settle := func(o *outgoing) {
		switch o.state {
		case flying:
			s.flying -= o.bytes()
		case lost:
			s.lost--
		default:
			return
		}
		o.state = acknowledged
		progress = true
		if o.tries == 1 {
			newest = max(newest, o.at)
		}
	}
	for i := s.head; i < s.fresh && s.queue[i].number < a.next; i++ {
		settle(s.queue[i])
	}
	for i, b := range a.bits {
		for ; b != 0; b &= b - 1 {
			number := a.next + 1 + uint64(8*i+bits.TrailingZeros8(b))
			if number >= s.base {
				settle(s.queue[s.head+int(number-s.base)])
			}
		}
	}
	if newest > 0 {
		s.rtt.sample(now - newest - a.delay)
		s.arrived = max(s.arrived, newest)
	}
	if progress {
		s.rescue = false
		s.timeout = now + s.rtt.timeout()
	}
	s.takeForLost(now)
	s.pop()
	if !s.underWay() {
		s.timeout = 0
	}
	return nil
}

// end is the number from which on nothing is acknowledged.
func (a *acknowledgement) end() uint64 {
	for i := len(a.bits) - 1; i >= 0; i-- {
		if b := a.bits[i]; b != 0 {
			return a.next + 1 + uint64(8*i+bits.Len8(b))
		}
	}
	return a.next
}

// takeForLost finds the segments that have been overtaken by some that were sent
// later, and whose own acknowledgement is late (as RFC 8985 does): overtaking alone
// proves nothing on a network that reorders much.
func (s *sender) takeForLost(now instant) {
	before := min(s.arrived, now-s.rtt.smoothed-4*s.rtt.variation)
	for _, o := range s.queue[s.head:s.fresh] {
		switch {
		case o.at < before:
			if o.state == flying {
				s.lose(o)
			}
		case o.tries == 1:
			return // so are all behind it
		}
	}
}

func (s *sender) lose(o *outgoing) {
	o.state = lost
	s.lost++
	s.flying -= o.bytes()
}

func (s *sender) pop() {
	for s.head < s.fresh && s.queue[s.head].state == acknowledged {
		o := s.queue[s.head]
		s.queue[s.head] = nil
		s.head++
		s.base++
		s.queued -= o.bytes()
		if len(s.free) < keptSegments {
			if o.kind != whole || cap(o.body) > keptBody {
				o.body = nil // of a frame, of other links, or too large
			}
			s.free = append(s.free, o)
		}
	}
	if s.head == len(s.queue) {
		s.queue, s.head, s.fresh = s.queue[:0], 0, 0
	} else if s.head > 256 && 2*s.head > len(s.queue) {
		s.fresh -= s.head
		n := copy(s.queue, s.queue[s.head:])
		clear(s.queue[n:])
		s.queue, s.head = s.queue[:n], 0
	}
}

// expire takes what is under way for lost, since the timeout is over; but only one segment
// is sent again before something is acknowledged, which says what has really been lost.
func (s *sender) expire(now instant) {
	s.loseAll()
	s.rescue = true
	s.rtt.backOff()
	s.timeout = now + s.rtt.timeout()
}

func (s *sender) loseAll() {
	for _, o := range s.queue[s.head:s.fresh] {
		if o.state == flying {
			s.lose(o)
		}
	}
}

// restart sends again what is under way: the other side has not been there before.
func (s *sender) restart() {
	s.loseAll()
	s.rescue, s.rtt.backoff = false, 0
}

func (s *sender) drop() {
	s.queue, s.free = nil, nil
	s.base += uint64(s.fresh - s.head)
	s.head, s.fresh, s.lost, s.queued, s.flying, s.timeout = 0, 0, 0, 0, 0, 0
}

// instant is a time since the transport was opened; 0 is no time.
type instant = time.Duration

// Bounds on the retransmission timeout. RFC 6298 (2.4) would have a floor of
// one second, which is made for the Internet; here it is half more than the time
// for which a receiver may hold an acknowledgement back.
const (
	firstTimeout = 100 * time.Millisecond // before there is a sample
	maxTimeout   = time.Second
	granularity  = time.Millisecond // G: of the timer
)

// rtt estimates a link's round trip and says how long to wait for an acknowledgement, by
// RFC 6298: (2.2), (2.3), and (5.5) for the backoff. By Karn's rule, its caller gives no
// samples of what was sent twice, and the backoff stays until there is a sample again.
type rtt struct {
	ackDelay            time.Duration // for which a receiver may hold an acknowledgement back
	smoothed, variation time.Duration
	backoff             uint
}

// sample takes a round trip, less what the receiver waited.
func (e *rtt) sample(r time.Duration) {
	r = max(r, time.Microsecond)
	if e.smoothed == 0 {
		e.smoothed, e.variation = r, r/2
	} else {
		e.variation += ((e.smoothed - r).Abs() - e.variation) / 4
		e.smoothed += (r - e.smoothed) / 8
	}
	e.backoff = 0
}

func (e *rtt) timeout() time.Duration {
	t := firstTimeout
	if e.smoothed > 0 {
		t = max(e.ackDelay*3/2, e.smoothed+max(granularity, 4*e.variation)+e.ackDelay)
	}
	return min(t<<e.backoff, maxTimeout)
}

func (e *rtt) backOff() {
	if e.timeout() < maxTimeout {
		e.backoff++
	}
}
