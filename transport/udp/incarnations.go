package udp

import (
	"dmebench/dme"
	"dmebench/transport/peers"
)

// Expel takes no datagram of a process any more.
func (r *raw) Expel(peer dme.NodeID, cause error) error {
	return r.Change(peer, func(p *rawProcess) error {
		r.reading.Lock()
		defer r.reading.Unlock()
		r.expel(p, cause)
		return nil
	})
}

func (r *raw) Readmit(peer dme.NodeID, addr string, incarnation uint32) error {
	return r.Change(peer, func(p *rawProcess) error {
		r.reading.Lock()
		defer r.reading.Unlock()
		top := r.Top()
		return top.Replace(p, addr, incarnation, !p.State.over, func(cause error) { r.expel(p, cause) }, func(next *rawProcess) error {
			next.State.incarnation = incarnation
			if err := r.locate(next); err != nil {
				return err
			}
			top.Install(next)
			if !r.beneath {
				peers.Up(r.handler, next.Nodes, r.Closing)
				r.flush()
			}
			return nil
		})
	})
}

// expel is called with reading held.
func (r *raw) expel(p *rawProcess, cause error) {
	r.Mu.Lock()
	p.State.down, r.changed = true, true
	r.Mu.Unlock()
	if p.State.over {
		return
	}
	p.State.over = true
	for _, id := range p.Nodes {
		if !r.beneath && !r.Closing() {
			r.handler.Down(id, cause)
		}
	}
}

func (t *reliable) Expel(peer dme.NodeID, cause error) error {
	return t.Change(peer, func(p *process) error {
		p.State.expel(cause)
		return t.below.Expel(peer, cause)
	})
}

func (t *reliable) Readmit(peer dme.NodeID, addr string, incarnation uint32) error {
	return t.Change(peer, func(p *process) error {
		old := &p.State
		old.mu.Lock()
		alive := old.fate == alive
		old.mu.Unlock()
		return t.Top().Replace(p, addr, incarnation, alive, old.expel, func(next *process) error {
			old.mu.Lock()
			old.superseded = true
			old.mu.Unlock()
			if err := t.below.Readmit(peer, addr, incarnation); err != nil {
				return err
			}
			l := &next.State
			l.init(t, next)
			l.delivery.Lock() // until Up has returned, nothing of it is delivered
			t.Top().Install(next)
			peers.Up(t.handler, next.Nodes, t.Closing)
			l.delivery.Unlock()
			// It learns from a question that this process knows of it now.
			l.mu.Lock()
			if !t.Closing() {
				l.ask(t.clock())
			}
			l.mu.Unlock()
			return peers.IgnoreClosed(t.Flush())
		})
	})
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
