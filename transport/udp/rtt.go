package udp

import "time"

// instant is a time on a process's own monotonic clock, since the transport
// was opened; 0 is no time.
type instant = time.Duration

// Bounds on the retransmission timeout. RFC 6298 (2.4) would have a floor of
// one second, which is made for the Internet; here it is half more than the time
// for which a receiver may hold an acknowledgement back.
const (
	firstTimeout = 100 * time.Millisecond // before there is a sample
	maxTimeout   = time.Second
	granularity  = time.Millisecond // G: of the timer
)

// rtt estimates a link's round trip and says how long to wait for an
// acknowledgement, as RFC 6298 does: (2.2), (2.3), and (5.5) for the backoff.
// By Karn's rule, its caller gives no samples of what was sent twice, and the
// backoff stays until there is a sample again.
type rtt struct {
	ackDelay            time.Duration // for which a receiver may hold an acknowledgement back
	smoothed, variation time.Duration
	backoff             uint
}

// sample takes a measured round trip, less what the receiver waited.
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

// timeout is the retransmission timeout.
func (e *rtt) timeout() time.Duration {
	t := firstTimeout
	if e.smoothed > 0 {
		t = max(e.ackDelay*3/2, e.smoothed+max(granularity, 4*e.variation)+e.ackDelay)
	}
	return min(t<<e.backoff, maxTimeout)
}

// backOff doubles the timeout after it has run out.
func (e *rtt) backOff() {
	if e.timeout() < maxTimeout {
		e.backoff++
	}
}
