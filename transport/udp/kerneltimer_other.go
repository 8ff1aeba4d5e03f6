//go:build !linux

package udp

import (
	"sync"
	"time"
)

// timer is Go's own: correct everywhere, but only as precise as the system is.
type timer struct {
	timer *time.Timer
	done  chan struct{}
	once  sync.Once
}

func newTimer() (*timer, error) {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &timer{timer: t, done: make(chan struct{})}, nil
}

func (t *timer) set(d time.Duration) { t.timer.Reset(d) }

func (t *timer) wait() bool {
	select {
	case <-t.timer.C:
		return true
	case <-t.done:
		return false
	}
}

func (t *timer) close() { t.once.Do(func() { close(t.done) }) }
