package tcp

import (
	"net"
	"slices"
	"sync"
	"time"
)

// admission bounds the connections that have not yet proved to know the run's key.
// When all places are taken, a new connection gets that of the oldest, but not
// before the oldest has had its time to answer: strangers that stay silent cannot
// keep the run's processes out, and many of the run's own processes at once wait in
// the kernel's queue instead of being thrown out.
type admission struct {
	places  int
	minimum time.Duration // that a connection has at least
	freed   chan struct{} // a place may have become free

	mu      sync.Mutex
	pending []pending // in order of arrival
	closed  bool
}

type pending struct {
	conn  net.Conn
	since time.Time
}

func newAdmission(places int, minimum time.Duration) *admission {
	return &admission{places: places, minimum: minimum, freed: make(chan struct{}, 1)}
}

// enter takes a place for conn, and waits for one where it must. It reports false
// after close.
func (a *admission) enter(conn net.Conn) bool {
	for {
		wait, ok := a.tryEnter(conn)
		if ok || wait < 0 {
			return ok
		}
		select {
		case <-a.freed:
		case <-time.After(wait):
		}
	}
}

// tryEnter returns for how long the oldest connection may still keep its place;
// negative after close.
func (a *admission) tryEnter(conn net.Conn) (wait time.Duration, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return -1, false
	}
	if len(a.pending) >= a.places {
		oldest := a.pending[0]
		if wait := a.minimum - time.Since(oldest.since); wait > 0 {
			return wait, false
		}
		oldest.conn.Close() // its goroutine sees the error and counts it
		a.pending = slices.Delete(a.pending, 0, 1)
	}
	a.pending = append(a.pending, pending{conn, time.Now()})
	return 0, true
}

// leave gives the place of conn back. It reports whether conn still had it:
// otherwise the connection has been closed.
func (a *admission) leave(conn net.Conn) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.pending, func(p pending) bool { return p.conn == conn })
	if i >= 0 {
		a.pending = slices.Delete(a.pending, i, i+1)
	}
	a.free()
	return i >= 0
}

// close closes all connections that have a place.
func (a *admission) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for _, p := range a.pending {
		p.conn.Close()
	}
	a.pending = nil
	a.free()
}

func (a *admission) free() {
	select {
	case a.freed <- struct{}{}:
	default:
	}
}
