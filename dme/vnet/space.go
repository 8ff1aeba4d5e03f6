package vnet

import (
	"cmp"
	"slices"

	"dmebench/dme"
	"dmebench/internal/noderun"
)

// Space holds the states of a model as vectors of numbers, for searches that
// keep millions: a number for each node, for each link, and for what belongs to
// neither. It may be used by several goroutines, each with a [Walker].
type Space struct {
	*Model
	components
	places []int32 // of the links in a vector, by [Model.link]; 0 where nothing is ever sent
	firsts []Step  // the arrival of a first message, in the order of the links' places
	width  int     // of a vector
}

// NewSpace returns the space of a model's states.
func NewSpace(m *Model) *Space {
	s := &Space{Model: m, places: make([]int32, m.Nodes*m.Nodes)}
	s.queueOf(nil, nil) // the empty queue is number 0
	for from := range m.IDs() {
		for to := range m.IDs() {
			if from != to || m.Sequenced {
				s.places[m.link(from, to)] = int32(m.Nodes + len(s.firsts))
				s.firsts = append(s.firsts, Step{Kind: Deliver, From: from, Node: to})
			}
		}
	}
	s.width = m.Nodes + len(s.firsts) + 1
	return s
}

// Width is the length of a vector.
func (s *Space) Width() int { return s.width }

// Footprint is how many bytes of memory the components take that have been met,
// about.
func (s *Space) Footprint() int {
	// A queue keeps its messages' numbers as they are, and as bytes.
	return int(s.locals.bytes.Load() + s.messages.bytes.Load() + 2*s.queues.bytes.Load() + s.rests.bytes.Load())
}

// Of returns the state in which a network of the model is, and its hash.
func (s *Space) Of(n *Network) (v []uint32, h Hash) {
	v = make([]uint32, s.width)
	var b []byte
	for id := range s.IDs() {
		v[id-1], b = s.localOf(b, id, n.processes[id], n.runners[id].Node())
		h = h.plus(s.locals.at(v[id-1]).Hash)
	}
	for _, x := range n.occupied {
		link := s.link(x.From, x.Node)
		var messages []uint32
		for _, l := range n.links[link].messages {
			var p uint32
			p, b = s.messageOf(b, l.passage, dme.AppendMessage(nil, &l.msg))
			messages = append(messages, p)
		}
		if s.Unordered {
			s.sortBetweenNews(messages)
		}
		place := s.places[link]
		v[place], b = s.queueOf(b, messages)
		h = h.plus(s.queues.at(v[place]).Hash)
	}
	r := shared{lose: n.common.lose, crashes: n.common.crashes, departures: n.common.departures, timers: n.common.timers}
	if s.Bypass > 0 {
		r.overtaken = make([]int, s.Nodes+1)
		for _, id := range n.Waiting() {
			r.overtaken[id] = n.common.overtaken[id]
		}
	}
	v[s.width-1], _ = s.restOf(b, &r)
	return v, h.plus(s.rests.at(v[s.width-1]).Hash)
}

// HashOf returns the hash of a state.
func (s *Space) HashOf(v []uint32) Hash {
	h := s.rests.at(v[s.width-1]).Hash
	for _, id := range v[:s.Nodes] {
		h = h.plus(s.locals.at(id).Hash)
	}
	for _, id := range v[s.Nodes : s.width-1] {
		h = h.plus(s.queues.at(id).Hash)
	}
	return h
}

// NeverSent returns the kinds of messages that no step has sent from any state that
// was looked at, by their names.
func (s *Space) NeverSent() []string {
	var sent [dme.MaxKinds + 1]bool
	for id := range s.messages.len() {
		var m dme.Message
		s.messages.at(uint32(id)).decode(&m)
		sent[m.Kind] = true
	}
	var names []string
	for i, name := range s.Algorithm.Kinds {
		if !sent[i+1] {
			names = append(names, name)
		}
	}
	return names
}

// MostOvertaken returns the most entries of others that a node has seen since it asked,
// in any state that was met; 0 where nothing bounds them, and they are not counted.
func (s *Space) MostOvertaken() int {
	most := 0
	for id := range uint32(s.rests.len()) {
		for _, n := range s.rests.at(id).overtaken {
			most = max(most, n)
		}
	}
	return most
}

// compare orders the messages of a link that does not keep order.
func (s *Space) compare(p, q uint32) int {
	x, y := s.messages.at(p).Hash, s.messages.at(q).Hash
	return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
}

// sortBetweenNews puts the messages of a link that does not keep order into the
// order of their hashes; news stay where they are.
func (s *Space) sortBetweenNews(messages []uint32) {
	first := 0
	for i, p := range messages {
		if s.messages.at(p).news != noNews {
			slices.SortFunc(messages[first:i], s.compare)
			first = i + 1
		}
	}
	slices.SortFunc(messages[first:], s.compare)
}

// Is reports which nodes of state v wait, and which are inside: node i is bit i−1.
func (s *Space) Is(v []uint32) (waiting, inside uint32) {
	for i, id := range v[:s.Nodes] {
		switch s.locals.at(id).activity {
		case noderun.Requesting:
			waiting |= 1 << i
		case noderun.Inside:
			inside |= 1 << i
		}
	}
	return waiting, inside
}

// Occupied reports which links hold something in state v: the link that leads
// from node f to node t is number (f−1)·N+t−1.
func (s *Space) Occupied(v []uint32, link func(number int)) {
	for i, queue := range v[s.Nodes : s.width-1] {
		if queue != 0 {
			link(s.link(s.firsts[i].From, s.firsts[i].Node))
		}
	}
}

// Longest is how many messages the fullest link holds in state v.
func (s *Space) Longest(v []uint32) (most int) {
	for _, queue := range v[s.Nodes : s.width-1] {
		most = max(most, len(s.queues.at(queue).messages))
	}
	return most
}
