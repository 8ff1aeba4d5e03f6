package sim

import (
	"fmt"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/internal/runtime/stall"
	"dmebench/transport/link"
)

// links makes the simulated links worse, as package link does those of real
// transports: the k-th message of a link meets what the k-th frame of that link
// meets there. A delayed message leaves later for the network, which then takes
// as long as it ever does.
type links struct {
	config link.Config
	of     map[link.Link]*link.Conditioner
	most   int // messages on their way before they count as multiplying

	travelled float64 // ns that all deliveries took together
	delivered int
}

// newLinks returns nil if links are left alone, which costs a run nothing.
func newLinks(c link.Config, nodes int) *links {
	if c.Idle() {
		return nil
	}
	return &links{config: c, of: make(map[link.Link]*link.Conditioner), most: max(1<<16, 4*nodes*nodes)}
}

// typicalMessage is about how many bytes a message has, for patience with narrow links.
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

func (s *simulation) condition(from, to dme.NodeID, m *dme.Message) {
	s.messages++
	f := s.links.conditioner(from, to).Next(time.Duration(s.now), dme.MessageSize(m))
	if f.Lost {
		s.losses.Lost(from, to, m.Kind, s.gave(from))
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

// pass has a message leave for the network, outside its order if the message is free to overtake.
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
	s.sent(slot, from, to)
	s.schedule(delivery, at, slot)
}

// meanDelay is T, or what the deliveries over links that are not left alone really took.
func (s *simulation) meanDelay() float64 {
	switch {
	case s.links == nil:
		return float64(s.delays.mean)
	case s.links.delivered == 0:
		return 0
	}
	return s.links.travelled / float64(s.links.delivered)
}

// newLosses returns nil if nothing gets lost, which costs a run nothing.
func newLosses(s *simulation) *stall.Losses {
	if s.faults == nil && s.links == nil {
		return nil
	}
	return stall.NewLosses(s.job.Algorithm, len(s.procs), s)
}

func (s *simulation) Activity(id dme.NodeID) dme.Activity { return s.process(id).Activity() }

func (s *simulation) Node(id dme.NodeID) dme.Node { return s.process(id).Node() }

// gave reports whether a node gives the token away now: before it asks again.
func (s *simulation) gave(id dme.NodeID) bool {
	return s.losses.Gave(id) && s.counters[id-1].Requests.Load() == s.asked[id-1]
}

// sent notes a message that is on its way.
func (s *simulation) sent(slot uint32, from, to dme.NodeID) {
	if s.gave(from) {
		s.losses.Carries(uint64(slot), to)
	}
}
