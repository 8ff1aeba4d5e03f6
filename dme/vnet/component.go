package vnet

import (
	"encoding/binary"
	"slices"
	"strings"

	"dmebench/dme"
	"dmebench/internal/noderun"
)

// A state of the whole system is a vector of the numbers of its components:
// each node with its local process, each link, and what belongs to neither. The
// same components come back in state after state, so they are kept once.

// local is a node with its local process.
type local struct {
	Hash
	process
	state string // as saved
	id    dme.NodeID
}

// message is a message on its way: its content, and what the link knows about it.
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

// decode reads the message from its wire form, which was made here.
func (x *message) decode(m *dme.Message) {
	if err := dme.DecodeMessage([]byte(x.body), m, nil); err != nil {
		panic("vnet: " + err.Error())
	}
}

// queue is what a link holds: in order of sending or, where links do not keep
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
	case p.news != noNews:
		b = append(b, 2+byte(p.news))
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

// queueOf returns the number of a link's content; b is scratch.
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

// restOf returns the number of what belongs to the whole network; b is scratch.
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
