package udp

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"dmebench/internal/rawio"
)

// wake is the one timer of a process.
type wake struct {
	at    atomic.Int64 // an instant; never while it is not set
	mu    sync.Mutex
	timer *rawio.Timer // nil before it is opened, and after it is closed
}

const (
	never = math.MaxInt64

	// pause is the least time between two services of the timer.
	pause = time.Millisecond

	// early is how long before its time a segment that arrives serves the timer:
	// while segments arrive, their reader does what is due, and the timer never
	// wakes up the process in the middle of something.
	early = 5 * time.Millisecond

	// asleep is how late the timer is when this process has not been running
	// itself: what its peers have sent meanwhile may lie unread.
	asleep = 100 * time.Millisecond
)

func (w *wake) open() error {
	t, err := rawio.NewTimer()
	if err != nil {
		return fmt.Errorf("udp: cannot make a timer: %w", err)
	}
	w.at.Store(never)
	w.timer = t
	return nil
}

func (w *wake) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Close()
		w.timer = nil
	}
}

// by sees to it that the timer is served at the instant at, not much later.
func (w *wake) by(at, now instant) {
	if at == 0 || int64(at) >= w.at.Load() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil && int64(at) < w.at.Load() {
		w.at.Store(int64(at))
		w.timer.Set(max(at-now, pause))
	}
}

// watch is the goroutine of the timer.
func (t *reliable) watch(timer *rawio.Timer) {
	for timer.Wait() {
		t.serving.Lock()
		t.serve(t.clock())
		t.serving.Unlock()
		t.below.Flush()
	}
}

// serveEarly does what is due, or about to be, unless somebody does that
// already.
func (t *reliable) serveEarly(now instant) {
	if int64(now+early) >= t.wake.at.Load() && t.serving.TryLock() {
		t.serve(now)
		t.serving.Unlock()
	}
}

// serve does what is due. It visits all peers each time: those are a thousand at
// most, and the times far apart. It is called with serving held.
func (t *reliable) serve(now instant) {
	due := instant(t.wake.at.Swap(never))
	t.mu.Lock()
	met := t.met
	t.mu.Unlock()
	next := instant(never)
	for _, p := range met {
		if due != never && now-due > asleep {
			p.pardon(now)
		}
		if at := p.serve(now); at > 0 {
			next = min(next, at)
		}
	}
	if at := t.prober.serve(met, now); at > 0 {
		next = min(next, at)
	}
	t.wake.by(next, now)
}

// serve does what is due for a peer, and returns when something will be next; 0
// for never.
func (p *peer) serve(now instant) (next instant) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.in.due > 0 && p.in.due <= now+early && p.epoch != 0 && p.fate != down {
		p.writeAck(ack, now)
	}
	if p.fate == alive {
		if err := p.silent(now); err != nil {
			p.lose(err)
		}
	}
	if p.fate == alive {
		if g := &p.greetings; g.next > 0 && g.next <= now {
			if p.parting && g.tries >= lastGreetings {
				p.lose(errUnknown)
			} else {
				p.greet(now)
			}
		}
		if p.out.timeout > 0 && p.out.timeout <= now {
			p.out.expire(now)
			p.transmit(now)
		}
	}
	p.settle()
	for _, at := range []instant{p.in.due, p.out.timeout, p.greetings.next, p.patience()} {
		if at > 0 && (next == 0 || at < next) {
			next = at
		}
	}
	return next
}

// pardon begins to count the peer's silence anew.
func (p *peer) pardon(now instant) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked > 0 {
		p.asked = now
	}
	if p.closed > 0 {
		p.closed = now
	}
}

// patience is when the peer will be taken for dead if it stays silent; 0 where
// nobody waits for an answer. It is called with mu held.
func (p *peer) patience() (at instant) {
	if p.fate != alive {
		return 0
	}
	if p.asked > 0 {
		at = p.asked + p.t.limits.silence
	}
	if p.closed > 0 {
		if soon := p.closed + p.t.limits.refusal; at == 0 || soon < at {
			at = soon
		}
	}
	return at
}

// silent reports the death of a peer that patience has ended with. It is called
// with mu held.
func (p *peer) silent(now instant) error {
	switch at := p.patience(); {
	case at == 0 || now < at:
		return nil
	case p.closed > 0:
		return fmt.Errorf("%w; did its worker end?", p.cause)
	case p.epoch == 0:
		return fmt.Errorf("udp: %v: no answer to a greeting for %v; is its worker running?", p.process, p.t.limits.silence)
	default:
		return fmt.Errorf("udp: %v: silent for %v while it should acknowledge; did its worker end?", p.process, p.t.limits.silence)
	}
}

// saidClosed notes that the network has said that nobody listens at the peer's
// port. If nothing is heard of the peer soon, that is true: it is asked once more.
func (p *peer) saidClosed(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fate != alive || p.closed > 0 {
		return
	}
	now := p.t.clock()
	p.closed, p.cause = now, err
	if p.t.closing.Load() {
		p.lose(err)
		p.settle()
		return
	}
	if p.epoch != 0 {
		p.writeAck(probe, now)
		p.t.below.Flush()
	}
	p.t.wake.by(p.patience(), now)
}

// prober asks peers that have been silent for long whether they are still
// there, one after the other.
type prober struct {
	next instant
	turn int
}

const (
	fullTurn    = 5 * time.Second  // in which all peers are probed, where they are not too many
	perPeer     = time.Millisecond // so that all processes together send a thousand probes a second
	longestTurn = time.Second      // between two probes
)

// serve sends a probe if one is due, and returns when the next will be.
func (r *prober) serve(met []*peer, now instant) instant {
	if len(met) == 0 {
		return 0
	}
	if now < r.next {
		return r.next
	}
	n := time.Duration(len(met))
	r.next = now + min(max(fullTurn/n, perPeer*n), longestTurn)
	for range met {
		p := met[r.turn%len(met)]
		r.turn++
		if p.probe(now) {
			break
		}
	}
	return r.next
}

// probe asks a peer that has been silent, and reports whether it did.
func (p *peer) probe(now instant) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fate != alive || p.epoch == 0 || p.process == p.t.top.self || now-p.heard < p.t.limits.idle || p.out.underWay() {
		return false
	}
	if p.asked == 0 {
		p.asked = now
	}
	p.writeAck(probe, now)
	return true
}
