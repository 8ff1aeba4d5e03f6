package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/dme/collections"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/runtime/stall"
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

// losses remembers what got lost where, and what may have become of the token, so
// that a standstill can be explained.
type losses struct {
	*simulation
	seen    map[stall.Loss]struct{} // between nodes that are both there
	had     collections.NodeSet     // who had the token after its last event
	asked   []uint64                // requests of node i+1 until then
	carries map[uint32]bool         // messages on their way that may carry it
	carried bool                    // as the one did that has just arrived
	gone    collections.NodeSet     // nodes with which it went
}

// newLosses returns nil where nothing gets lost, which costs a run nothing.
func newLosses(s *simulation) *losses {
	if s.faults == nil && s.links == nil {
		return nil
	}
	n := len(s.procs)
	return &losses{
		simulation: s, seen: make(map[stall.Loss]struct{}), carries: make(map[uint32]bool),
		had: collections.MakeNodeSet(n), asked: make([]uint64, n), gone: collections.MakeNodeSet(n),
	}
}

func (l *losses) has(id dme.NodeID) bool {
	has, p := l.job.Algorithm.HasToken, l.process(id)
	return has != nil && p.Activity() != noderun.Down && has(p.Node())
}

// gave reports whether a node gave the token away in the event that goes on. What
// it sends once it asks again does not carry it.
func (l *losses) gave(id dme.NodeID) bool {
	return (l.had.Has(id) || l.carried) && !l.has(id) && l.counters[id-1].Requests.Load() == l.asked[id-1]
}

func (l *losses) sent(slot uint32, from dme.NodeID) {
	if l.gave(from) {
		l.carries[slot] = true
	}
}

func (l *losses) lost(from, to dme.NodeID, m *dme.Message) {
	gave := l.gave(from)
	if l.process(to).Activity() != noderun.Down {
		l.seen[stall.Loss{From: from, To: to, Kind: l.job.Algorithm.KindName(m.Kind), Token: gave}] = struct{}{}
	} else if gave {
		l.gone.Add(to)
	}
}

// arrives notes that a message arrives, and drowned that it got lost because its
// receiver went.
func (l *losses) arrives(slot uint32) {
	l.carried = l.carries[slot]
	delete(l.carries, slot)
}

func (l *losses) drowned(slot uint32, to dme.NodeID) {
	if l.carries[slot] {
		l.gone.Add(to)
		delete(l.carries, slot)
	}
}

// moved follows a node after an event.
func (l *losses) moved(id dme.NodeID) {
	l.carried, l.asked[id-1] = false, l.counters[id-1].Requests.Load()
	if l.has(id) {
		l.had.Add(id)
	} else {
		l.had.Remove(id)
	}
}

func (l *losses) died(id dme.NodeID) {
	if l.had.Has(id) {
		l.gone.Add(id)
	}
}

func (l *losses) returned(id dme.NodeID) { l.gone.Remove(id) }

// standstill says what the nodes of a stalled run wait for, and what may have become
// of it.
func (s *simulation) standstill() *stall.Standstill {
	x := &stall.Standstill{Nodes: len(s.procs), Tokens: -1}
	for _, p := range s.procs {
		if p.Activity() == noderun.Down {
			x.Absent = append(x.Absent, stall.Absent{Node: p.ID(), Since: -1, Token: s.losses != nil && s.losses.gone.Has(p.ID())})
			continue
		}
		x.Add(s.job.Algorithm, p.ID(), p.Node(), p.Activity() == noderun.Requesting)
	}
	if s.losses != nil {
		x.Losses = slices.SortedFunc(maps.Keys(s.losses.seen), func(a, b stall.Loss) int {
			return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind))
		})
	}
	return x
}
