package vnet

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"dmebench/dme"
)

// Event is a step and what came of it.
type Event struct {
	Step
	Number  uint64      // of the message that arrived or was lost
	Msg     dme.Message // that message
	Effects []Effect    // in order: messages, entries, timers that were set
	Refused string      // why the message was refused
}

// Effect is something that a handler has done. The number of a message tells where it arrives.
type Effect struct {
	dme.Effect
	Number uint64
	Lost   bool // nobody is there to receive the message
}

func (e *Event) lose(number uint64) {
	for i := range e.Effects {
		if e.Effects[i].Number == number {
			e.Effects[i].Lost = true
		}
	}
}

// Clone returns a copy that later steps leave alone.
func (e *Event) Clone() Event {
	c := *e
	c.Msg.Vec = slices.Clone(e.Msg.Vec)
	c.Effects = slices.Clone(e.Effects)
	for i := range c.Effects {
		c.Effects[i].Msg.Vec = slices.Clone(c.Effects[i].Msg.Vec)
	}
	return c
}

// Entered reports whether the step let the node into the critical section.
func (e *Event) Entered() bool {
	return slices.ContainsFunc(e.Effects, func(x Effect) bool { return x.Kind == dme.Enter })
}

// DescribeMessage writes the kind of a message and its fields that are not zero.
func DescribeMessage(a *dme.Algorithm, m *dme.Message) string { return a.KindName(m.Kind) + fields(m) }

func fields(m *dme.Message) string {
	var b []byte
	field := func(name string, value any, zero bool) {
		if !zero {
			b = fmt.Appendf(b, " %s=%v", name, value)
		}
	}
	field("flags", m.Flags, m.Flags == 0)
	field("node", m.Node, m.Node == dme.None)
	field("clock", m.Clock, m.Clock == 0)
	field("num", m.Num, m.Num == 0)
	field("req", m.Req, m.Req.IsZero())
	field("done", m.Done, m.Done.IsZero())
	field("vec", m.Vec, len(m.Vec) == 0)
	return string(b)
}

// Describe tells an event in a line: what happened, and what came of it.
func (e *Event) Describe(a *dme.Algorithm) string {
	line := e.happening(a)
	if effects := e.effects(a); effects != "" {
		line += ": " + effects
	}
	return line
}

var happenings = [...]string{
	dme.Start: "starts", dme.Request: "asks", dme.RequestShared: "asks, as a reader", dme.Exit: "leaves",
	dme.Receive: "arrives", dme.Copy: "arrives, and will again", dme.Lose: "is lost",
	dme.Stop: "is told that no more requests will come", dme.Crash: "crashes", dme.Restart: "restarts", dme.Join: "joins",
	dme.Depart: "is told to leave the system", dme.PeerDown: "is down", dme.PeerUp: "is up",
}

func (e *Event) happening(a *dme.Algorithm) string {
	switch {
	case e.ofMessage():
		return fmt.Sprintf("%s %d→%d%s %s", a.KindName(e.Msg.Kind), e.From, e.Node, fields(&e.Msg), happenings[e.Kind])
	case e.Kind == dme.Timeout:
		return fmt.Sprintf("timer %d of node %d fires", e.Timer, e.Node)
	case e.Kind == dme.PeerDown || e.Kind == dme.PeerUp:
		return fmt.Sprintf("node %d hears that node %d %s", e.Node, e.From, happenings[e.Kind])
	}
	return fmt.Sprintf("node %d %s", e.Node, happenings[e.Kind])
}

func (e *Event) way(x *Effect) string {
	if x.Lost {
		return fmt.Sprintf(" %d→%d (lost)", e.Node, x.To)
	}
	return fmt.Sprintf(" %d→%d", e.Node, x.To)
}

func (e *Event) effects(a *dme.Algorithm) string {
	var parts []string
	for i := 0; i < len(e.Effects); i++ {
		switch x := &e.Effects[i]; x.Kind {
		case dme.Send:
			// What is sent to several in a row is told once.
			said := fields(&x.Msg)
			to := e.way(x)
			for i+1 < len(e.Effects) {
				next := &e.Effects[i+1]
				if next.Kind != dme.Send || next.Msg.Kind != x.Msg.Kind || fields(&next.Msg) != said {
					break
				}
				to += e.way(next)
				i++
			}
			parts = append(parts, a.KindName(x.Msg.Kind)+to+said)
		case dme.SetTimer:
			parts = append(parts, fmt.Sprintf("timer %d set to %v", x.Timer, x.Delay))
		case dme.Left:
			parts = append(parts, fmt.Sprintf("node %d has left", e.Node))
		case dme.Enter:
			parts = append(parts, fmt.Sprintf("node %d enters", e.Node))
		}
	}
	if e.Refused != "" {
		parts = append(parts, "refused, "+e.Refused)
	}
	return strings.Join(parts, ", ")
}

// decoded keeps nodes and messages of a space that invariants have looked at:
// the same ones come back in state after state. Its size is bounded; what is
// looked at seldom makes room for what is looked at now.
type decoded struct {
	room     room
	nodes    [][]decodedNode // by node, from 1, and by place
	messages []decodedMessage
	pairs    []heldPair
	replaced int // pairs, since there is room for so many
	bytes    int // that all of it takes, about
}

// heldPair is a pair of nodes and the links between them of which the invariants hold: the
// numbers of the local states, each plus one, and of the queues from one to the other; with
// disturbed in the highest bit, which no number reaches.
type heldPair struct{ nodes, links uint64 }

// place is where a pair is kept, if it is.
func (d *decoded) place(p heldPair) *heldPair {
	return &d.pairs[scatter(p.nodes^bits.RotateLeft64(p.links, 15))&uint64(len(d.pairs)-1)]
}

// replace keeps a pair in its place and, where many have lost theirs so, makes more room.
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
	// What a node and a message take beside their saved bytes, about.
	nodeBytes    = 512
	messageBytes = 160
	pairBytes    = 16
)

// Broken returns the invariant that does not hold in state v; nil where all that are watched
// hold. Where they held before a step, changed is the node that took it: of pairs only those
// with that node are looked at. With [dme.None] it is all.
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
