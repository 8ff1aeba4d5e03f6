package mem

import (
	"errors"
	"fmt"

	"dmebench/dme"
	"dmebench/transport"
)

// Expel reports a process as down, after all that it had sent here; see
// [transport.Readmitter].
func (t *Transport) Expel(peer dme.NodeID, cause error) error {
	t.changing.Lock()
	defer t.changing.Unlock()
	return t.inOrder(peer, func(p *process) error {
		t.expel(p, cause)
		return nil
	})
}

// Readmit lets the next incarnation of a process take part; see
// [transport.Readmitter].
func (t *Transport) Readmit(peer dme.NodeID, addr string, incarnation uint32) error {
	t.changing.Lock()
	defer t.changing.Unlock()
	return t.inOrder(peer, func(p *process) error {
		if p.Incarnation == incarnation && p.Addr == addr && !p.State.down.Load() {
			return nil
		}
		next, err := t.top.Load().Successor(p, addr, incarnation)
		if err != nil {
			return err
		}
		t.expel(p, fmt.Errorf("mem: %v: incarnation %d has taken its place", p, incarnation))
		t.top.Load().Install(next)
		if h, ok := t.handler.(transport.UpHandler); ok {
			for _, id := range p.Nodes {
				h.Up(id)
			}
		}
		early := t.held
		t.held = nil
		for _, d := range early {
			t.take(d)
		}
		return nil
	})
}

// inOrder calls f with the process of peer in place of a frame: after all that has
// come before. It returns when f has.
func (t *Transport) inOrder(peer dme.NodeID, f func(*process) error) error {
	top := t.top.Load()
	if top == nil {
		return errors.New("mem: not started")
	}
	p, err := top.Other(peer)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	t.enqueue(delivery{do: func() { done <- f(p) }})
	select {
	case err := <-done:
		return err
	case <-t.ended:
		return nil
	}
}

// expel is called by the delivering goroutine.
func (t *Transport) expel(p *process, cause error) {
	if p.State.down.Swap(true) {
		return
	}
	for _, id := range p.Nodes {
		t.handler.Down(id, cause)
	}
}
