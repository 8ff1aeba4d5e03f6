//go:build !linux

package alarm

import (
	"sync"
	"time"

	"dmebench/internal/clock"
)

// timer is Go's own: correct everywhere, but only as precise as the system is.
type timer struct {
	clock *clock.Clock
	timer *time.Timer
	done  chan struct{}
	once  sync.Once
}

func newTimer() (*timer, error) {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &timer{clock: clock.New(), timer: t, done: make(chan struct{})}, nil
}

func (t *timer) set(at int64) { t.timer.Reset(time.Duration(at - t.clock.Now())) }

func (t *timer) wait() bool {
	select {
	case <-t.timer.C:
		return true
	case <-t.done:
		return false
	}
}

func (t *timer) close() { t.once.Do(func() { close(t.done) }) }
