package vnet

import (
	"math/bits"

	"dmebench/dme"
)

// decoded keeps nodes and messages of a space that invariants have looked at:
// the same ones come back in state after state. Its size is bounded; what is
// looked at seldom makes room for what is looked at now.
type decoded struct {
	room     room
	nodes    [][]decodedNode // by node, from 1, and by place
	messages []decodedMessage
	pairs    []heldPair
	replaced int // pairs, since there is room for this many
	bytes    int // approximate size of all of it
}

// heldPair is a pair of nodes and the links between them for which the invariants hold: the numbers
// of the local states, each plus one, and of the queues from one to the other; with disturbed in
// the highest bit, which no number reaches.
type heldPair struct{ nodes, links uint64 }

// question is whether the invariants hold for a pair, and its hash.
type question struct {
	heldPair
	hash uint64
}

func (p heldPair) question() question {
	return question{p, scatter(p.nodes ^ bits.RotateLeft64(p.links, 15))}
}

// place is where a pair is kept, if it is.
func (d *decoded) place(q question) *heldPair { return &d.pairs[q.hash&uint64(len(d.pairs)-1)] }

// replace keeps a pair in its place and, if many have lost theirs so, makes more room.
func (d *decoded) replace(q question) {
	at := d.place(q)
	if *at != (heldPair{}) {
		d.replaced++
	}
	*at = q.heldPair
	if d.replaced > len(d.pairs)/4 && len(d.pairs) < int(d.room.pairs) {
		old := d.pairs
		d.makePairs(4 * len(old))
		for _, p := range old {
			if p != (heldPair{}) {
				*d.place(p.question()) = p
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

var enoughRoom = room{nodes: 1 << 10, messages: 1 << 12, pairs: 1 << 19}

const (
	// The approximate size of a node and of a message beside their saved bytes.
	nodeBytes    = 512
	messageBytes = 160
	pairBytes    = 16

	fewPairs = 1 << 12 // to begin with
)

// neighbours are two nodes, and the places of the links between them in a vector; 0 if there are none.
type neighbours struct {
	a, b        dme.NodeID
	there, back int32
}

// pairsWith lists the pairs with node c, which may be a pair of c and itself; all pairs if c is none.
func (s *Space) pairsWith(c dme.NodeID) []neighbours {
	var pairs []neighbours
	for a := range s.IDs() {
		for b := a; int(b) <= s.Nodes; b++ {
			if c == dme.None || c == a || c == b {
				pairs = append(pairs, neighbours{a, b, s.places[s.link(a, b)], s.places[s.link(b, a)]})
			}
		}
	}
	return pairs
}

// KeepAtMost bounds what is kept of pairs, in bytes, from 64 KiB on. It is called before any is judged.
func (w *Walker) KeepAtMost(bytes int) {
	for r := &w.decoded.room; r.pairs > fewPairs && pairBytes*int(r.pairs) > bytes; {
		r.pairs /= 2
	}
}

// FirstBroken returns the first of some states, by its index, that breaks an invariant, and what it
// breaks; nil if all hold that are watched. If they held before the step to state i, changed(i) is the
// node that took it: of pairs only those with that node are looked at. With [dme.None] it is all.
func (w *Walker) FirstBroken(vectors []uint32, changed func(i int) dme.NodeID) (state int, bad *Violation) {
	const together = 128 // whose questions stay in the processor's cache
	for first := 0; w.judge != nil && first*w.width < len(vectors); first += together {
		some := vectors[first*w.width : min((first+together)*w.width, len(vectors))]
		w.ask(some, func(i int) dme.NodeID { return changed(first + i) })
		if state, bad = w.answer(some); bad != nil {
			return first + state, bad
		}
	}
	return 0, nil
}

// Broken is FirstBroken for one state.
func (w *Walker) Broken(v []uint32, changed dme.NodeID) *Violation {
	_, bad := w.FirstBroken(v, func(int) dme.NodeID { return changed })
	return bad
}

// ask lists the questions about the pairs of states. Most have been answered before.
func (w *Walker) ask(vectors []uint32, changed func(i int) dme.NodeID) {
	w.questions, w.about = w.questions[:0], w.about[:0]
	if len(w.judge.pairs) == 0 {
		return
	}
	if w.decoded.pairs == nil {
		w.decoded.makePairs(fewPairs)
	}
	for i := 0; i*w.width < len(vectors); i++ {
		v := vectors[i*w.width : (i+1)*w.width]
		struck := uint64(0)
		if w.disturbed(v) {
			struck = 1 << 63
		}
		about := w.pairs[changed(i)]
		w.about = append(w.about, about)
		for _, p := range about {
			pair := heldPair{nodes: struck | uint64(v[p.a-1]+1)<<32 | uint64(v[p.b-1]+1)}
			if p.there > 0 {
				pair.links = uint64(v[p.there])<<32 | uint64(v[p.back])
			}
			w.questions = append(w.questions, pair.question())
		}
	}
	// Reads that do not depend on each other wait for memory together, if there is next to nothing
	// between them. That the sum is kept keeps the compiler from leaving them out.
	known, fetched := w.decoded.pairs, uint64(0)
	for _, q := range w.questions {
		fetched += known[q.hash&uint64(len(known)-1)].nodes
	}
	w.fetched = fetched
}

// answer answers the questions, state by state.
func (w *Walker) answer(vectors []uint32) (state int, bad *Violation) {
	defer w.judge.recovered(&bad)
	questions := w.questions
	for ; state*w.width < len(vectors); state++ {
		v, shown := vectors[state*w.width:(state+1)*w.width], false
		show := func() {
			if !shown {
				copy(w.Next, v)
				w.judge.see(w)
				shown = true
			}
		}
		if len(w.judge.whole) > 0 {
			show()
			if bad := w.judge.ofWhole(w.disturbed(v)); bad != nil {
				return state, bad
			}
		}
		if len(questions) == 0 {
			continue // nothing about pairs is watched
		}
		for k, p := range w.about[state] {
			if *w.decoded.place(questions[k]) == questions[k].heldPair {
				continue
			}
			show()
			if bad := w.judge.ofPair(w.disturbed(v), p.a, p.b); bad != nil {
				return state, bad
			}
			w.decoded.replace(questions[k])
		}
		questions = questions[len(w.about[state]):]
	}
	return 0, nil
}

func (w *Walker) disturbed(v []uint32) bool {
	return w.faulty && w.struck(&w.rests.at(v[w.width-1]).shared)
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
