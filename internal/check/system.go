package check

import (
	"fmt"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/internal/noderun"
)

// system is a running system of nodes, of which one step at a time is taken. It
// judges itself: the first broken property stays in violation.
type system struct {
	*model
	hosts    []*noderun.Runner // by node, from 1
	counters []noderun.Counters
	links    []link // (from−1)·N + to−1
	busy     []int  // the links that hold messages, in no order
	alarms   []alarm
	budget   []int  // by node: requests still to make
	stopped  []bool // by node
	inside   []dme.NodeID
	waiting  int // nodes that have asked and not entered
	lose     int // messages that may still be lost

	overtaken []int // by node: entries of others since it asked
	steps     int
	entries   uint64
	maxBypass int
	quietFor  int // steps since something was achieved: a request, an entry or an exit

	violation *Violation
	sent      uint64 // the number of the last message sent
	event     *Event // what is noted down; nil where nobody reads it

	// Of the step being taken.
	acting dme.NodeID
	via    []mark // of the message being handled
	armed  int    // alarms[armed:] have been set in this step
}

type link struct {
	queue []letter
	at    int // in system.busy, where the queue is not empty
}

// letter is a message on the way.
type letter struct {
	number uint64 // in the order of sending
	msg    dme.Message
	transit
	marks []mark
}

func newSystem(m *model) *system {
	n := m.Nodes
	s := &system{
		model: m, hosts: make([]*noderun.Runner, n+1), counters: make([]noderun.Counters, n+1),
		links: make([]link, n*n), budget: make([]int, n+1), stopped: make([]bool, n+1),
		overtaken: make([]int, n+1), lose: m.Lose,
	}
	for i := range s.ids() {
		s.budget[i] = m.share(i)
		s.hosts[i] = noderun.New(m.alg, m.sys, n, i, (*world)(s), &s.counters[i])
	}
	for i := range s.ids() {
		s.handle(i, nil, (*noderun.Runner).Start)
	}
	return s
}

// ids yields the nodes in ascending order.
func (m *model) ids() func(func(dme.NodeID) bool) {
	return func(yield func(dme.NodeID) bool) {
		for i := dme.NodeID(1); int(i) <= m.Nodes; i++ {
			if !yield(i) {
				return
			}
		}
	}
}

// do takes a step, which must be possible.
func (s *system) do(x Step) {
	s.steps++
	s.quietFor++
	if s.event != nil {
		*s.event = Event{Step: x}
	}
	switch x.Kind {
	case Ask, AskShared:
		s.budget[x.Node]--
		s.waiting++
		s.overtaken[x.Node] = 0
		s.quietFor = 0
		if x.Kind == Ask {
			s.handle(x.Node, nil, (*noderun.Runner).Request)
		} else {
			s.handle(x.Node, nil, (*noderun.Runner).RequestShared)
		}
	case Leave:
		s.inside = slices.DeleteFunc(s.inside, func(id dme.NodeID) bool { return id == x.Node })
		s.quietFor = 0
		s.handle(x.Node, nil, (*noderun.Runner).Release)
	case Deliver, Copy, Lose:
		l := s.take(x)
		if s.event != nil {
			s.event.Number, s.event.Msg = l.number, l.msg
			s.event.Msg.Vec = slices.Clone(l.msg.Vec)
		}
		if x.Kind == Lose {
			s.lose--
			return
		}
		if l.broadcast {
			s.heard(&l, x.From, x.Node)
		}
		s.handle(x.Node, l.marks, func(h *noderun.Runner) {
			if x.From == x.Node {
				h.Transmitted(&l.msg)
			} else {
				h.Receive(x.From, &l.msg)
			}
		})
	case Fire:
		s.disarm(x.Node, x.Timer)
		s.handle(x.Node, nil, func(h *noderun.Runner) { h.Timeout(x.Timer) })
	case Stop:
		s.stopped[x.Node] = true
		s.handle(x.Node, nil, (*noderun.Runner).Stop)
	}
}

// take takes the message of a step from its link, or leaves a copy there.
func (s *system) take(x Step) letter {
	at := s.linkOf(x.From, x.Node)
	q := &s.links[at].queue
	l := (*q)[x.Index]
	if x.Kind == Copy {
		(*q)[x.Index].copy = true
		l.msg.Vec = slices.Clone(l.msg.Vec) // the copy keeps the other
		return l
	}
	*q = slices.Delete(*q, x.Index, x.Index+1)
	if len(*q) == 0 {
		hole, last := s.links[at].at, s.busy[len(s.busy)-1]
		s.busy[hole] = last
		s.links[last].at = hole
		s.busy = s.busy[:len(s.busy)-1]
	}
	return l
}

// handle runs a handler of node id, which may be in answer to a message with
// marks, and judges what it did.
func (s *system) handle(id dme.NodeID, via []mark, handler func(*noderun.Runner)) {
	s.acting, s.via, s.armed = id, via, len(s.alarms)
	h, c := s.hosts[id], &s.counters[id]
	unaskedBefore, refusedBefore := c.Unasked.Load(), c.Refused.Load()
	if text := try(h, handler); text != "" {
		s.broken(panicked(id, text))
	}
	for _, a := range s.alarms[s.armed:] {
		if a.reach > 0 {
			s.eachLetter(func(l *letter) { l.marks = marked(l.marks, a) })
		}
	}
	if c.Unasked.Load() > unaskedBefore {
		s.broken(unasked(id))
	}
	if s.event != nil && c.Refused.Load() > refusedBefore {
		s.event.Refused = h.LastRefusal()
	}
}

// try runs a handler and returns the text of its panic, "" where it has none.
func try(h *noderun.Runner, handler func(*noderun.Runner)) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	handler(h)
	return ""
}

// broken notes the first violation.
func (s *system) broken(v *Violation) {
	if s.violation == nil {
		s.violation = v
	}
}

// stalled reports whether somebody waits and nothing can happen but that
// others ask.
func (s *system) stalled() bool {
	return s.waiting > 0 && len(s.busy) == 0 && len(s.inside) == 0 && len(s.alarms) == 0
}

// served reports whether all requests have been made, and their entries left.
func (s *system) served() bool {
	return s.waiting == 0 && len(s.inside) == 0 && !slices.ContainsFunc(s.budget, func(left int) bool { return left > 0 })
}

// whoWaits returns the nodes that have asked and not entered.
func (s *system) whoWaits() []dme.NodeID {
	var nodes []dme.NodeID
	for i := range s.ids() {
		if s.hosts[i].Activity() == noderun.Requesting {
			nodes = append(nodes, i)
		}
	}
	return nodes
}

// states describes every node, one on a line.
func (s *system) states() []string {
	var lines []string
	for i := range s.ids() {
		lines = append(lines, noderun.Describe(s.hosts[i]))
	}
	return lines
}

func (s *system) linkOf(from, to dme.NodeID) int {
	return int(from-1)*s.Nodes + int(to-1)
}

func (s *system) ends(link int) (from, to dme.NodeID) {
	return dme.NodeID(link/s.Nodes + 1), dme.NodeID(link%s.Nodes + 1)
}

func (s *system) eachLetter(f func(*letter)) {
	for _, at := range s.busy {
		for i := range s.links[at].queue {
			f(&s.links[at].queue[i])
		}
	}
}

// disarm forgets a timer, and who had to arrive before it.
func (s *system) disarm(id dme.NodeID, timer dme.TimerID) {
	at := find(s.alarms, id, timer)
	if at < 0 {
		return
	}
	if s.alarms[at].reach > 0 {
		s.eachLetter(func(l *letter) { l.marks = unmarked(l.marks, id, timer) })
		s.via = unmarked(s.via, id, timer)
	}
	s.alarms = slices.Delete(s.alarms, at, at+1)
	if at < s.armed {
		s.armed--
	}
}

// world is a system as its hosts see it.
type world system

var _ noderun.World = (*world)(nil)

func (w *world) Send(from, to dme.NodeID, m *dme.Message) {
	w.post(from, to, *m, transit{})
}

func (w *world) Broadcast(from dme.NodeID, m *dme.Message) int {
	for to := range w.ids() {
		if to != from || w.sequenced {
			each := *m
			each.Vec = slices.Clone(m.Vec)
			w.post(from, to, each, transit{broadcast: w.sequenced})
		}
	}
	if w.sequenced {
		return 1
	}
	return w.Nodes - 1
}

func (w *world) post(from, to dme.NodeID, m dme.Message, t transit) {
	s := (*system)(w)
	at := s.linkOf(from, to)
	l := &s.links[at]
	if len(l.queue) == 0 {
		l.at = len(s.busy)
		s.busy = append(s.busy, at)
	}
	s.sent++
	l.queue = append(l.queue, letter{number: s.sent, msg: m, transit: t, marks: inherit(s.via, s.alarms)})
	if s.event != nil {
		m.Vec = slices.Clone(m.Vec)
		s.event.Sent = append(s.event.Sent, Sent{To: to, Number: s.sent, Msg: m})
	}
}

func (w *world) Enter(id dme.NodeID, _ dme.Stamp) {
	s := (*system)(w)
	s.entries++
	s.waiting--
	s.quietFor = 0
	s.maxBypass = max(s.maxBypass, s.overtaken[id])
	if s.event != nil {
		s.event.Entered = true
	}
	shared := s.hosts[id].Shared()
	for _, other := range s.inside {
		if otherShared := s.hosts[other].Shared(); !shared || !otherShared {
			s.broken(twoInside(other, id, otherShared, shared))
		}
	}
	s.inside = append(s.inside, id)
	for i := range s.ids() {
		if i == id || s.hosts[i].Activity() != noderun.Requesting {
			continue
		}
		s.overtaken[i]++
		if s.Bypass > 0 && s.overtaken[i] > s.Bypass {
			s.broken(overtaken(i, s.Bypass))
		}
	}
}

func (w *world) SetTimer(id dme.NodeID, timer dme.TimerID, delay time.Duration) {
	s := (*system)(w)
	s.disarm(id, timer)
	s.alarms = append(s.alarms, alarm{id, timer, delay, s.reach(delay)})
	if s.event != nil {
		s.event.Set = append(s.event.Set, Alarm{Timer: timer, Delay: delay})
	}
}

func (w *world) CancelTimer(id dme.NodeID, timer dme.TimerID) {
	(*system)(w).disarm(id, timer)
}
