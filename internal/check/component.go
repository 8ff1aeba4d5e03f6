package check

import (
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/internal/noderun"
)

// A state of the whole system is a vector of the numbers of its components:
// each node with its local process, each link, and what belongs to neither. The
// same components come back in state after state, so they are kept once.

// local is a node with its local process.
type local struct {
	hash
	state    string // as saved
	id       dme.NodeID
	activity noderun.Activity
	shared   bool
	stopped  bool
	budget   int
}

// parcel is a message on a link, with what the link knows about it.
type parcel struct {
	hash
	plain uint32 // the parcel of the same message on its first way, without marks
	from  dme.NodeID
	to    dme.NodeID
	body  string // the message's wire form
	transit
	marks []mark
}

// queue is what a link holds: in order of sending or, where links do not keep
// order, in order of hashes, so that equal contents are equal queues.
type queue struct {
	hash
	parcels []uint32
}

// rest is what belongs to the whole system. There is hardly ever more than one.
type rest struct {
	hash
	lose      int
	overtaken []int // by node, from 1; nil where nobody counts
	alarms    []alarm
}

// components are all that have been met. The empty queue is number 0.
type components struct {
	locals  pool[local]
	parcels pool[parcel]
	queues  pool[queue]
	rests   pool[rest]
}

func newComponents() *components {
	c := new(components)
	c.queueOf(nil, nil)
	return c
}

const (
	flagShared = 1 << iota
	flagStopped
)

// localOf returns the number of x, whose key, state and hash it computes; b is
// scratch.
func (c *components) localOf(b []byte, x *local, n dme.Node) (uint32, []byte) {
	flags := byte(0)
	if x.shared && x.activity != noderun.Idle {
		flags |= flagShared
	}
	if x.stopped {
		flags |= flagStopped
	}
	b = append(b[:0], byte(x.activity), flags)
	b = binary.AppendUvarint(b, uint64(x.id))
	b = binary.AppendUvarint(b, uint64(x.budget))
	header := len(b)
	b = dme.SaveState(b, n)
	id := c.locals.id(b, func(to *local, _ uint32, key string) {
		*to = *x
		to.shared = flags&flagShared != 0
		to.state, to.hash = key[header:], hashOf([]byte("node "+key))
	})
	return id, b
}

// parcelOf returns the number of a message on its way.
func (c *components) parcelOf(b []byte, from, to dme.NodeID, body []byte, t transit, marks []mark) (uint32, []byte) {
	isPlain := t == transit{} && len(marks) == 0
	var plain uint32
	if !isPlain {
		plain, b = c.parcelOf(b, from, to, body, transit{}, nil)
	}
	b = binary.AppendUvarint(b[:0], uint64(from))
	b = binary.AppendUvarint(b, uint64(to))
	switch {
	case t.broadcast:
		b = binary.AppendUvarint(append(b, 2), uint64(t.place))
	case t.copy:
		b = append(b, 1)
	default:
		b = append(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(marks)))
	for _, m := range marks {
		b = binary.AppendUvarint(b, uint64(m.node))
		b = append(b, byte(m.id))
		b = binary.AppendUvarint(b, uint64(m.hops))
	}
	header := len(b)
	b = append(b, body...)
	id := c.parcels.id(b, func(x *parcel, id uint32, key string) {
		if isPlain {
			plain = id
		}
		*x = parcel{
			hash: hashOf([]byte("message " + key)), plain: plain,
			from: from, to: to, body: key[header:], transit: t, marks: slices.Clone(marks),
		}
	})
	return id, b
}

// queueOf returns the number of a link's content; b is scratch.
func (c *components) queueOf(b []byte, parcels []uint32) (uint32, []byte) {
	b = b[:0]
	for _, p := range parcels {
		b = binary.LittleEndian.AppendUint32(b, p)
	}
	id := c.queues.id(b, func(x *queue, _ uint32, _ string) {
		x.parcels = slices.Clone(parcels)
		if len(parcels) == 0 {
			return // links that hold nothing add nothing to a state's hash
		}
		var all strings.Builder
		all.WriteString("link ")
		for _, p := range parcels {
			h := c.parcels.at(p).hash
			all.Write(binary.LittleEndian.AppendUint64(nil, h.a))
			all.Write(binary.LittleEndian.AppendUint64(nil, h.b))
		}
		x.hash = hashOf([]byte(all.String()))
	})
	return id, b
}

// restOf returns the number of x.
func (c *components) restOf(b []byte, x *rest) (uint32, []byte) {
	b = binary.AppendUvarint(b[:0], uint64(x.lose))
	for _, n := range x.overtaken {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, a := range x.alarms {
		b = binary.AppendUvarint(b, uint64(a.node))
		b = append(b, byte(a.id))
		b = binary.AppendUvarint(b, uint64(a.delay/time.Nanosecond))
	}
	id := c.rests.id(b, func(to *rest, _ uint32, key string) {
		*to = rest{
			hash: hashOf([]byte("rest " + key)),
			lose: x.lose, overtaken: slices.Clone(x.overtaken), alarms: slices.Clone(x.alarms),
		}
	})
	return id, b
}
