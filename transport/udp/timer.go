package udp

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"dmebench/internal/platform/rawio"
	"dmebench/transport"
)

type wake struct {
	at    atomic.Int64 // an instant; never while it is not set
	mu    sync.Mutex
	timer *rawio.Timer // nil before it is opened, and after it is closed
}

const (
	never = math.MaxInt64

	// pause is the least time between two services of the timer.
	pause = time.Millisecond

	// early is how long before its time a segment that arrives serves the timer: while
	// segments arrive, the timer never wakes up the process.
	early = 5 * time.Millisecond

	// asleep is how late the timer is when this process has not been running itself.
	asleep = 100 * time.Millisecond
)

func (w *wake) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Close()
		w.timer = nil
	}
}

// by has the timer served at the instant at, not much later.
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

func (t *reliable) watch(timer *rawio.Timer) {
	for timer.Wait() {
		t.serving.Lock()
		t.serve(t.clock())
		t.serving.Unlock()
		t.below.Flush()
	}
}

// serveEarly does what is due, or about to be, unless another goroutine is at it already.
func (t *reliable) serveEarly(now instant) {
	if int64(now+early) >= t.wake.at.Load() && t.serving.TryLock() {
		t.serve(now)
		t.serving.Unlock()
	}
}

// serve does what is due. It visits all links each time: those are a thousand at
// most, and the times far apart. It is called with serving held.
func (t *reliable) serve(now instant) {
	due := instant(t.wake.at.Swap(never))
	if due != never && now-due > asleep {
		t.awake = now
	}
	t.Mu.Lock()
	met := t.met
	t.Mu.Unlock()
	next := instant(never)
	for _, l := range met {
		next = min(next, l.serve(now, t.awake))
	}
	t.wake.by(next, now)
}

// serve does what is due for a link, and returns when something will be next.
func (l *association) serve(now, awake instant) (next instant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.in.due > 0 && l.in.due <= now+early && l.fate != down {
		l.writeAck(now)
	}
	switch {
	case l.fate != alive, l.out.timeout == 0 || now < l.out.timeout:
	case l.dead(now, awake), l.parting && l.heard == 0 && l.out.rtt.backoff >= lastTries:
		l.lose(l.silent(now))
	default:
		l.out.expire(now)
		l.transmit(now)
	}
	l.noteParted()
	next = never
	if l.asked == 0 && l.fate == alive && l.heard != 0 && l.out.empty() && l.process != l.t.Top().Self {
		if next = l.heard + l.idle(); next <= now {
			l.ask(now) // sets a timeout
			next = never
		}
	}
	for _, at := range []instant{l.in.due, l.out.timeout} {
		if at > 0 {
			next = min(next, at)
		}
	}
	return next
}

// lastTries is how often the close is announced to a process that has never answered.
const lastTries = 3

// idle is for how long nothing may have come before the other side is asked whether
// it is there. All processes of a run together ask a thousand times a second at most.
func (l *association) idle() time.Duration {
	processes := time.Duration(l.t.Top().Len())
	d := max(l.t.limits.idle, processes*processes*time.Millisecond)
	return d + d*time.Duration(l.process.Index)/processes
}

// A peer that should answer and does not is suspected by what was tried, not by the clock alone. It
// is dead once
//
//   - for the time limits.silence, and for as long as the conditions of the link may delay a frame
//     and its answer, nothing has come from it, and
//   - limits.tries attempts to reach it, and one more for each processesPerTry processes of the
//     run, have had the time of a timeout to be answered, and
//   - if the link loses frames on purpose, so many attempts that the chance that all of them were
//     lost is below limits.falsely.
//
// While a partition separates the two, nothing counts. An attempt does not count whose timeout this
// process saw too late: if it got no processor, neither may its peers have got one. A run of many
// processes begins with all of them in need of one at once.
const processesPerTry = 32

// dead counts an attempt whose timeout is over, and reports whether the other side is to be
// given up. It is called with mu held.
func (l *association) dead(now, awake instant) bool {
	x := l.t.impairment(l)
	if x.Loss >= 1 {
		l.tries = 0
		if l.asked > 0 {
			l.asked = now
		}
		return false
	}
	if now-l.out.timeout <= asleep {
		l.tries++
	}
	silence := l.t.limits.silence + l.t.config.Patience + x.Delay
	return l.asked > 0 && now >= max(l.asked, awake)+silence && l.tries >= l.t.enough(x.Loss)
}

func (l *association) silent(now instant) error {
	conditions := ""
	if l.t.impairment(l) != (transport.Impairment{}) {
		conditions = ", more than what is done to the link can explain"
	}
	return fmt.Errorf("udp: %v: silent for %v through %d attempts to reach it%s; did its worker end?",
		l.process, (now - l.asked).Round(100*time.Millisecond), l.tries, conditions)
}

// enough returns after how many attempts a peer is dead, if that part of them is lost.
func (t *reliable) enough(loss float64) int {
	n := t.limits.tries + t.Top().Len()/processesPerTry
	if loss > 0 {
		n = max(n, int(math.Ceil(math.Log(t.limits.falsely)/math.Log(loss))))
	}
	return n
}

func (t *reliable) impairment(l *association) transport.Impairment {
	if x, ok := t.below.(transport.Impaired); ok {
		return x.Impairment(t.Top().Self.Node(), l.process.Node())
	}
	return transport.Impairment{}
}
