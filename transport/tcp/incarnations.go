package tcp

import (
	"errors"
	"time"

	"dmebench/dme"
	"dmebench/transport/peers"
)

// Expel reports a process as down, after what had come from it; see
// [transport.Readmitter]. A process that is still there is given a second to end.
func (t *Transport) Expel(peer dme.NodeID, cause error) error {
	return t.change(peer, func(p *process) error {
		t.expel(p, cause)
		return nil
	})
}

// Readmit lets the next incarnation of a process take part; see
// [transport.Readmitter].
func (t *Transport) Readmit(peer dme.NodeID, addr string, incarnation uint32) error {
	return t.change(peer, func(p *process) error { return t.readmit(p, addr, incarnation) })
}

// change calls f with the process of peer, one at a time, as something that Close
// waits for.
func (t *Transport) change(peer dme.NodeID, f func(*process) error) error {
	t.changing.Lock()
	defer t.changing.Unlock()
	top := t.top.Load()
	if top == nil {
		return errors.New("tcp: not started")
	}
	p, err := top.Other(peer)
	if err != nil {
		return err
	}
	t.mu.Lock()
	if t.closing.Load() {
		t.mu.Unlock()
		return nil
	}
	t.running.Add(1)
	t.mu.Unlock()
	defer t.running.Done()
	return f(p)
}

func (t *Transport) readmit(p *process, addr string, incarnation uint32) error {
	t.mu.Lock()
	alive := p.State.fate == alive
	t.mu.Unlock()
	top := t.top.Load()
	return top.Replace(p, addr, incarnation, alive, func(cause error) { t.expel(p, cause) }, func(next *process) error {
		next.State.arriving = true
		top.Install(next)
		peers.Up(t.handler, next.Nodes, t.closing.Load)
		t.flush()
		t.mu.Lock()
		defer t.mu.Unlock()
		next.State.arriving = false
		close(t.readmitted)
		t.readmitted = make(chan struct{})
		return nil
	})
}

// expel ends a process, in whatever state it is, and returns when the handler knows
// and nothing of it is delivered any more.
func (t *Transport) expel(p *process, cause error) {
	t.mu.Lock()
	if p.State.fate == absent {
		t.mu.Unlock()
		return
	}
	p.State.expelled = true
	in := p.State.in
	if in != nil {
		if p.State.cause == nil {
			p.State.cause = cause
		}
		in.conn.SetReadDeadline(time.Now().Add(t.limits.delivery))
	}
	t.mu.Unlock()
	if l := p.State.link.Load(); l != nil {
		l.mu.Lock()
		l.breakOff(cause)
		l.mu.Unlock()
	}
	if in != nil {
		<-in.done
	}
	t.mu.Lock()
	if t.closing.Load() || p.State.fate == down {
		t.mu.Unlock()
		p.State.telling.Wait()
		return
	}
	t.die(p)
	t.mu.Unlock()
	t.tellDown(p, cause)
}
