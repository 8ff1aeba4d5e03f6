package vnet

import (
	"slices"
	"time"

	"dmebench/dme"
)

// Config describes a network and its nodes.
type Config struct {
	Algorithm *dme.Algorithm
	Nodes     int
	Options   dme.Options // resolved, and checked for that many nodes
	Seed      uint64
	ReadFile  func(name string) ([]byte, error)

	Unordered bool // links need not keep order
	Duplicate bool // any message may arrive twice
	Lose      int  // as many messages may be lost
	Sequenced bool // all nodes hear all broadcasts in one order
	Bounded   bool // timers wait for messages that must have arrived before they fire

	Crashes    int          // as many nodes may crash
	Restarts   bool         // a node that crashed may come back, if it knows how
	Departures int          // as many nodes may leave in an orderly way, if they know how
	Absent     []dme.NodeID // are no part of the system at the start, and may join
	Faults     bool         // the caller decides which nodes crash, come back, join and leave

	// Requests returns how many requests a node may make; nil: any number.
	Requests func(id dme.NodeID) int
	// StopEarly stops a node as soon as it has made its own requests; else all are stopped when all
	// have been served.
	StopEarly bool
	// Bypass bounds the entries by others between a request and its entry; 0: any number.
	Bypass int

	// Watch says which of the algorithm's invariants every step is judged by.
	Watch Watch

	// Recover makes a node's panic a violation; else it is the caller's.
	Recover bool
	// Carry returns what arrives of a message that is sent, if it is set.
	Carry func(from, to dme.NodeID, m *dme.Message) dme.Message
}

// Model is what all states of a network have in common. It is immutable.
type Model struct {
	Config
	System dme.System // the source of nodes: the algorithm's own system, or a stand-in

	prepared dme.System

	// Invariants are those by which every state is judged; none if there is nothing to judge by.
	Invariants []dme.Invariant

	Shares  bool // nodes distinguish readers
	Stops   bool // nodes have a Stop
	Endless bool // messages flow without requests, until the nodes are stopped

	// Fenced says that two nodes may be in the critical section: fencing tokens tell them apart,
	// which one of the invariants watches over.
	Fenced bool

	faulty, restarts, members bool // nodes may come and go; nodes know how

	bound time.Duration // on the delay of a message; 0: the algorithm does not say
}

// NewModel prepares the system that the nodes share.
func NewModel(c Config) (*Model, error) {
	m := &Model{Config: c, bound: boundOf(c.Options)}
	var err error
	m.System, err = c.Algorithm.Prepare(dme.Config{
		Nodes: c.Nodes, Seed: c.Seed, Options: c.Options, Bound: m.bound, Absent: c.Absent, ReadFile: c.ReadFile,
	})
	if err != nil {
		return nil, err
	}
	m.prepared = m.System
	first := m.System.Node(1)
	_, m.Shares = first.(dme.SharedRequester)
	_, m.Stops = first.(dme.Stopper)
	if err := m.prepareFaults(first); err != nil {
		return nil, err
	}
	m.Invariants = m.watched()
	m.Fenced = c.Algorithm.Fences(c.Options) && slices.ContainsFunc(m.Invariants, func(i dme.Invariant) bool { return i.Fencing })
	m.Endless = c.Algorithm.Endless(c.Options)
	return m, nil
}

// Unwatched returns the same model with no invariant of the algorithm.
func (m *Model) Unwatched() (*Model, error) {
	c := m.Config
	c.Watch = WatchNothing
	return NewModel(c)
}

// WithSeed returns the same model with another seed.
func (m *Model) WithSeed(seed uint64) (*Model, error) {
	if seed == m.Seed {
		return m, nil
	}
	c := m.Config
	c.Seed = seed
	return NewModel(c)
}

// unknownBound is the bound on delays for an algorithm that needs one and was given none. Delays
// have no length here: it is a unit for timers.
const unknownBound = time.Second

// boundOf returns the bound on delays that timers are set by, 0 without such an option.
func boundOf(opt dme.Options) time.Duration {
	value, ok := opt["bound"]
	if !ok {
		return 0
	}
	if d, err := time.ParseDuration(value); err == nil {
		return d
	}
	return unknownBound
}

// IDs yields the nodes in ascending order.
func (m *Model) IDs() func(func(dme.NodeID) bool) {
	return func(yield func(dme.NodeID) bool) {
		for id := dme.NodeID(1); int(id) <= m.Nodes; id++ {
			if !yield(id) {
				return
			}
		}
	}
}

// link numbers the link between two nodes, from 0.
func (m *Model) link(from, to dme.NodeID) int { return int(from-1)*m.Nodes + int(to-1) }

// mayArrive reports whether the i-th message on a link may be the next that its receiver sees.
func (m *Model) mayArrive(s state, link, i int) bool {
	if i >= s.length(link) || i > 0 && !m.Unordered {
		return false
	}
	return !m.Sequenced || m.audible(s, link, i)
}

// audible reports whether a message, if it is a broadcast, is what its receiver
// may hear next: the sender's first, with the first place that the node has not
// heard or, if it has heard all that have one, without a place.
func (m *Model) audible(s state, link, i int) bool {
	p := s.passage(link, i)
	if !p.broadcast {
		return true
	}
	for earlier := range i {
		if s.passage(link, earlier).broadcast {
			return false
		}
	}
	least := int32(0)
	for from := range m.IDs() {
		other := m.link(from, p.To)
		for k := range s.length(other) {
			if place := s.passage(other, k).place; place > 0 && (least == 0 || place < least) {
				least = place
			}
		}
	}
	return p.place == least
}

// heard gives a broadcast its place when it is first heard, and takes it away when all have heard it.
func (m *Model) heard(s state, p passage) {
	last, remains := int32(0), false
	for _, x := range s.arriving() {
		link := m.link(x.From, x.Node)
		for k := range s.length(link) {
			place := s.passage(link, k).place
			last = max(last, place)
			remains = remains || place == p.place
		}
	}
	switch {
	case p.place == 0:
		for to := range m.IDs() {
			done := to == p.To
			s.rewrite(p.From, to, func(q *passage) bool {
				if done || !q.broadcast || q.place > 0 {
					return false
				}
				q.place, done = last+1, true
				return true
			})
		}
	case !remains:
		rewriteAll(s, func(q *passage) bool {
			if q.place <= p.place {
				return false
			}
			q.place--
			return true
		})
	}
}

// Timer is a timer that is set.
type Timer struct {
	Node  dme.NodeID
	ID    dme.TimerID
	Delay time.Duration
	reach int // how many messages of a chain arrive before it fires; 0: it waits for none
}

// mark on a message says that a timer that was set while the message, or the
// first one of the chain that led to it, was on the way must wait for it.
type mark struct {
	node dme.NodeID
	id   dme.TimerID
	hops int // place of the message in its chain, from 1; at most the timer's reach
}

type timing struct {
	Timer
	set bool
}

// reach returns how many hops of bounded delay fit into a timer's setting.
func (m *Model) reach(delay time.Duration) int {
	switch {
	case !m.Bounded:
		return 0
	case m.bound <= 0:
		return 1
	}
	return int(delay / m.bound)
}

func find(timers []Timer, node dme.NodeID, id dme.TimerID) int {
	return slices.IndexFunc(timers, func(t Timer) bool { return t.Node == node && t.ID == id })
}

// first reports whether no timer that was set before the i-th has to fire
// before it. Timers are in the order in which they were set.
func (m *Model) first(timers []Timer, i int) bool {
	return !m.Bounded || !slices.ContainsFunc(timers[:i], func(t Timer) bool { return t.Delay <= timers[i].Delay })
}

// mayFire reports whether the i-th timer may fire now.
func (m *Model) mayFire(s state, i int) bool {
	timers := s.shared().timers
	t := timers[i]
	if !m.first(timers, i) {
		return false
	}
	if t.reach == 0 {
		return true
	}
	for _, x := range s.arriving() {
		link := m.link(x.From, x.Node)
		for k := range s.length(link) {
			if slices.ContainsFunc(s.passage(link, k).marks, func(m mark) bool { return m.node == t.Node && m.id == t.ID }) {
				return false
			}
		}
	}
	return true
}

// setTimers sets and cancels timers, in order. via are the marks of the message
// that is being answered; without those of timers that have changed they are
// returned.
func (m *Model) setTimers(s state, timers []timing, via []mark) []mark {
	for _, t := range timers {
		m.disarm(s, t.Node, t.ID)
		if len(via) > 0 {
			via = unmarked(via, t.Node, t.ID)
		}
		if t.set {
			c := s.edit()
			c.timers = append(c.timers, t.Timer)
			s.keep()
		}
	}
	return via
}

func (m *Model) disarm(s state, node dme.NodeID, id dme.TimerID) {
	timers := s.shared().timers
	at := find(timers, node, id)
	if at < 0 {
		return
	}
	reach := timers[at].reach
	c := s.edit()
	c.timers = slices.Delete(c.timers, at, at+1)
	s.keep()
	if reach > 0 {
		rewriteAll(s, func(p *passage) bool {
			was := len(p.marks)
			p.marks = unmarked(p.marks, node, id)
			return len(p.marks) < was
		})
	}
}

func (m *Model) markAll(s state, timers []timing) {
	for _, t := range timers {
		if t.set && t.reach > 0 && slices.Contains(s.shared().timers, t.Timer) {
			rewriteAll(s, func(p *passage) bool {
				p.marks = marked(p.marks, t.Timer)
				return true
			})
		}
	}
}

// carryOver returns the marks of an answer: those whose timers reach one hop further.
func carryOver(marks []mark, timers []Timer) []mark {
	var out []mark
	for _, m := range marks {
		if i := find(timers, m.node, m.id); i >= 0 && m.hops < timers[i].reach {
			m.hops++
			out = append(out, m)
		}
	}
	return out
}

// marked returns a copy of marks with one for a timer just set, the latest, at the end.
func marked(marks []mark, t Timer) []mark {
	return append(unmarked(marks, t.Node, t.ID), mark{t.Node, t.ID, 1})
}

// unmarked returns marks without the one of a timer; marks itself is left alone.
func unmarked(marks []mark, node dme.NodeID, id dme.TimerID) []mark {
	at := slices.IndexFunc(marks, func(m mark) bool { return m.node == node && m.id == id })
	if at < 0 {
		return slices.Clip(marks)
	}
	return slices.Delete(slices.Clone(marks), at, at+1)
}
