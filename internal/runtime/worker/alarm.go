package worker

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"dmebench/dme"
	"dmebench/internal/platform/clock"
	"dmebench/internal/platform/rawio"
)

type due uint8

// At one instant events fire in this order.
const (
	startDue due = iota
	timeoutDue
	exitDue
	arrivalDue
	pingDue
)

type event struct {
	at    int64 // ns on the host's clock
	due   due
	node  dme.NodeID
	timer dme.TimerID
	set   uint64 // number of the timer's setting
}

// margin is how long before an arrival the alarm wakes up, to be there in time:
// about what the kernel takes to wake a sleeping thread on another core.
const margin = 60 * time.Microsecond

// alarm fires events at their times, to within some tens of microseconds on an idle
// machine: arrivals of requests, ends of critical sections, timers of algorithms. One
// goroutine serves all of a process.
type alarm struct {
	clock *clock.Clock
	fire  func(event)
	timer *rawio.Timer
	done  chan struct{}

	mu     sync.Mutex
	events events
	next   int64 // when the timer will fire; 0 while it is not set
	closed bool

	// spinning is bounded to a share of the time, so that many workers on few
	// cores do not spin in each other's way.
	spinShare float64
	spun      int64
	started   int64
}

// newAlarm starts an alarm. fire is called for one event at a time, at its time or
// later. spinShare is the part of the time, from 0 to 1, that it may spend
// spinning so that arrivals are punctual.
func newAlarm(c *clock.Clock, spinShare float64, fire func(event)) (*alarm, error) {
	t, err := rawio.NewTimer()
	if err != nil {
		return nil, fmt.Errorf("alarm: cannot make a timer: %w", err)
	}
	a := &alarm{clock: c, fire: fire, timer: t, done: make(chan struct{}), spinShare: spinShare, started: c.Now()}
	go a.run()
	return a, nil
}

// add arranges an event. It may be called from fire.
func (a *alarm) add(e event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.events.push(e)
	a.arm()
}

// arm sets the timer for the earliest event, unless it fires before that anyway.
func (a *alarm) arm() {
	if len(a.events) == 0 {
		return
	}
	at := a.events.first().at
	if a.events.first().due == arrivalDue && a.spinShare > 0 {
		at -= int64(margin)
	}
	if a.next == 0 || at < a.next {
		a.next = max(at, 1)
		a.set(at)
	}
}

// set makes the timer fire at a time of the alarm's clock.
func (a *alarm) set(at int64) { a.timer.Set(time.Duration(at - a.clock.Now())) }

// close stops the alarm. Events that have not fired never will; after it
// returns, fire is not running.
func (a *alarm) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.timer.Close()
	<-a.done
}

func (a *alarm) run() {
	defer close(a.done)
	for a.timer.Wait() {
		a.mu.Lock()
		a.next = 0
		a.serve()
		a.arm()
		a.mu.Unlock()
	}
}

// serve fires what is due, and spins for an arrival that is about to be.
func (a *alarm) serve() {
	for len(a.events) > 0 && !a.closed {
		now, e := a.clock.Now(), *a.events.first()
		if wait := e.at - now; wait > 0 {
			if e.due != arrivalDue || wait > int64(margin) || !a.maySpin(now, wait) {
				if e.due == arrivalDue {
					// Too early, and spinning is not allowed: sleep all the way.
					a.next = e.at
					a.set(a.next)
				}
				return
			}
			a.mu.Unlock()
			for a.clock.Now() < now+wait {
			}
			a.mu.Lock()
			continue // an earlier event may have come meanwhile
		}
		a.events.pop()
		a.mu.Unlock()
		a.fire(e)
		a.mu.Lock()
	}
}

// maySpin takes wait out of the allowance, if there is enough of it.
func (a *alarm) maySpin(now, wait int64) bool {
	if float64(a.spun+wait) > a.spinShare*float64(now-a.started)+float64(margin) {
		return false
	}
	a.spun += wait
	return true
}

// events are sorted, the earliest last: there are few, and most are due soon.
type events []event

func (e *events) push(x event) {
	k, _ := slices.BinarySearchFunc(*e, x, func(a, b event) int { return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.due, a.due)) })
	*e = slices.Insert(*e, k, x)
}

// first returns the earliest event. There must be one.
func (e events) first() *event { return &e[len(e)-1] }

func (e *events) pop() event {
	x := *e.first()
	*e = (*e)[:len(*e)-1]
	return x
}
