package vnet

import (
	"fmt"
	"math/bits"

	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
)

// Watch says which of an algorithm's invariants the states of a network are judged by.
type Watch uint8

// Those of the algorithm's options, if links give what it needs; none; those of its options, whatever
// the links do. What stands in for mutual exclusion, distinct fencing tokens, is judged in any case.
const (
	WatchWhereNeedsAreMet Watch = iota
	WatchNothing
	WatchAlways
)

func (m *Model) watched() []dme.Invariant {
	judgeable := m.Watch == WatchAlways || m.Watch == WatchWhereNeedsAreMet && m.meetsNeeds()
	var all []dme.Invariant
	for _, i := range m.Algorithm.Invariants {
		if (judgeable || i.Fencing) && (i.If == nil || i.If(m.Options)) && (i.Faults || len(m.Absent) == 0) {
			all = append(all, i)
		}
	}
	return all
}

// meetsNeeds reports whether links give what the algorithm needs, if it says what.
func (m *Model) meetsNeeds() bool {
	if m.Algorithm.Needs == nil {
		return false
	}
	needs := m.Algorithm.Needs(m.Options)
	return !(needs.FIFO && m.Unordered ||
		needs.Reliable && (m.Duplicate || m.Lose > 0) ||
		needs.SequencedBroadcast && !m.Sequenced ||
		needs.BoundedDelay && !m.Bounded)
}

func (x Step) disturbs() bool {
	switch x.Kind {
	case dme.Crash, dme.Restart, dme.Join, dme.Depart:
		return true
	}
	return false
}

// struck reports whether a node has crashed or left since the beginning.
func (m *Model) struck(s *shared) bool { return s.crashes < m.Crashes || s.departures < m.Departures }

func broken(i *dme.Invariant, err error) *Violation {
	return &Violation{Property(i.Name), fmt.Sprintf("%s: %v", i.Name, err), dme.Concerned(err)}
}

type judge struct {
	model   *Model
	setting dme.Setting
	state   seen
	round   uint64           // of the state
	nodes   []knownNode      // by node, from 1
	flights []dme.Flight     // of the state, once listed
	listed  bool             // whether flights are listed
	links   [][]knownLink    // by the nodes that they lead from and to, from 0; rows are made when they are needed
	whole   []*dme.Invariant // invariants about all nodes
	pairs   []*dme.Invariant // invariants about each two
	asked   *dme.Invariant   // last

	pair func(disturbed bool, a, b dme.NodeID) *Violation // what saves ofPair work; nil: nothing
}

type knownNode struct {
	node  dme.Node
	round uint64 // in which it is valid
}

type knownLink struct {
	messages []*dme.Message
	round    uint64 // in which they are valid
}

// seen is a state, as far as invariants see it.
type seen interface {
	process(id dme.NodeID) *process
	node(id dme.NodeID) dme.Node // of one that is up
	flying(to []dme.Flight) []dme.Flight
	flyingBetween(from, to dme.NodeID, messages []*dme.Message) []*dme.Message
}

var _ dme.GlobalView = (*judge)(nil)

func newJudge(m *Model) *judge {
	j := &judge{model: m, setting: m.setting(), nodes: make([]knownNode, m.Nodes+1), links: make([][]knownLink, m.Nodes)}
	for k := range m.Invariants {
		if i := &m.Invariants[k]; i.Pair != nil {
			j.pairs = append(j.pairs, i)
		} else {
			j.whole = append(j.whole, i)
		}
	}
	return j
}

// of returns an invariant that a state breaks, nil if all hold. Of those about each two nodes it
// asks only about pairs with node changed, or about all if that is None.
func (j *judge) of(s seen, disturbed bool, changed dme.NodeID) (bad *Violation) {
	j.state, j.listed = s, false
	j.round++
	defer j.recovered(&bad)
	if bad := j.ofWhole(disturbed); bad != nil || len(j.pairs) == 0 {
		return bad
	}
	nodes := dme.NodeID(j.model.Nodes)
	for a := dme.NodeID(1); a <= nodes; a++ {
		first, last := a, nodes
		if changed != dme.None {
			first, last = changed, changed
		}
		for b := first; b <= last; b++ {
			if j.pair != nil {
				bad = j.pair(disturbed, a, b)
			} else {
				bad = j.ofPair(disturbed, a, b)
			}
			if bad != nil {
				return bad
			}
		}
	}
	return nil
}

func (j *judge) ofWhole(disturbed bool) *Violation {
	for _, i := range j.whole {
		if disturbed && !i.Faults {
			continue
		}
		j.asked = i
		if err := i.Holds(j); err != nil {
			return broken(i, err)
		}
	}
	return nil
}

func (j *judge) ofPair(disturbed bool, a, b dme.NodeID) *Violation {
	if j.state.process(a).activity == noderun.Down || j.state.process(b).activity == noderun.Down {
		return nil
	}
	for _, i := range j.pairs {
		if disturbed && !i.Faults {
			continue
		}
		j.asked = i
		err := i.Pair(j, a, b)
		if err == nil && a != b {
			err = i.Pair(j, b, a)
		}
		if err != nil {
			return broken(i, err)
		}
	}
	return nil
}

// recovered ends the panic of an invariant, which must not look like a fault of the search.
func (j *judge) recovered(bad **Violation) {
	if r := recover(); r != nil {
		*bad = broken(j.asked, fmt.Errorf("the invariant itself panics: %v", r))
	}
}

// Setting implements [dme.GlobalView], as do the following.
func (j *judge) Setting() dme.Setting { return j.setting }

func (j *judge) Activity(id dme.NodeID) dme.Activity { return j.state.process(id).activity }

func (j *judge) Reads(id dme.NodeID) bool {
	p := j.state.process(id)
	return p.reads && (p.activity == noderun.Requesting || p.activity == noderun.Inside)
}

func (j *judge) Node(id dme.NodeID) dme.Node {
	k := &j.nodes[id]
	if k.round != j.round {
		k.round, k.node = j.round, nil
		if j.state.process(id).activity != noderun.Down {
			k.node = j.state.node(id)
		}
	}
	return k.node
}

func (j *judge) InFlight() []dme.Flight {
	if !j.listed {
		j.flights, j.listed = j.state.flying(j.flights[:0]), true
	}
	return j.flights
}

func (j *judge) Between(from, to dme.NodeID) []*dme.Message {
	row := &j.links[from-1]
	if *row == nil {
		*row = make([]knownLink, j.model.Nodes)
	}
	k := &(*row)[to-1]
	if k.round != j.round {
		k.round, k.messages = j.round, j.state.flyingBetween(from, to, k.messages[:0])
	}
	return k.messages
}

// What follows shows a network of nodes that run.

// judgeState notes an invariant that does not hold now, if nothing has been broken before. A step
// changes the node that takes it, and what is on its way to it and from it: no pair of other nodes.
// None: everything may have changed.
func (n *Network) judgeState(changed dme.NodeID) {
	if n.Violation != nil {
		return
	}
	if n.judgeAll {
		changed, n.judgeAll = dme.None, false
	}
	n.Violation = n.judge.of(n, n.disturbed, changed)
}

// Unwatch ends the judgement by invariants: something happens that proofs rule out.
func (n *Network) Unwatch() { n.judge = nil }

// Broken returns the invariant that does not hold now, of all that are watched; nil if all hold. It
// is for tests that have changed a node by hand.
func (n *Network) Broken() *Violation {
	if len(n.Invariants) == 0 {
		return nil
	}
	return newJudge(n.Model).of(n, n.disturbed, dme.None)
}

func unjudged(m *Model) *Network {
	plain := *m
	plain.Invariants = nil
	return New(&plain)
}

func (n *Network) node(id dme.NodeID) dme.Node { return dme.Unwrap(n.runners[id].Node()) }

func (n *Network) flying(to []dme.Flight) []dme.Flight {
	for _, first := range n.occupied {
		held := n.links[n.link(first.From, first.Node)].messages
		for i := range held {
			if held[i].news == 0 {
				to = append(to, dme.Flight{From: first.From, To: first.Node, Message: &held[i].msg})
			}
		}
	}
	return to
}

func (n *Network) flyingBetween(from, to dme.NodeID, messages []*dme.Message) []*dme.Message {
	held := n.links[n.link(from, to)].messages
	for i := range held {
		if held[i].news == 0 {
			messages = append(messages, &held[i].msg)
		}
	}
	return messages
}

// What follows shows a state of a space.

// decoded keeps nodes and messages of a space that invariants have looked at:
// the same ones come back in state after state. Its size is bounded; what is
// looked at seldom makes room for what is looked at now.
type decoded struct {
	room     room
	nodes    [][]decodedNode // by node, from 1, and by place
	messages []decodedMessage
	pairs    []heldPair
	replaced int // pairs, since there is room for so many
	bytes    int // approximate size of all of it
}

// heldPair is a pair of nodes and the links between them for which the invariants hold: the numbers
// of the local states, each plus one, and of the queues from one to the other; with disturbed in
// the highest bit, which no number reaches.
type heldPair struct{ nodes, links uint64 }

// place is where a pair is kept, if it is.
func (d *decoded) place(p heldPair) *heldPair {
	return &d.pairs[scatter(p.nodes^bits.RotateLeft64(p.links, 15))&uint64(len(d.pairs)-1)]
}

// replace keeps a pair in its place and, if many have lost theirs so, makes more room.
func (d *decoded) replace(p heldPair) {
	at := d.place(p)
	if *at != (heldPair{}) {
		d.replaced++
	}
	*at = p
	if d.replaced > len(d.pairs)/4 && len(d.pairs) < int(d.room.pairs) {
		old := d.pairs
		d.makePairs(4 * len(old))
		for _, p := range old {
			if p != (heldPair{}) {
				*d.place(p) = p
			}
		}
	}
}

func (d *decoded) makePairs(many int) {
	many = min(many, int(d.room.pairs))
	d.bytes += pairBytes * (many - len(d.pairs))
	d.pairs, d.replaced = make([]heldPair, many), 0
}

// decodedNode is the node of a local state, loaded again and again.
type decodedNode struct {
	number uint32 // of the local state, plus one
	node   dme.Node
}

type decodedMessage struct {
	number  uint32 // of the message, plus one
	message *dme.Message
}

// room is how many of each are kept at most: powers of two.
type room struct{ nodes, messages, pairs uint32 }

var enoughRoom = room{nodes: 1 << 10, messages: 1 << 12, pairs: 1 << 18}

const (
	// The approximate size of a node and of a message beside their saved bytes.
	nodeBytes    = 512
	messageBytes = 160
	pairBytes    = 16
)

// Broken returns the invariant that does not hold in state v; nil if all that are watched hold. If
// they held before a step, changed is the node that took it: of pairs only those with that node are
// looked at. With [dme.None] it is all.
func (w *Walker) Broken(v []uint32, changed dme.NodeID) *Violation {
	if w.judge == nil {
		return nil
	}
	copy(w.Next, v)
	return w.judge.of(w, w.faulty && w.struck(w.shared()), changed)
}

// brokenPair asks about a pair of nodes, unless the two and what is between them were the same before.
func (w *Walker) brokenPair(disturbed bool, a, b dme.NodeID) *Violation {
	d := &w.decoded
	if d.pairs == nil {
		d.makePairs(1 << 12)
	}
	pair := heldPair{nodes: uint64(w.Next[a-1]+1)<<32 | uint64(w.Next[b-1]+1)}
	if disturbed {
		pair.nodes |= 1 << 63
	}
	if place := w.places[w.link(a, b)]; place > 0 {
		pair.links = uint64(w.Next[place]) << 32
	}
	if place := w.places[w.link(b, a)]; place > 0 {
		pair.links |= uint64(w.Next[place])
	}
	if *d.place(pair) == pair {
		return nil
	}
	bad := w.judge.ofPair(disturbed, a, b)
	if bad == nil {
		d.replace(pair)
	}
	return bad
}

func (w *Walker) node(id dme.NodeID) dme.Node {
	d := &w.decoded
	if d.nodes[id] == nil {
		d.nodes[id] = make([]decodedNode, d.room.nodes)
	}
	number := w.Next[id-1]
	at := &d.nodes[id][number&(d.room.nodes-1)]
	if at.number == number+1 {
		return dme.Unwrap(at.node)
	}
	if at.node == nil {
		at.node = w.System.Node(id)
		d.bytes += nodeBytes + 2*len(w.locals.at(number).state)
	}
	w.locals.at(number).load(at.node)
	at.number = number + 1
	return dme.Unwrap(at.node)
}

// message returns a message. One that has been returned stays as it is, since the
// same state may hold another that takes its place.
func (w *Walker) message(number uint32) *dme.Message {
	d := &w.decoded
	if d.messages == nil {
		d.messages = make([]decodedMessage, d.room.messages)
	}
	at := &d.messages[number&(d.room.messages-1)]
	if at.number == number+1 {
		return at.message
	}
	if at.message == nil {
		d.bytes += messageBytes + len(w.messages.at(number).body)
	}
	m := new(dme.Message)
	w.messages.at(number).decode(m)
	at.number, at.message = number+1, m
	return m
}

func (w *Walker) flying(to []dme.Flight) []dme.Flight {
	for place, queue := range w.Next[w.Nodes : w.width-1] {
		if queue == 0 {
			continue
		}
		link := w.firsts[place]
		for _, number := range w.queues.at(queue).messages {
			if x := w.messages.at(number); x.news == 0 {
				to = append(to, dme.Flight{From: link.From, To: link.Node, Message: w.message(x.plain)})
			}
		}
	}
	return to
}

func (w *Walker) flyingBetween(from, to dme.NodeID, messages []*dme.Message) []*dme.Message {
	place := w.places[w.link(from, to)]
	if place == 0 {
		return messages
	}
	for _, number := range w.queues.at(w.Next[place]).messages {
		if x := w.messages.at(number); x.news == 0 {
			messages = append(messages, w.message(x.plain))
		}
	}
	return messages
}
