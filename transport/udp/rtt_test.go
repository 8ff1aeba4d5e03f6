package udp

import (
	"testing"
	"time"
)

// RFC 6298, section 2.
func TestRTT(t *testing.T) {
	const ms = time.Millisecond
	e := rtt{ackDelay: 20 * ms}
	// (2.1) Until a measurement has been made, the timeout is a constant.
	if e.timeout() != firstTimeout {
		t.Errorf("%v before a sample", e.timeout())
	}
	// (2.2) "SRTT <- R, RTTVAR <- R/2, RTO <- SRTT + max (G, K*RTTVAR)"
	e.sample(40 * ms)
	if e.smoothed != 40*ms || e.variation != 20*ms || e.timeout() != 40*ms+4*20*ms+20*ms {
		t.Errorf("%+v, %v after one sample", e, e.timeout())
	}
	// (2.3) "RTTVAR <- (1 - beta) * RTTVAR + beta * |SRTT - R'|",
	// "SRTT <- (1 - alpha) * SRTT + alpha * R'", alpha=1/8, beta=1/4
	e.sample(80 * ms)
	if e.variation != 25*ms || e.smoothed != 45*ms {
		t.Errorf("%+v after two samples", e)
	}
	// (5.5) "RTO <- RTO * 2", up to a bound.
	before := e.timeout()
	e.backOff()
	if e.timeout() != 2*before {
		t.Errorf("%v after %v", e.timeout(), before)
	}
	for range 100 {
		e.backOff()
	}
	if e.timeout() != maxTimeout {
		t.Errorf("%v after many timeouts", e.timeout())
	}
	// Karn: the backoff lasts until there is a sample.
	for range 100 {
		e.sample(100 * time.Microsecond)
	}
	if got := e.timeout(); got < 20*ms || got > 40*ms {
		t.Errorf("%v on a fast link, whose receiver may wait for 20ms", got)
	}
}
