package vnet

import (
	"slices"
	"time"

	"dmebench/dme"
)

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

// timing is a timer that a handler has set, or cancelled.
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

// disarm forgets a timer, and who had to arrive before it.
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

// markAll marks every message on the way for the timers that have just been set.
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

// inherit returns the marks of a message that is sent in answer to one with
// marks: those whose timers reach one hop further.
func inherit(marks []mark, timers []Timer) []mark {
	var out []mark
	for _, m := range marks {
		if i := find(timers, m.node, m.id); i >= 0 && m.hops < timers[i].reach {
			m.hops++
			out = append(out, m)
		}
	}
	return out
}

// marked returns marks with one for a timer that has just been set; marks itself is
// left alone. The order of marks is that in which their timers were set.
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
