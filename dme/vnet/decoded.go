package vnet

import "dmebench/dme"

// decoded keeps nodes and messages of a space that invariants have looked at:
// the same ones come back in state after state. Its size is bounded; what is
// looked at seldom makes room for what is looked at now.
type decoded struct {
	room     room
	nodes    [][]decodedNode // by node, from 1, and by place
	messages []decodedMessage
	pairs    []heldPair
	bytes    int // that all of it takes, about
}

// heldPair is a pair of nodes with the links between them, by their numbers in a
// vector, of which the invariants hold.
type heldPair struct {
	a, b      uint32 // the local states, each plus one
	out, back uint32 // the queues from one to the other
	disturbed bool
}

// decodedNode is the node of a local state. Each place has a node of its own,
// which is loaded again and again.
type decodedNode struct {
	number uint32 // of the local state, plus one
	node   dme.Node
}

type decodedMessage struct {
	number  uint32 // of the message, plus one
	message *dme.Message
}

// room is how many places there are: for each node, for messages, for pairs.
type room struct{ nodes, messages, pairs uint32 }

var enoughRoom = room{nodes: 1 << 10, messages: 1 << 12, pairs: 1 << 14}

const (
	// What a node and a message take beside their saved bytes, about.
	nodeBytes    = 512
	messageBytes = 160
	pairBytes    = 20
)

// Broken returns the invariant that does not hold in state v, of all that are
// watched; nil where all hold.
func (w *Walker) Broken(v []uint32) (bad *Violation) {
	if w.judge == nil {
		return nil
	}
	copy(w.Next, v)
	disturbed := w.faulty && w.struck(w.shared())
	w.judge.look(w)
	defer w.judge.recovered(&bad)
	if bad := w.judge.ofWhole(disturbed); bad != nil || len(w.judge.pairs) == 0 {
		return bad
	}
	for a := range w.IDs() {
		for b := a; int(b) <= w.Nodes; b++ {
			if bad := w.brokenPair(disturbed, a, b); bad != nil {
				return bad
			}
		}
	}
	return nil
}

// brokenPair asks the invariants about a pair of nodes, unless it has been asked with
// the same states of the two and the same messages between them.
func (w *Walker) brokenPair(disturbed bool, a, b dme.NodeID) *Violation {
	d := &w.decoded
	if d.pairs == nil {
		d.pairs = make([]heldPair, d.room.pairs)
		d.bytes += pairBytes * len(d.pairs)
	}
	pair := heldPair{a: w.Next[a-1] + 1, b: w.Next[b-1] + 1, disturbed: disturbed}
	if place := w.places[w.link(a, b)]; place > 0 {
		pair.out = w.Next[place]
	}
	if place := w.places[w.link(b, a)]; place > 0 {
		pair.back = w.Next[place]
	}
	at := &d.pairs[scatter(uint64(pair.a)<<40^uint64(pair.b)<<20^uint64(pair.out)<<10^uint64(pair.back))%uint64(d.room.pairs)]
	if *at == pair {
		return nil
	}
	bad := w.judge.ofPair(disturbed, a, b)
	if bad == nil {
		*at = pair
	}
	return bad
}

func (w *Walker) node(id dme.NodeID) dme.Node {
	d := &w.decoded
	if d.nodes[id] == nil {
		d.nodes[id] = make([]decodedNode, d.room.nodes)
	}
	number := w.Next[id-1]
	at := &d.nodes[id][number%d.room.nodes]
	if at.number == number+1 {
		return made(at.node)
	}
	if at.node == nil {
		at.node = w.System.Node(id)
		d.bytes += nodeBytes + 2*len(w.locals.at(number).state)
	}
	w.locals.at(number).load(at.node)
	at.number = number + 1
	return made(at.node)
}

// message returns a message. One that has been returned stays as it is, since the
// same state may hold another that takes its place.
func (w *Walker) message(number uint32) *dme.Message {
	d := &w.decoded
	if d.messages == nil {
		d.messages = make([]decodedMessage, d.room.messages)
	}
	at := &d.messages[number%d.room.messages]
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
			if x := w.messages.at(number); x.news == noNews {
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
		if x := w.messages.at(number); x.news == noNews {
			messages = append(messages, w.message(x.plain))
		}
	}
	return messages
}
