package vnet

import (
	"slices"

	"dmebench/dme"
)

// What clocks the components of a state have, by which [Classes] compares states.

// level is the value of a clock, and what else it is compared by: its domain first,
// then the value, then the node of a timestamp or a rising clock, and a rising clock
// is after the timestamp to which it is equal. Levels are compared as numbers.
type level uint64

// The bits of a level, from the lowest: whether it is a rising clock, its node, its
// value, its domain.
const (
	nodeBit, nodeBits     = 1, 11
	valueBit, valueBits   = nodeBit + nodeBits, 40
	domainBit, domainBits = valueBit + valueBits, 12
)

func makeLevel(domain dme.NodeID, value uint64) level {
	if value >= 1<<valueBits || uint64(domain) >= 1<<domainBits {
		panic("vnet: a clock that is too large to be compared")
	}
	return level(domain)<<domainBit | level(value)<<valueBit
}

// of is the level of a clock that is compared as that of a node.
func (x level) of(node dme.NodeID, rising bool) level {
	x |= level(node) << nodeBit
	if rising {
		x |= 1
	}
	return x
}

func (x level) domain() dme.NodeID { return dme.NodeID(x >> domainBit) }
func (x level) value() uint64      { return uint64(x>>valueBit) & (1<<valueBits - 1) }
func (x level) node() dme.NodeID   { return dme.NodeID(x >> nodeBit & (1<<nodeBits - 1)) }
func (x level) rising() bool       { return x&1 == 1 }

// clocked are the clocks of a component.
type clocked struct {
	levels []level // in order, each once
	rising []level // as they are met, each as often
	bare   uint32  // the component without them, plus one; 0: not known
	stale  bool    // there are others, which nobody will look at, and which are not 0
}

// known returns the clocks of a component, by its number, and finds them where
// they have not been asked for.
func (c *Classes) known(all *[]*clocked, id uint32, find func(*clocked)) *clocked {
	for int(id) >= len(*all) {
		*all = append(*all, nil)
	}
	x := (*all)[id]
	if x == nil {
		x = new(clocked)
		find(x)
		slices.Sort(x.levels)
		x.levels = slices.Clip(slices.Compact(x.levels))
		(*all)[id] = x
		c.bytes += 72 + 8*(len(x.levels)+len(x.rising))
	}
	return x
}

// see notes the clocks of a component.
func (c *Classes) see(of *clocked) func(dme.ClockVariable) {
	return func(x dme.ClockVariable) {
		switch l := c.level(x); {
		case x.Live:
			of.levels = append(of.levels, l)
			if l.rising() {
				of.rising = append(of.rising, l)
			}
		case *x.Value != 0:
			of.stale = true
		}
	}
}

func (c *Classes) level(x dme.ClockVariable) level {
	l := makeLevel(x.Domain, *x.Value)
	if c.timed.of(l) {
		l = l.of(x.Node, x.Rising)
	}
	return l
}

func (c *Classes) ofLocal(id uint32) *clocked {
	return c.known(&c.locals, id, func(x *clocked) { dme.VisitClocks(c.loaded(id), c.see(x)) })
}

func (c *Classes) ofMessage(id uint32) *clocked {
	return c.known(&c.messages, id, func(x *clocked) {
		m := c.decoded(id)
		dme.VisitMessageClocks(c.Algorithm, c.Nodes, c.Space.messages.at(id).From, &m, c.see(x))
	})
}

func (c *Classes) ofQueue(id uint32) *clocked {
	return c.known(&c.queues, id, func(x *clocked) {
		for _, m := range c.Space.queues.at(id).messages {
			of := c.ofMessage(m)
			x.levels, x.rising = append(x.levels, of.levels...), append(x.rising, of.rising...)
			x.stale = x.stale || of.stale
		}
	})
}

// loaded returns a node in the state of a component.
func (c *Classes) loaded(id uint32) dme.Node {
	at := c.Space.locals.at(id)
	n := c.exec.runners[at.id].Node()
	at.load(n)
	return n
}

func (c *Classes) decoded(id uint32) (m dme.Message) {
	c.Space.messages.at(id).decode(&m)
	return m
}
