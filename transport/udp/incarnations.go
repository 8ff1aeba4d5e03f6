package udp

import (
	"dmebench/dme"
	"dmebench/transport/peers"
)

// Expel takes no datagram of a process any more. Where this is the highest layer, its
// handler is told.
func (r *raw) Expel(peer dme.NodeID, cause error) error {
	return r.change(peer, func(p *rawProcess) error {
		r.expel(p, cause)
		return nil
	})
}

// Readmit takes the datagrams of the next incarnation of a process from now on, and
// sends to it.
func (r *raw) Readmit(peer dme.NodeID, addr string, incarnation uint32) error {
	return r.change(peer, func(p *rawProcess) error {
		return r.top.Replace(p, addr, incarnation, !p.State.over, func(cause error) { r.expel(p, cause) }, func(next *rawProcess) error {
			next.State.incarnation = incarnation
			if err := r.locate(next); err != nil {
				return err
			}
			r.top.Install(next)
			if !r.beneath {
				peers.Up(r.handler, next.Nodes, r.closing.Load)
				r.flush()
			}
			return nil
		})
	})
}

// change calls f with the process of peer, as something that Close waits for, while
// no datagram is delivered.
func (r *raw) change(peer dme.NodeID, f func(*rawProcess) error) error {
	r.mu.Lock()
	if err := r.ready(); err != nil {
		r.mu.Unlock()
		return peers.IgnoreClosed(err)
	}
	r.running.Add(1)
	r.changed = true
	r.mu.Unlock()
	defer r.running.Done()
	p, err := r.top.Other(peer)
	if err != nil {
		return err
	}
	r.reading.Lock()
	defer r.reading.Unlock()
	return f(p)
}

// expel is called with reading held.
func (r *raw) expel(p *rawProcess, cause error) {
	r.mu.Lock()
	p.State.down = true
	r.mu.Unlock()
	if p.State.over {
		return
	}
	p.State.over = true
	for _, id := range p.Nodes {
		if !r.beneath && !r.closing.Load() {
			r.handler.Down(id, cause)
		}
	}
}

// Expel reports a process as down, after what had come from there.
func (t *reliable) Expel(peer dme.NodeID, cause error) error {
	return t.change(peer, func(p *process) error {
		p.State.expel(cause)
		return t.below.Expel(peer, cause)
	})
}

// Readmit begins a link with the next incarnation of a process.
func (t *reliable) Readmit(peer dme.NodeID, addr string, incarnation uint32) error {
	return t.change(peer, func(p *process) error {
		old := &p.State
		old.mu.Lock()
		alive := old.fate == alive
		old.mu.Unlock()
		return t.top.Replace(p, addr, incarnation, alive, old.expel, func(next *process) error {
			old.mu.Lock()
			old.superseded = true
			old.mu.Unlock()
			if err := t.below.Readmit(peer, addr, incarnation); err != nil {
				return err
			}
			l := &next.State
			l.init(t, next)
			l.delivery.Lock() // until Up has returned, nothing of it is delivered
			t.top.Install(next)
			peers.Up(t.handler, next.Nodes, t.closing.Load)
			l.delivery.Unlock()
			// It learns from a question that this process knows of it now.
			l.mu.Lock()
			if !t.closing.Load() {
				l.ask(t.clock())
			}
			l.mu.Unlock()
			return peers.IgnoreClosed(t.Flush())
		})
	})
}

// change calls f with the process of peer, one at a time, as something that Close
// waits for.
func (t *reliable) change(peer dme.NodeID, f func(*process) error) error {
	t.changing.Lock()
	defer t.changing.Unlock()
	if err := t.ready(); err != nil {
		return peers.IgnoreClosed(err)
	}
	p, err := t.top.Other(peer)
	if err != nil {
		return err
	}
	t.mu.Lock()
	if t.ended {
		t.mu.Unlock()
		return nil
	}
	t.notices.Add(1)
	t.mu.Unlock()
	defer t.notices.Done()
	return f(p)
}

// expel notes that the other side has ended, and returns when the handler knows.
func (l *association) expel(cause error) {
	l.mu.Lock()
	if l.fate < absent {
		l.lose(cause)
	}
	l.mu.Unlock()
	l.reporting.Wait()
}
