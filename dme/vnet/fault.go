package vnet

import (
	"errors"
	"slices"

	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
)

// News that a node is down or up travels on the links to the others, behind what
// the node had sent and before what its next incarnation sends.

// arrival is the step in which what a link holds arrives.
func (p *passage) arrival() dme.EventKind {
	if p.news != 0 {
		return p.news
	}
	return dme.Receive
}

// Member is where a node stands in the system.
type Member struct {
	Down    bool // no process runs it: it crashed, has left, or has not joined yet
	Absent  bool // not part of the system: not joined yet, or gone
	Leaving bool // about to leave, but still here
	Paused  bool // paused: receives nothing
}

// May reports whether a node may crash, restart, join or depart: the rules of membership of every
// runtime. One that may crash may also be paused.
func (m Member) May(do dme.EventKind) bool {
	switch do {
	case dme.Crash:
		return !m.Down
	case dme.Restart:
		return m.Down && !m.Absent
	case dme.Join:
		return m.Down && m.Absent
	case dme.Depart:
		return !m.Down && !m.Leaving && !m.Paused
	}
	return false
}

// News tells the nodes that are there that a node has come, or gone. A node that has come hears
// which are down, and which are up of those that were absent at the start.
func News(
	nodes int, node dme.NodeID, comes bool, absent []dme.NodeID, down func(dme.NodeID) bool, announce func(about, to dme.NodeID, up bool),
) {
	for other := range dme.Others(nodes, node) {
		there := !down(other)
		if there {
			announce(node, other, comes)
		}
		if comes && (!there || slices.Contains(absent, other)) {
			announce(other, node, there)
		}
	}
}

func (m *Model) prepareFaults(node dme.Node) error {
	m.faulty = m.Faults || m.Crashes > 0 || m.Departures > 0 || len(m.Absent) > 0
	_, m.restarts = node.(dme.Restarter)
	_, m.members = node.(dme.Member)
	switch {
	case m.faulty && m.Sequenced:
		return errors.New("vnet: what becomes of a sequenced medium when a node crashes is not defined")
	case len(m.Absent) > 0 && !m.members:
		return errors.New("vnet: nodes of " + m.Algorithm.Name + " cannot join")
	}
	return nil
}

// RestartsNodes reports whether nodes that crashed may come back.
func (m *Model) RestartsNodes() bool { return m.restarts && m.Restarts }

// comingBack is the step by which a node that is down becomes part of the system again, if
// it may.
func (m *Model) comingBack(id dme.NodeID, p *process) (x Step, ok bool) {
	switch {
	case p.activity != noderun.Down:
	case p.absent:
		return Step{Kind: dme.Join, Node: id}, m.members
	default:
		return Step{Kind: dme.Restart, Node: id}, m.RestartsNodes()
	}
	return x, false
}

func (m *Model) faults(s state, id dme.NodeID, p *process, to []Step) []Step {
	c := s.shared()
	if c.crashes > 0 {
		to = append(to, Step{Kind: dme.Crash, Node: id})
	}
	if c.departures > 0 && m.members && p.activity == noderun.Idle && p.member().May(dme.Depart) {
		to = append(to, Step{Kind: dme.Depart, Node: id})
	}
	return to
}

// possibleFault reports whether a step of a node that comes or goes is possible. If the
// configuration leaves faults to the caller, any that makes sense is.
func (m *Model) possibleFault(s state, x Step) bool {
	p, c := s.process(x.Node), s.shared()
	if !p.member().May(x.Kind) {
		return false
	}
	switch x.Kind {
	case dme.Crash:
		return c.crashes > 0 || m.Faults
	case dme.Restart:
		return m.restarts && (m.Faults || m.Restarts)
	case dme.Join:
		return m.members
	}
	return m.members && p.activity == noderun.Idle && (c.departures > 0 || m.Faults)
}

// severed reports whether a message is lost: its receiver is down, or not known to be up yet.
func (m *Model) severed(s state, from, to dme.NodeID) bool {
	if s.process(to).activity == noderun.Down {
		return true
	}
	link := m.link(to, from)
	for i := range s.length(link) {
		if s.passage(link, i).news != 0 {
			return true
		}
	}
	return false
}

// vanish takes a node out of the network: what is on its way to it is lost, its
// timers with it, and the others will hear that it is down.
func (m *Model) vanish(s state, node dme.NodeID) {
	for t := firstOf(s.shared().timers, node); t != nil; t = firstOf(s.shared().timers, node) {
		m.disarm(s, node, t.ID)
	}
	for other := range dme.Others(m.Nodes, node) {
		s.empty(m.link(other, node))
	}
	m.news(s, node, false)
}

// news tells the nodes that one has come, or gone.
func (m *Model) news(s state, node dme.NodeID, comes bool) {
	down := func(id dme.NodeID) bool { return s.process(id).activity == noderun.Down }
	News(m.Nodes, node, comes, m.Absent, down, func(about, to dme.NodeID, up bool) {
		what := dme.PeerDown
		if up {
			what = dme.PeerUp
		}
		s.announce(about, to, what)
	})
}

func firstOf(timers []Timer, node dme.NodeID) *Timer {
	for i := range timers {
		if timers[i].Node == node {
			return &timers[i]
		}
	}
	return nil
}

func (m *Model) doFault(s state, x Step) *Violation {
	switch x.Kind {
	case dme.Crash:
		if c := s.edit(); c.crashes > 0 {
			c.crashes--
		}
		s.keep()
		m.vanish(s, x.Node)
	case dme.Depart:
		if c := s.edit(); c.departures > 0 {
			c.departures--
		}
		s.keep()
	case dme.Restart, dme.Join:
		m.news(s, x.Node, true)
	}
	if x.Kind != dme.Depart && s.shared().overtaken != nil {
		s.edit().overtaken[x.Node] = 0
		s.keep()
	}
	return m.apply(s, x.Node, nil, s.run(x))
}

// mustGoOn reports whether waiting nodes must be served although nothing happens but that nodes
// come back.
func (m *Model) mustGoOn(s state) bool {
	var down []dme.NodeID
	awaited := false
	for id := range m.IDs() {
		if p := s.process(id); p.activity == noderun.Down {
			down = append(down, id)
			_, back := m.comingBack(id, p)
			awaited = awaited || back
		}
	}
	switch {
	case down == nil:
		return true
	case m.Algorithm.Survives != nil:
		return m.Algorithm.Survives(m.setting(), down)
	}
	return !awaited
}

// Hopeless reports whether more nodes are down than the algorithm survives, so that no request need
// be served.
func (n *Network) Hopeless() bool { return !n.mustGoOn(n) }

func (m *Model) setting() dme.Setting {
	return dme.Setting{Algorithm: m.Algorithm, Nodes: m.Nodes, Options: m.Options, System: m.prepared}
}
