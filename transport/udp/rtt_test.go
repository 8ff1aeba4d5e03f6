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

func TestWindow(t *testing.T) {
	w := newWindow(1000)
	if w.size != firstWindow {
		t.Fatal(w.size)
	}
	w.acknowledged(5000) // slow start
	if w.size != firstWindow+5000 {
		t.Errorf("%d after an acknowledgement", w.size)
	}
	before := w.size
	w.lost(10, 20)
	w.lost(15, 30) // was under way when the first was noticed
	if w.size != before/2 {
		t.Errorf("%d after a loss, %d before it", w.size, before)
	}
	before = w.size
	w.acknowledged(before) // a full window: one segment more
	if w.size != before+1000 {
		t.Errorf("%d after a round, %d before it", w.size, before)
	}
	w.timedOut(40)
	if w.size != 2000 || w.threshold != (before+1000)/2 {
		t.Errorf("%+v after a timeout", w)
	}
	for range 10_000 {
		w.acknowledged(100_000)
	}
	if w.size != maxWindow {
		t.Errorf("%d, the bound is %d", w.size, maxWindow)
	}
}
