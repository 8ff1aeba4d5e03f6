package vnet

import "dmebench/dme"

// decoded keeps nodes and messages of a space that invariants have looked at:
// the same ones come back in state after state. Its size is bounded; what is
// looked at seldom makes room for what is looked at now.
type decoded struct {
	nodes    [][]decodedNode // by node, from 1, and by place
	messages []decodedMessage
	bytes    int // that all of it takes, about
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

const (
	decodedNodes    = 1 << 10 // places for each node; a power of two
	decodedMessages = 1 << 12 // a power of two

	// What a node and a message take beside their saved bytes, about.
	nodeBytes    = 512
	messageBytes = 160
)

// Broken returns the invariant that does not hold in state v, of all that are
// watched; nil where all hold.
func (w *Walker) Broken(v []uint32) *Violation {
	if w.judge == nil {
		return nil
	}
	copy(w.Next, v)
	return w.judge.of(w, w.faulty && w.struck(w.shared()))
}

func (w *Walker) node(id dme.NodeID) dme.Node {
	d := &w.decoded
	if d.nodes[id] == nil {
		d.nodes[id] = make([]decodedNode, decodedNodes)
	}
	number := w.Next[id-1]
	at := &d.nodes[id][number%decodedNodes]
	if at.number == number+1 {
		return made(at.node)
	}
	if at.node == nil {
		at.node = w.System.Node(id)
		d.bytes += nodeBytes + 2*len(w.locals.at(number).state)
	}
	if _, err := dme.LoadState([]byte(w.locals.at(number).state), at.node); err != nil {
		panic("vnet: " + err.Error()) // it was saved by the same node
	}
	at.number = number + 1
	return made(at.node)
}

// message returns a message. One that has been returned stays as it is, since the
// same state may hold another that takes its place.
func (w *Walker) message(number uint32) *dme.Message {
	d := &w.decoded
	if d.messages == nil {
		d.messages = make([]decodedMessage, decodedMessages)
	}
	at := &d.messages[number%decodedMessages]
	if at.number == number+1 {
		return at.message
	}
	if at.message == nil {
		d.bytes += messageBytes + len(w.messages.at(number).body)
	}
	m := new(dme.Message)
	if err := dme.DecodeMessage([]byte(w.messages.at(number).body), m, nil); err != nil {
		panic("vnet: " + err.Error()) // it was encoded here
	}
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
