package vnet

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
)

// Space holds the states of a model as vectors of numbers, for searches that
// keep millions: a number for each node, for each link, and for what belongs to
// neither. It may be used by several goroutines, each with a [Walker].
type Space struct {
	*Model
	components
	places []int32 // of the links in a vector, by [Model.link]; 0 if nothing is ever sent
	firsts []Step  // the arrival of a first message, in the order of the links' places
	width  int     // of a vector

	sleeping bool    // there are sleep sets
	atNode   []Sleep // by node, from 1: all its steps
}

// NewSpace returns the space of a model's states.
func NewSpace(m *Model) *Space {
	s := &Space{Model: m, places: make([]int32, m.Nodes*m.Nodes), sleeping: m.sleeps(), atNode: make([]Sleep, m.Nodes+1)}
	s.queueOf(nil, nil) // the empty queue is number 0
	for from := range m.IDs() {
		for to := range m.IDs() {
			if from != to || m.Sequenced {
				s.places[m.link(from, to)] = int32(m.Nodes + len(s.firsts))
				s.firsts = append(s.firsts, Step{Kind: dme.Receive, From: from, Node: to})
			}
		}
	}
	s.width = m.Nodes + len(s.firsts) + 1
	for id := range m.IDs() {
		s.atNode[id] = s.SleepOf(Step{Kind: dme.Request, Node: id})
	}
	for _, x := range s.firsts {
		s.atNode[x.Node] |= s.SleepOf(x)
	}
	return s
}

// Width is the length of a vector.
func (s *Space) Width() int { return s.width }

// Footprint is the approximate size in bytes of the components found so far.
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

// In returns the step of a network in state v that x is in v: another if links keep no order.
func (s *Space) In(n *Network, v []uint32, x Step) (Step, bool) {
	return s.in(n, v, x, func(message uint32) uint32 { return message })
}

// in is In where a message of the network is, in v, what as says.
func (s *Space) in(n *Network, v []uint32, x Step, as func(message uint32) uint32) (Step, bool) {
	if !x.ofMessage() || !s.Unordered {
		return x, n.Possible(x)
	}
	link := s.link(x.From, x.Node)
	want := s.queues.at(v[s.places[link]]).messages[x.Index]
	for i, l := range n.links[link].messages {
		message, _ := s.messageOf(nil, l.passage, dme.AppendMessage(nil, &l.msg))
		if as(message) == want {
			x.Index = i
			return x, n.Possible(x)
		}
	}
	return x, false
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

// NeverSent returns the names of the kinds of messages that no state looked at has sent.
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

// MostOvertaken returns the most entries of others that a node has seen since it asked, in any
// state that was met; 0 if nothing bounds them, and they are not counted.
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

// sortBetweenNews orders the messages of a link without order by their hashes; news stay.
func (s *Space) sortBetweenNews(messages []uint32) {
	first := 0
	for i, p := range messages {
		if s.messages.at(p).news != 0 {
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

// Occupied reports which links hold something in state v: from f to t is number (f−1)·N+t−1.
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

// A state of the whole system is a vector of the numbers of its components:
// each node with its local process, each link, and what belongs to neither. The
// same components come back in state after state, so they are kept once.

type local struct {
	Hash
	process
	state string // as saved
	id    dme.NodeID
}

type message struct {
	Hash
	passage
	plain uint32 // the same content on its first way, without marks
	body  string // the message's wire form
}

// load puts a node into the state. That fails for a fault of the node alone, which has saved it.
func (x *local) load(n dme.Node) {
	if _, err := dme.LoadState([]byte(x.state), n); err != nil {
		panic("vnet: " + err.Error())
	}
}

func (x *message) decode(m *dme.Message) {
	if err := dme.DecodeMessage([]byte(x.body), m, nil); err != nil {
		panic("vnet: " + err.Error())
	}
}

// queue is what a link holds: in order of sending or, if links do not keep
// order, in order of hashes, so that equal contents are equal queues.
type queue struct {
	Hash
	messages []uint32
}

// rest is what belongs to the whole network. There is hardly ever more than one.
type rest struct {
	Hash
	shared
}

// components are all that have been met. The empty queue is number 0.
type components struct {
	locals   pool[local]
	messages pool[message]
	queues   pool[queue]
	rests    pool[rest]
}

const (
	flagReads = 1 << iota
	flagStopped
	flagLeaving
	flagAbsent
)

// localOf returns the number of node id with its local process; b is scratch.
func (c *components) localOf(b []byte, id dme.NodeID, p process, n dme.Node) (uint32, []byte) {
	flags := byte(0)
	if p.reads = p.reads && p.activity != noderun.Idle; p.reads {
		flags |= flagReads
	}
	if p.stopped {
		flags |= flagStopped
	}
	if p.leaving {
		flags |= flagLeaving
	}
	if p.absent {
		flags |= flagAbsent
	}
	b = append(b[:0], byte(p.activity), flags)
	b = binary.AppendUvarint(b, uint64(id))
	b = binary.AppendUvarint(b, uint64(p.requests))
	header := len(b)
	b = dme.SaveState(b, n)
	number := c.locals.id(b, func(to *local, _ uint32, key string) {
		*to = local{hashOf([]byte("node " + key)), p, key[header:], id}
	})
	return number, b
}

// messageOf returns the number of a message; b is scratch.
func (c *components) messageOf(b []byte, p passage, body []byte) (uint32, []byte) {
	plain, b := c.number(b, passage{From: p.From, To: p.To, news: p.news}, body, 0)
	return c.variantOf(b, p, c.messages.at(plain))
}

// variantOf returns the number of a message with the content of x; b is scratch.
func (c *components) variantOf(b []byte, p passage, x *message) (uint32, []byte) {
	if p.isPlain() {
		return x.plain, b
	}
	return c.number(b, p, []byte(x.body), x.plain)
}

// isPlain reports whether a message is on its first way, without marks.
func (p *passage) isPlain() bool { return !p.copied && !p.broadcast && len(p.marks) == 0 }

func (c *components) number(b []byte, p passage, body []byte, plain uint32) (uint32, []byte) {
	b = binary.AppendUvarint(b[:0], uint64(p.From))
	b = binary.AppendUvarint(b, uint64(p.To))
	switch {
	case p.broadcast && p.copied:
		b = binary.AppendUvarint(append(b, 5), uint64(p.place))
	case p.broadcast:
		b = binary.AppendUvarint(append(b, 2), uint64(p.place))
	case p.copied:
		b = append(b, 1)
	case p.news != 0:
		b = append(b, 3+byte(p.news-dme.PeerDown))
	default:
		b = append(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(p.marks)))
	for _, m := range p.marks {
		b = binary.AppendUvarint(b, uint64(m.node))
		b = append(b, byte(m.id))
		b = binary.AppendUvarint(b, uint64(m.hops))
	}
	header := len(b)
	b = append(b, body...)
	id := c.messages.id(b, func(x *message, id uint32, key string) {
		if p.isPlain() {
			plain = id
		}
		p.marks = slices.Clone(p.marks)
		*x = message{hashOf([]byte("message " + key)), p, plain, key[header:]}
	})
	return id, b
}

func (c *components) queueOf(b []byte, messages []uint32) (uint32, []byte) {
	b = b[:0]
	for _, p := range messages {
		b = binary.LittleEndian.AppendUint32(b, p)
	}
	id := c.queues.id(b, func(x *queue, _ uint32, _ string) {
		x.messages = slices.Clone(messages)
		if len(messages) == 0 {
			return // links that hold nothing add nothing to a state's hash
		}
		var all strings.Builder
		all.WriteString("link ")
		for _, p := range messages {
			h := c.messages.at(p).Hash
			all.Write(binary.LittleEndian.AppendUint64(nil, h.A))
			all.Write(binary.LittleEndian.AppendUint64(nil, h.B))
		}
		x.Hash = hashOf([]byte(all.String()))
	})
	return id, b
}

func (c *components) restOf(b []byte, x *shared) (uint32, []byte) {
	b = binary.AppendUvarint(b[:0], uint64(x.lose))
	for _, n := range x.overtaken {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, t := range x.timers {
		b = binary.AppendUvarint(b, uint64(t.Node))
		b = append(b, byte(t.ID))
		b = binary.AppendUvarint(b, uint64(t.Delay))
	}
	if x.crashes > 0 || x.departures > 0 {
		b = append(b, 0) // no timer is of node 0
		b = binary.AppendUvarint(b, uint64(x.crashes))
		b = binary.AppendUvarint(b, uint64(x.departures))
	}
	id := c.rests.id(b, func(to *rest, _ uint32, key string) {
		*to = rest{hashOf([]byte("rest " + key)), shared{x.lose, x.crashes, x.departures, slices.Clone(x.overtaken), slices.Clone(x.timers)}}
	})
	return id, b
}
