package udp

import (
	"time"
)

// lose notes that a peer is dead, and has the handler told. It is called with
// mu held.
func (p *peer) lose(err error) {
	p.fate = down
	p.out.drop()
	p.greetings, p.asked, p.in.due = greetings{}, 0, 0
	p.t.tellDown(p, err)
}

// tellDown has the handler told of a death by a goroutine of its own, which
// waits until frames of the peer have been delivered: none follows.
func (t *reliable) tellDown(p *peer, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	t.notices.Go(func() {
		p.delivery.Lock()
		defer p.delivery.Unlock()
		for _, id := range p.process.nodes {
			if !t.closing.Load() {
				t.handler.Down(id, err)
			}
		}
	})
}

// Close stops delivery, sends what is queued as far as the peers take it within
// about a second, says farewell and frees everything. It waits for calls of the
// handler to return. Closing again waits for the first Close and does nothing.
func (t *reliable) Close() error {
	t.close()
	return nil
}

func (t *reliable) shutDown() {
	t.mu.Lock()
	t.closing.Store(true)
	t.ended = true
	met := t.met
	t.parting = len(met)
	t.mu.Unlock()
	if len(met) > 0 {
		now := t.clock()
		for _, p := range met {
			p.part(now)
		}
		t.below.Flush()
		select {
		case <-t.parted:
		case <-time.After(t.limits.drain):
		}
	}
	t.wake.close()
	t.running.Wait()
	t.below.Close()
	t.notices.Wait()
}

// part says farewell to a peer.
func (p *peer) part(now instant) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fate == alive && p.process != p.t.top.self {
		if p.epoch == 0 && p.greetings.since == 0 {
			// It has greeted, its next word was lost: that it lives is likely.
			p.epoch = p.candidate
		}
		p.parting = true
		p.out.add(farewell)
		p.transmit(now)
	} else {
		p.out.drop()
	}
	p.closes()
}

// closes makes settle count the peer. It is called with mu held.
func (p *peer) closes() {
	p.parting = true
	p.settle()
}

// settle notes that a peer knows that this process closes, or is no more. It is
// called with mu held.
func (p *peer) settle() {
	if !p.parting || p.parted || p.fate == alive && !p.out.empty() {
		return
	}
	p.parted = true
	t := p.t
	t.mu.Lock()
	t.parting--
	last := t.parting == 0
	t.mu.Unlock()
	if last {
		close(t.parted)
	}
}
