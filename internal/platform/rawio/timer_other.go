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

// NewTimer returns a timer that is not set.
func NewTimer() (*Timer, error) {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &Timer{timer: t, done: make(chan struct{})}, nil
}

// Set makes Wait return after d, or at once where d is not above 0, in place of
// what was set before. It is called by one goroutine at a time, and not after
// Close.
func (t *Timer) Set(d time.Duration) { t.timer.Reset(d) }

// Wait blocks until the timer fires; false after Close. It is called by one
// goroutine at a time.
func (t *Timer) Wait() bool {
	select {
	case <-t.timer.C:
		return true
	case <-t.done:
		return false
	}
}

// Close ends a Wait that is under way, and all further ones.
func (t *Timer) Close() { t.once.Do(func() { close(t.done) }) }
