package udp

import (
	"errors"
	"time"
)

// greetings is the state of the exchange of epochs by which a link begins:
//
//	greeting  source is the epoch of who greets, destination 0
//	welcome   source is that of who answers, destination the greeting's source
//	ack       from who has greeted: both epochs are right
//
// Who is greeted remembers nothing but the candidate: the greeting may be a
// datagram of the past. Only a segment with its own epoch as its destination
// shows an incarnation that lives now.
type greetings struct {
	since instant // of the first; 0 while there is none to be answered
	next  instant // when it is repeated
	tries int
}

const (
	firstGreeting = 100 * time.Millisecond // before a greeting is repeated; doubled each time
	lastGreeting  = time.Second
	lastGreetings = 3 // to a process that has never answered, where this one closes
)

var (
	errIncarnation = errors.New("udp: segment from or for another incarnation")
	errUnknown     = errors.New("udp: no answer to a greeting")
)

// meet begins a link, unless it has begun. It is called with mu held.
func (p *peer) meet(now instant) {
	p.introduce()
	if p.epoch != 0 || p.greetings.since != 0 || p.fate != alive {
		return
	}
	p.greetings.since, p.asked = now, now
	p.greet(now)
}

// greet asks the peer for its epoch. It is called with mu held.
func (p *peer) greet(now instant) {
	p.write(&segment{kind: greeting})
	g := &p.greetings
	g.next = now + min(firstGreeting<<g.tries, lastGreeting)
	g.tries++
	p.t.wake.by(g.next, now)
}

// greeted answers a greeting, unless another incarnation was here before. It is
// called with mu held.
func (p *peer) greeted(s *segment) error {
	switch {
	case p.fate == down || p.epoch != 0 && p.epoch != s.source:
		return errIncarnation
	case p.epoch == 0:
		p.candidate = s.source
	}
	p.introduce()
	p.write(&segment{kind: welcome, destination: s.source})
	return nil
}

// recognize refuses segments of other incarnations than the link's two. It is
// called with mu held.
func (p *peer) recognize(s *segment, now instant) error {
	switch {
	case s.destination != p.t.epoch || p.fate == down || p.epoch != 0 && s.source != p.epoch:
		return errIncarnation
	case p.epoch != 0:
		return nil
	}
	p.introduce()
	p.epoch = s.source
	if g := &p.greetings; g.tries == 1 && s.kind == welcome {
		p.out.rtt.sample(now - g.since)
	}
	p.greetings = greetings{}
	return nil
}

// introduce makes the peer one of those that this process has met. It is called
// with mu held.
func (p *peer) introduce() {
	if p.known {
		return
	}
	p.known = true
	t := p.t
	t.mu.Lock()
	t.met = append(t.met, p)
	t.mu.Unlock()
	now := t.clock()
	t.wake.by(now+t.limits.idle, now) // probes begin, where they are needed
}
