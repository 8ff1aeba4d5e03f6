//go:build !linux

package rawio

import (
	"sync"
	"time"
)

// Timer is Go's own: correct everywhere, but only as precise as the system is.
type Timer struct {
	timer *time.Timer
	done  chan struct{}
	once  sync.Once
}

func NewTimer() (*Timer, error) {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &Timer{timer: t, done: make(chan struct{})}, nil
}

func (t *Timer) Set(d time.Duration) { t.timer.Reset(d) }

func (t *Timer) Wait() bool {
	select {
	case <-t.timer.C:
		return true
	case <-t.done:
		return false
	}
}

func (t *Timer) Close() { t.once.Do(func() { close(t.done) }) }
