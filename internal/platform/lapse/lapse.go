// Package lapse notices when a process did not run: because it was stopped by a
// signal, because its machine was, or because others took all of its cores.
//
// A process that did not run has not measured anything meanwhile, and what it
// should have done at its time was done late. Nothing tells it so; it finds out
// by a clock that has gone on further than it should have.
package lapse

import (
	"sync"
	"time"
)

// Notable is how late a process must come to run before it is a lapse. Below it
// lies what a machine with too little to run on does all the time.
const Notable = time.Second

// Lapse is a time in which a process did not run, to within the interval at which
// it was looked for.
type Lapse struct {
	Until int64         `json:"until"`  // when it ran again, ns on the host's clock
	For   time.Duration `json:"for_ns"` // how long it did not, at least
}

// Clock tells the host's time in nanoseconds.
type Clock interface{ Now() int64 }

// Watch looks for lapses of its process.
type Watch struct {
	clock Clock
	stop  chan struct{}
	done  chan struct{}
	close func()

	mu    sync.Mutex
	found []Lapse
}

// most is how many lapses are kept.
const most = 64

// Start looks at the clock at every interval until Close.
func Start(c Clock, interval time.Duration) *Watch {
	w := &Watch{clock: c, stop: make(chan struct{}), done: make(chan struct{})}
	w.close = sync.OnceFunc(func() {
		close(w.stop)
		<-w.done
	})
	go w.run(interval)
	return w
}

func (w *Watch) run(interval time.Duration) {
	defer close(w.done)
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	last := w.clock.Now()
	for {
		select {
		case <-ticks.C:
			now := w.clock.Now()
			w.note(now, time.Duration(now-last)-interval)
			last = now
		case <-w.stop:
			return
		}
	}
}

func (w *Watch) note(now int64, late time.Duration) {
	if late < Notable {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.found) < most {
		w.found = append(w.found, Lapse{Until: now, For: late})
	}
}

// Since returns the lapses that ended after the time at.
func (w *Watch) Since(at int64) []Lapse {
	w.mu.Lock()
	defer w.mu.Unlock()
	var since []Lapse
	for _, l := range w.found {
		if l.Until > at {
			since = append(since, l)
		}
	}
	return since
}

// Close ends the watch.
func (w *Watch) Close() { w.close() }
