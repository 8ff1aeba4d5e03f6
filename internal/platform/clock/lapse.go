package clock

import (
	"context"
	"sync"
	"time"
)

// Notable is how late a process must come to run before it is a lapse. Below it
// lies what a machine with too little to run on does all the time.
const Notable = time.Second

// Lapse is a time in which a process did not run: because it was stopped by a signal,
// because its machine was, or because others took all of its cores. It has not measured
// anything meanwhile, and what it should have done was done late.
type Lapse struct {
	Until int64         `json:"until"`  // when it ran again, ns on the host's clock
	For   time.Duration `json:"for_ns"` // how long it did not, to within the interval of the looks
}

// Lapses finds those of this process. Nothing tells it of them; it sees a clock that has
// gone on further than it should have.
type Lapses struct {
	end   context.CancelFunc
	ended sync.WaitGroup

	mu    sync.Mutex
	found []Lapse
}

// WatchLapses looks at the clock at every interval until Close.
func WatchLapses(now func() int64, interval time.Duration) *Lapses {
	ctx, end := context.WithCancel(context.Background())
	l := &Lapses{end: end}
	l.ended.Go(func() {
		ticks := time.NewTicker(interval)
		defer ticks.Stop()
		for last := now(); ; {
			select {
			case <-ticks.C:
			case <-ctx.Done():
				return
			}
			at := now()
			if late := time.Duration(at-last) - interval; late >= Notable {
				l.mu.Lock()
				l.found = append(l.found, Lapse{Until: at, For: late})
				l.mu.Unlock()
			}
			last = at
		}
	})
	return l
}

// Since returns the lapses that ended after the time at.
func (l *Lapses) Since(at int64) []Lapse {
	l.mu.Lock()
	defer l.mu.Unlock()
	var since []Lapse
	for _, x := range l.found {
		if x.Until > at {
			since = append(since, x)
		}
	}
	return since
}

// Close ends the looks.
func (l *Lapses) Close() {
	l.end()
	l.ended.Wait()
}
