package tcp

import (
	"net"
	"slices"
	"sync"
	"time"
)

// door bounds the connections that have not yet proved to know the run's key.
// When all places are taken, a new arrival gets that of the oldest, but not
// before the oldest has had its patience to answer: strangers that stay silent
// cannot keep the run's processes out, and a crowd of the run's own processes
// waits in the kernel's queue instead of being thrown out.
type door struct {
	places   int
	patience time.Duration
	left     chan struct{} // a place may have become free

	mu       sync.Mutex
	visitors []visitor // in order of arrival
	closed   bool
}

type visitor struct {
	conn  net.Conn
	since time.Time
}

func newDoor(places int, patience time.Duration) *door {
	return &door{places: places, patience: patience, left: make(chan struct{}, 1)}
}

// enter takes a place for conn, and waits for one where it must. It reports
// false when the door is closed.
func (d *door) enter(conn net.Conn) bool {
	for {
		wait, ok := d.tryEnter(conn)
		if ok || wait < 0 {
			return ok
		}
		timer := time.NewTimer(wait)
		select {
		case <-d.left:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// tryEnter returns how long the oldest visitor may still keep its place;
// negative when the door is closed.
func (d *door) tryEnter(conn net.Conn) (wait time.Duration, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return -1, false
	}
	now := time.Now()
	if len(d.visitors) >= d.places {
		oldest := d.visitors[0]
		if wait := d.patience - now.Sub(oldest.since); wait > 0 {
			return wait, false
		}
		oldest.conn.Close() // its goroutine sees the error and counts it
		d.visitors = slices.Delete(d.visitors, 0, 1)
	}
	d.visitors = append(d.visitors, visitor{conn, now})
	return 0, true
}

// leave gives the place of conn back. It reports whether conn still had it:
// otherwise the connection has been closed.
func (d *door) leave(conn net.Conn) bool {
	d.mu.Lock()
	i := slices.IndexFunc(d.visitors, func(v visitor) bool { return v.conn == conn })
	if i >= 0 {
		d.visitors = slices.Delete(d.visitors, i, i+1)
	}
	d.mu.Unlock()
	d.wake()
	return i >= 0
}

// close turns out all who are still at the door.
func (d *door) close() {
	d.mu.Lock()
	d.closed = true
	for _, v := range d.visitors {
		v.conn.Close()
	}
	d.visitors = nil
	d.mu.Unlock()
	d.wake()
}

func (d *door) wake() {
	select {
	case d.left <- struct{}{}:
	default:
	}
}
