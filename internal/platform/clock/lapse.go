package clock

import (
	"context"
	"sync"
	"time"
)

// Notable is how late a process must come to run before it is a lapse: less is usual on a
// machine with too little to run on.
const Notable = time.Second

// Lapse is a time in which a process did not run: because it or its machine was stopped, or
// because others took all of its cores. Its work was done late.
type Lapse struct {
	Until int64         `json:"until"`  // when it ran again, ns on the host's clock
	For   time.Duration `json:"for_ns"` // how long it did not, to within the interval of the looks
}

// Lapses finds those of this process, by a clock that has gone on further than it should have.
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

func (l *Lapses) Close() {
	l.end()
	l.ended.Wait()
}
