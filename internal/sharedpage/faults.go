package sharedpage

import (
	"dmebench/dme"
	"dmebench/internal/noderun"
)

// This is what faults need of the page. A fault that is to strike a node inside the
// critical section cannot be aimed by looking: the section is over sooner than a
// signal arrives. So who enters is told to stay.

// Entries returns how many entries there were so far.
func (p *Page) Entries() uint64 { return p.header.order.Load() }

// Hold asks whoever makes the entry of that place in the order, or the first one
// after it, to stay inside. It replaces what was asked before.
func (p *Page) Hold(order uint64) {
	p.header.held.Store(0)
	p.header.hold.Store(order)
}

// Stays reports whether node id, which has just made the entry of that place, is
// the one that has to stay inside. It says so once.
func (p *Page) Stays(id dme.NodeID, order uint64) bool {
	h := p.header
	wanted := h.hold.Load()
	if wanted == 0 || order < wanted || !h.hold.CompareAndSwap(wanted, 0) {
		return false
	}
	h.heldOrder.Store(order)
	h.held.Store(uint64(id))
	return true
}

// Held returns who stays inside, and its entry's place in the order.
func (p *Page) Held() (id dme.NodeID, order uint64, ok bool) {
	id = dme.NodeID(p.header.held.Load())
	return id, p.header.heldOrder.Load(), id != 0
}

// Remains is what a node leaves behind when it ends.
type Remains struct {
	Activity noderun.Activity
	Inside   bool // the witness saw it in the critical section
}

// Bury takes a node that does nothing any more out of the page: the critical
// section is free of it, and it is down. What it has counted stays.
func (p *Page) Bury(id dme.NodeID) Remains {
	c := &p.nodes[id-1]
	r := Remains{Activity: noderun.Activity(c.Activity.Load())}
	h := p.header
	for {
		inside := h.occupant.Load()
		next := uint64(0)
		switch {
		case inside == uint64(id):
		case inside&readers != 0 && r.Activity == noderun.Inside:
			if inside != readers|1 {
				next = inside - 1
			}
		default:
			p.silence(c)
			return r
		}
		if h.occupant.CompareAndSwap(inside, next) {
			r.Inside = true
			p.silence(c)
			return r
		}
	}
}

func (p *Page) silence(c *noderun.Counters) {
	c.Timers.Store(0)
	c.Pending.Store(0)
	c.Activity.Store(uint64(noderun.Down))
}
