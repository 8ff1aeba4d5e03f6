package peers

import (
	"fmt"
	"sync"
	"sync/atomic"

	"dmebench/dme"
	"dmebench/transport"
)

// Life is how far a transport is: opened, started, closing.
type Life[State any] struct {
	Name    string         // of the transport, with which errors begin
	Mu      sync.Mutex     // held while it changes, with what changes together with it
	Running sync.WaitGroup // what Close waits for

	top      atomic.Pointer[Topology[State]]
	closing  atomic.Bool
	once     sync.Once
	changing sync.Mutex // held by Change
}

// Top returns the processes of the run; nil before the transport is started.
func (l *Life[State]) Top() *Topology[State] { return l.top.Load() }

// Closing reports whether Close has begun.
func (l *Life[State]) Closing() bool { return l.closing.Load() }

// Begin starts the transport. It is called with Mu held.
func (l *Life[State]) Begin(top *Topology[State]) error {
	if l.Top() != nil || l.Closing() {
		return fmt.Errorf("%s: Start of a transport that has been started or closed", l.Name)
	}
	l.top.Store(top)
	return nil
}

// Close closes the transport by shutDown. Further calls wait for the first and do nothing.
func (l *Life[State]) Close(shutDown func()) error {
	l.once.Do(func() {
		l.Mu.Lock()
		l.closing.Store(true)
		l.Mu.Unlock()
		shutDown()
	})
	return nil
}

// Ready returns the processes of the run, or why nothing can be sent.
func (l *Life[State]) Ready() (*Topology[State], error) {
	top := l.Top()
	switch {
	case l.Closing():
		return nil, l.Closed()
	case top == nil:
		return nil, fmt.Errorf("%s: not started", l.Name)
	}
	return top, nil
}

// Route returns the process that node to lives in, or why node from cannot send it a frame of
// that many bytes.
func (l *Life[State]) Route(from, to dme.NodeID, bytes, largest int) (*Process[State], error) {
	if top := l.Top(); top != nil && !l.Closing() {
		if p := top.Of(to); p != nil && bytes <= largest && top.Lives(from) {
			return p, nil
		}
	}
	return nil, l.unroutable(from, to, bytes, largest) // apart from what is done for each frame
}

func (l *Life[State]) unroutable(from, to dme.NodeID, bytes, largest int) error {
	top, err := l.Ready()
	if err == nil {
		err = top.Sendable(from, bytes, largest)
	}
	if err == nil {
		err = fmt.Errorf("%s: no node %d in this run", l.Name, to)
	}
	return err
}

// Closed is the error of a transport that is closed.
func (l *Life[State]) Closed() error { return fmt.Errorf("%s: %w", l.Name, transport.ErrClosed) }

// Go starts a goroutine that Close waits for; false if the transport closes.
func (l *Life[State]) Go(f func()) bool {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	if l.Closing() {
		return false
	}
	l.Running.Go(f)
	return true
}

// Change calls f with the process of peer, one change at a time, as something that Close waits for.
// If the transport closes, nothing is to be changed.
func (l *Life[State]) Change(peer dme.NodeID, f func(*Process[State]) error) error {
	l.changing.Lock()
	defer l.changing.Unlock()
	top, err := l.Ready()
	if err != nil {
		return IgnoreClosed(err)
	}
	p, err := top.Other(peer)
	if err != nil {
		return err
	}
	l.Mu.Lock()
	if l.Closing() {
		l.Mu.Unlock()
		return nil
	}
	l.Running.Add(1)
	l.Mu.Unlock()
	defer l.Running.Done()
	return f(p)
}

// Raise makes a number at least x.
func Raise(a *atomic.Uint64, x uint64) {
	for old := a.Load(); x > old && !a.CompareAndSwap(old, x); old = a.Load() {
	}
}
