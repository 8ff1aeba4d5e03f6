package tcp

import (
	"errors"
	"os"
	"time"

	"dmebench/dme"
	"dmebench/transport/peers"
)

// hasLeft notes that a process closes in good order.
func (t *Transport) hasLeft(p *process) {
	t.mu.Lock()
	if !t.closing.Load() && p.State.fate == alive {
		p.State.fate = left
	}
	t.mu.Unlock()
}

// lostLink notes that the link to a process is lost or could not be made. Where
// the process has a connection to this one, that connection's goroutine reports
// the death, after the frames that had still arrived: no frame of a process
// follows its Down.
func (t *Transport) lostLink(p *process, err error) {
	t.mu.Lock()
	if t.closing.Load() || p.State.fate != alive {
		t.mu.Unlock()
		return
	}
	if p.State.in != nil {
		p.State.cause = err
		p.State.in.conn.SetReadDeadline(time.Now().Add(t.limits.delivery))
		t.mu.Unlock()
		return
	}
	t.die(p)
	t.mu.Unlock()
	t.reportDown(p, err)
}

// die notes that a process is down. The caller holds mu, and calls reportDown next.
func (t *Transport) die(p *process) {
	p.State.fate = down
	p.State.reporting.Add(1)
}

// lostInbound notes that the connection from a process has ended without a
// goodbye. That is a death even if a goodbye was heard on the link to it:
// frames may be missing.
func (t *Transport) lostInbound(p *process, err error) {
	t.mu.Lock()
	if t.closing.Load() || p.State.fate == down {
		t.mu.Unlock()
		return
	}
	t.die(p)
	if p.State.cause != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		err = p.State.cause
	}
	t.mu.Unlock()
	if l := p.State.link.Load(); l != nil {
		l.mu.Lock()
		l.breakOff(err)
		l.mu.Unlock()
	}
	t.reportDown(p, err)
}

func (t *Transport) reportDown(p *process, err error) {
	defer p.State.reporting.Done()
	for _, id := range p.Nodes {
		t.handler.Down(id, err)
	}
}

// Close stops delivery, sends what is queued as far as the peers take it within
// a second, says goodbye and frees everything. It waits for calls of the
// handler to return. Closing again waits for the first Close and does nothing.
func (t *Transport) Close() error {
	t.close()
	return nil
}

func (t *Transport) shutDown() {
	t.mu.Lock()
	t.closing.Store(true)
	// Nothing is added to these from here on.
	links, inbounds := t.links, t.inbounds
	t.mu.Unlock()
	t.leave()
	t.listener.Close()

	for _, l := range links {
		l.leave()
	}
	for _, in := range inbounds {
		in.leave()
	}
	ended := make(chan struct{})
	go func() {
		t.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(t.limits.drain):
		// What the kernel has taken it may still deliver: no reset here.
		t.cancel()
		for _, l := range links {
			l.mu.Lock()
			l.breakOff(errClosed)
			l.mu.Unlock()
		}
		for _, in := range inbounds {
			in.conn.Close()
		}
		<-ended
	}
	t.cancel()
}

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
		p.State.reporting.Wait()
		return
	}
	t.die(p)
	t.mu.Unlock()
	t.reportDown(p, cause)
}
