package vnet

import (
	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
)

// enabled appends every step that is possible. stuck reports a standstill: a node waits, and
// nothing can happen but that others ask.
func (m *Model) enabled(s state, to []Step) (steps []Step, stuck bool) {
	waiting, moving := false, false
	for id := dme.NodeID(1); int(id) <= m.Nodes; id++ {
		p := s.process(id)
		switch {
		case p.activity == noderun.Inside:
			moving = true
			to = append(to, Step{Kind: dme.Exit, Node: id})
		case p.activity == noderun.Requesting:
			waiting = true
		case p.mayAsk():
			to = append(to, Step{Kind: dme.Request, Node: id})
			if m.Shares {
				to = append(to, Step{Kind: dme.RequestShared, Node: id})
			}
		}
		if m.faulty {
			if back, ok := m.comingBack(id, p); ok {
				to = append(to, back)
			} else if p.activity != noderun.Down {
				to = m.faults(s, id, p, to)
			}
		}
	}
	to = m.stopSteps(s, to)
	c := s.shared()
	if first := s.arriving(); len(first) > 0 {
		moving = true
		to = m.arrivals(s, to, first, m.Duplicate, c.lose > 0)
	}
	if len(c.timers) > 0 {
		moving = true
		to = m.fires(s, to)
	}
	return to, waiting && !moving && (!m.faulty || m.mustGoOn(s))
}

// arrivals appends what can happen to the messages on the way, of which first are the first ones:
// they arrive and, if allowed, arrive twice or get lost.
func (m *Model) arrivals(s state, to, first []Step, duplicate, lose bool) []Step {
	plain := !m.Sequenced && !m.faulty && !duplicate && !lose // all that is on the way may arrive, and nothing else
	if plain && !m.Unordered {
		return append(to, first...)
	}
	for k := range first {
		from, node := first[k].From, first[k].Node
		link := m.link(from, node)
		for _, i := range s.heads(link) {
			if plain {
				to = append(to, Step{Kind: dme.Receive, From: from, Node: node, Index: i})
				continue
			}
			if m.Sequenced && !m.audible(s, link, i) {
				continue
			}
			p := s.passage(link, i)
			if p.news != 0 {
				if i == 0 {
					to = append(to, Step{Kind: p.arrival(), From: from, Node: node})
				}
				break // what is behind it waits
			}
			to = append(to, Step{Kind: dme.Receive, From: from, Node: node, Index: i})
			if !duplicate && !lose || p.copied {
				continue // a second copy arrives or, like any copy, was never made
			}
			if duplicate {
				to = append(to, Step{Kind: dme.Copy, From: from, Node: node, Index: i})
			}
			if lose {
				to = append(to, Step{Kind: dme.Lose, From: from, Node: node, Index: i})
			}
		}
	}
	return to
}

func (m *Model) fires(s state, to []Step) []Step {
	for i, t := range s.shared().timers {
		if m.mayFire(s, i) {
			to = append(to, Step{Kind: dme.Timeout, Node: t.Node, Timer: t.ID})
		}
	}
	return to
}

func (m *Model) stopSteps(s state, to []Step) []Step {
	if !m.Stops || !m.StopEarly && !m.served(s) {
		return to
	}
	for id := range m.IDs() {
		if m.mayStop(s.process(id)) {
			to = append(to, Step{Kind: dme.Stop, Node: id})
		}
	}
	return to
}

// mayStop reports whether a node may be told to stop: all have been served, or the model does not
// ask for that.
func (m *Model) mayStop(p *process) bool {
	return p.requests == 0 && !p.stopped && p.activity != noderun.Down
}

// served reports whether all requests have been made, and their entries left.
func (m *Model) served(s state) bool {
	for id := range m.IDs() {
		p := s.process(id)
		if p.activity == noderun.Down {
			if _, back := m.comingBack(id, p); p.requests == 0 || !back {
				continue // there is nothing that it could still ask for
			}
		}
		if !p.served() {
			return false
		}
	}
	return true
}

// possible reports whether a step that was possible in one schedule is so in this one.
func (m *Model) possible(s state, x Step) bool {
	if x.Node < 1 || int(x.Node) > m.Nodes {
		return false
	}
	switch p := s.process(x.Node); x.Kind {
	case dme.Request:
		return p.mayAsk()
	case dme.RequestShared:
		return m.Shares && p.mayAsk()
	case dme.Exit:
		return p.activity == noderun.Inside
	case dme.Receive, dme.Copy, dme.Lose:
		link := m.link(x.From, x.Node)
		if x.Index < 0 || !m.mayArrive(s, link, x.Index) {
			return false
		}
		p := s.passage(link, x.Index)
		once := !p.copied
		return p.news == 0 && (x.Kind == dme.Receive || once && (x.Kind == dme.Copy && m.Duplicate || x.Kind == dme.Lose && s.shared().lose > 0))
	case dme.PeerDown, dme.PeerUp:
		link := m.link(x.From, x.Node)
		return x.Index == 0 && s.length(link) > 0 && s.passage(link, 0).arrival() == x.Kind
	case dme.Timeout:
		i := find(s.shared().timers, x.Node, x.Timer)
		return i >= 0 && m.mayFire(s, i)
	case dme.Stop:
		return m.Stops && m.mayStop(p) && (m.StopEarly || m.served(s))
	}
	return m.possibleFault(s, x)
}

// do takes a step, which must be possible, and returns the safety property that it breaks, nil if
// it breaks none.
func (m *Model) do(s state, x Step) *Violation {
	var via []mark
	switch x.Kind {
	case dme.Crash, dme.Restart, dme.Join, dme.Depart:
		return m.doFault(s, x)
	case dme.Timeout:
		m.disarm(s, x.Node, x.Timer)
	case dme.Receive, dme.Copy, dme.Lose, dme.PeerDown, dme.PeerUp:
		p := s.take(m.link(x.From, x.Node), x.Index, x.Kind == dme.Copy)
		if x.Kind == dme.Lose {
			s.edit().lose--
			s.keep()
			return nil
		}
		if p.broadcast {
			m.heard(s, *p)
		}
		via = p.marks
	}
	return m.apply(s, x.Node, via, s.run(x))
}

// apply carries out what a handler has done in answer to a message with marks: timers, messages, entry.
func (m *Model) apply(s state, id dme.NodeID, via []mark, o *outcome) *Violation {
	if o.fatal() {
		return o.broken
	}
	if len(o.timers) > 0 {
		via = m.setTimers(s, o.timers, via)
	}
	var marks []mark
	if len(via) > 0 {
		marks = carryOver(via, s.shared().timers)
	}
	s.post(marks)
	if len(o.timers) > 0 {
		m.markAll(s, o.timers)
	}
	if o.entered {
		if bad := m.entry(s, id); bad != nil {
			return bad
		}
	}
	if o.left {
		m.vanish(s, id)
	}
	return o.broken
}

// entry judges the entry of a node that is inside by now.
func (m *Model) entry(s state, id dme.NodeID) (bad *Violation) {
	reads := s.process(id).reads
	for other := dme.NodeID(1); int(other) <= m.Nodes; other++ {
		if p := s.process(other); p.activity == noderun.Inside && other != id && !m.Fenced && !(reads && p.reads) {
			bad = twoInside(other, id, p.reads, reads)
		}
	}
	if s.shared().overtaken == nil {
		return bad
	}
	c := s.edit()
	c.overtaken[id] = 0
	for other := dme.NodeID(1); int(other) <= m.Nodes; other++ {
		if other == id || s.process(other).activity != noderun.Requesting {
			continue
		}
		c.overtaken[other]++
		if bad == nil && m.Bypass > 0 && c.overtaken[other] > m.Bypass {
			bad = violated(Overtaking, other, "is overtaken: %d entries of others since it asked, more than %d", m.Bypass+1, m.Bypass)
		}
	}
	s.keep()
	return bad
}
