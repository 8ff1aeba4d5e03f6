package sim

import (
	"fmt"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/transport/link"
)

// links makes the simulated links worse, as package link does those of real
// transports: the k-th message of a link meets what the k-th frame of that link
// meets there. What is delayed leaves later for the network, which then takes
// as long as it ever does.
type links struct {
	config link.Config
	of     map[link.Link]*link.Conditioner
	most   int // messages on their way before they are said to multiply

	travelled float64 // ns that all deliveries took together
	delivered int
}

// newLinks returns nil where links are left alone, which costs a run nothing.
func newLinks(c link.Config, nodes int) *links {
	if c.Idle() {
		return nil
	}
	return &links{config: c, of: make(map[link.Link]*link.Conditioner), most: max(1<<16, 4*nodes*nodes)}
}

// typicalMessage is about how many bytes a message has, for the patience with
// links that are narrow.
const typicalMessage = 32

// typical is how long the slowest link takes beyond the network's own delay.
func (l *links) typical() time.Duration {
	if l == nil {
		return 0
	}
	return l.config.Typical(typicalMessage)
}

func (l *links) conditioner(from, to dme.NodeID) *link.Conditioner {
	between := link.Link{From: from, To: to}
	c := l.of[between]
	if c == nil {
		c = l.config.Conditioner(between)
		l.of[between] = c
	}
	return c
}

// condition sends a message over a link that is not left alone.
func (s *simulation) condition(from, to dme.NodeID, m *dme.Message) {
	s.messages++
	f := s.links.conditioner(from, to).Next(time.Duration(s.now), dme.MessageSize(m))
	if f.Lost {
		s.losses.lost(from, to, m)
		return
	}
	if f.Repeated {
		again := *m
		again.Vec = slices.Clone(m.Vec) // each receipt has its own
		s.pass(int64(f.Repeat), from, to, &again, true)
		if s.flight.n > s.links.most {
			s.fail(fmt.Sprintf("sim: at %v, %d messages are on their way: each that arrives twice is answered twice, and they multiply without end",
				time.Duration(s.now), s.flight.n))
		}
	}
	s.pass(int64(f.Departure), from, to, m, f.Reordered)
}

// sendAll broadcasts over links that are not left alone, as over a real network:
// a message to each, in no order of all.
func (s *simulation) sendAll(from dme.NodeID, m *dme.Message) (transmissions int) {
	vec := m.Vec
	for to := dme.NodeID(1); int(to) <= len(s.procs); to++ {
		if to != from {
			transmissions++
			if s.faults != nil && s.faults.loses(from, to, m) {
				continue
			}
			m.Vec = slices.Clone(vec)
			s.condition(from, to, m)
		}
	}
	m.Vec = vec
	return transmissions
}

// pass has a message leave for the network at an instant. One that is free to
// overtake is outside the order that the network keeps.
func (s *simulation) pass(departure int64, from, to dme.NodeID, m *dme.Message, free bool) {
	s.checkTime(departure)
	var at int64
	if free {
		at = departure + s.delays.draw()
	} else {
		at = s.delays.arrival(departure, from, to)
	}
	if s.faults != nil {
		at = s.faults.after(at, from, to)
	}
	s.links.travelled += float64(at - s.now)
	s.links.delivered++
	slot := s.flight.put(from, to, m)
	s.losses.sent(slot, from)
	s.schedule(delivery, at, slot)
}

// meanDelay is the mean delay of a message: T, or what the deliveries over links
// that are not left alone really took.
func (s *simulation) meanDelay() float64 {
	switch {
	case s.links == nil:
		return float64(s.delays.mean)
	case s.links.delivered == 0:
		return 0
	}
	return s.links.travelled / float64(s.links.delivered)
}
