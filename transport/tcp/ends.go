package tcp

import (
	"errors"
	"os"
	"time"

	"dmebench/dme"
	"dmebench/transport/peers"
)

func (t *Transport) hasLeft(p *process) {
	t.life.Mu.Lock()
	defer t.life.Mu.Unlock()
	if !t.life.Closing() && p.State.fate == alive {
		p.State.fate = left
	}
}

// lostLink notes that the link to a process is lost or could not be made. If the process has a
// connection to this one, that connection's goroutine reports the death, after the frames that had
// still arrived.
func (t *Transport) lostLink(p *process, err error) {
	t.life.Mu.Lock()
	if p.State.in != nil && !t.life.Closing() && p.State.fate == alive {
		p.State.cause = err
		p.State.in.conn.SetReadDeadline(time.Now().Add(t.limits.delivery))
		t.life.Mu.Unlock()
		return
	}
	if p.State.fate != alive {
		t.life.Mu.Unlock()
		return
	}
	t.die(p, err)
}

// die tells the handler that a process is down, unless it knows or the transport closes.
// It is called with Mu held, and releases it.
func (t *Transport) die(p *process, err error) {
	if t.life.Closing() { // and p may be nil
		t.life.Mu.Unlock()
		return
	}
	if p.State.fate == down {
		t.life.Mu.Unlock()
		p.State.reporting.Wait()
		return
	}
	p.State.fate = down
	p.State.reporting.Add(1)
	l := p.State.link
	t.life.Mu.Unlock()
	defer p.State.reporting.Done()
	if l != nil {
		l.mu.Lock()
		l.breakOff(err)
		l.mu.Unlock()
	}
	for _, id := range p.Nodes {
		t.handler.Down(id, err)
	}
}

// lostInbound notes that the connection from a process has ended without a goodbye. That is
// a death even if a goodbye was heard on the link to it: frames may be missing.
func (t *Transport) lostInbound(p *process, err error) {
	t.life.Mu.Lock()
	if !t.life.Closing() && p.State.cause != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		err = p.State.cause
	}
	t.die(p, err)
}

// Close stops delivery, sends what is queued as far as the peers take it within
// a second, says goodbye and frees everything.
func (t *Transport) Close() error { return t.life.Close(t.shutDown) }

func (t *Transport) shutDown() {
	t.life.Mu.Lock()
	// Nothing is added to these from here on.
	links, inbounds := t.links, t.inbounds
	t.life.Mu.Unlock()
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
		t.life.Running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(t.limits.drain):
		// The kernel may still deliver the data that it has taken: no reset here.
		t.cancel()
		for _, l := range links {
			l.mu.Lock()
			l.breakOff(t.life.Closed())
			l.mu.Unlock()
		}
		for _, in := range inbounds {
			in.conn.Close()
		}
		<-ended
	}
	t.cancel()
}

// Expel reports a process as down. One that is still there is given a second to end.
func (t *Transport) Expel(peer dme.NodeID, cause error) error {
	return t.life.Change(peer, func(p *process) error {
		t.expel(p, cause)
		return nil
	})
}

func (t *Transport) Readmit(peer dme.NodeID, addr string, incarnation uint32) error {
	return t.life.Change(peer, func(p *process) error { return t.readmit(p, addr, incarnation) })
}

func (t *Transport) readmit(p *process, addr string, incarnation uint32) error {
	t.life.Mu.Lock()
	alive := p.State.fate == alive
	t.life.Mu.Unlock()
	top := t.life.Top()
	return top.Replace(p, addr, incarnation, alive, func(cause error) { t.expel(p, cause) }, func(next *process) error {
		next.State.arriving = true
		t.life.Mu.Lock()
		top.Install(next)
		t.route(next, nil)
		t.life.Mu.Unlock()
		peers.Up(t.handler, next.Nodes, t.life.Closing)
		t.flush()
		t.life.Mu.Lock()
		defer t.life.Mu.Unlock()
		next.State.arriving = false
		close(t.readmitted)
		t.readmitted = make(chan struct{})
		return nil
	})
}

// expel returns when the handler knows and nothing of the process is delivered any more.
func (t *Transport) expel(p *process, cause error) {
	t.life.Mu.Lock()
	if p.State.fate == absent {
		t.life.Mu.Unlock()
		return
	}
	p.State.expelled = true
	in, l := p.State.in, p.State.link
	if in != nil {
		if p.State.cause == nil {
			p.State.cause = cause
		}
		in.conn.SetReadDeadline(time.Now().Add(t.limits.delivery))
	}
	t.life.Mu.Unlock()
	if l != nil {
		l.mu.Lock()
		l.breakOff(cause)
		l.mu.Unlock()
	}
	if in != nil {
		<-in.done
	}
	t.life.Mu.Lock()
	t.die(p, cause)
}
