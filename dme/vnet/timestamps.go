package vnet

import (
	"slices"

	"dmebench/dme"
)

// timestamps is how [Classes] distinguishes states of nodes with rising clocks
// ([dme.Visitor.Rising]): by the order of the timestamps, and by how many of them each rising clock
// has passed at least. The representative's k-th timestamp is 4k, and its clocks that have passed k
// of them are 4k + 2.
//
// A representative stands for the states with as many or more timestamps passed: it covers them. A
// step is taken from it with the clocks that the step can look at, the node's own and that of the
// arriving message, as they are, and with these raised beyond further timestamps, in all ways.
// Among outcomes that differ only in the clocks, the one with the lower clocks is kept. For a
// message's clock only whether it has passed the timestamp of its receiver is kept.
//
// # Why this is sound
//
// Say that a clock is at k in a state if it has passed k timestamps. Let a representative cover a
// state, and let an event lead on from the state. One of the ways to raise clocks makes the handler
// do the same with the representative, and leads to one that covers the resulting state. Given what
// [dme.Visitor.Rising] allows an event to look at, there are three kinds of events:
//
//   - It does not set its clock. Raise the clock and that of the arriving message to where they are
//     in the state: each comparison has the same result.
//   - It sets its clock, and compares no more than the message's clock. Raise that one to where it
//     is in the state. The successor of the largest is at the largest of their places in the
//     representative; in the state it may be further on, as it may reach a timestamp of the same
//     value and a lower node. That is covered.
//   - It sets its clock, and compares it, or makes a timestamp of it, and compares no clock of a
//     message. Raise the clock to where its successor is in the state. The successor is at the same
//     place then, since what the event meets is not beyond it, and so is the new timestamp. The
//     clock's earlier value is not looked at: a handler that did could see that the clock has not
//     passed a timestamp, and make one that is later, which no representative shows.
//
// The clock that the event sends is, in the representative, no further on than in the state; and
// a clock that has not passed the timestamp before a new one has not been shown to have passed
// that. A representative with a lower clock covers more, which is as good. Hence every schedule of
// the system is one between representatives; see [Classes]. A message's clock is raised at most to
// the next timestamp of its sender behind it on the link, which was made of a higher value.
type timestamps struct {
	use    bool
	levels []level // of the state that is looked at, in order
	order  []level // the timestamps among them

	base    []uint32 // from which a step is taken
	variant []uint32 // with clocks that are raised
	kept    []split
	raised  map[raising]uint32  // components that have been changed
	lowered map[lowering]uint32 // queues that have been
}

type split struct {
	rest   []uint32 // the same with rising clocks that are 0
	clocks []uint64
}

const (
	stampValue  = 4 // times the place among the timestamps, from 1
	risingValue = 2 // more than the last timestamp that it has passed
)

// timestamped reports whether nodes show rising clocks and links keep order, without which they are like any.
func (c *Classes) timestamped() (yes bool) {
	if c.Algorithm.Clocks == nil || c.Unordered {
		return false
	}
	for id := range c.IDs() {
		dme.VisitClocks(c.exec.runners[id].Node(), func(x dme.ClockVariable) { yes = yes || x.Rising })
	}
	return yes
}

// of reports whether a clock is a timestamp or a rising clock.
func (t *timestamps) of(l level) bool { return t.use && l.domain() == dme.None }

func (t *timestamps) passed(l level) uint64 {
	for i, x := range t.order { // there are few
		if x > l {
			return uint64(i)
		}
	}
	return uint64(len(t.order))
}

func (t *timestamps) chosen(l level) uint64 {
	if l.rising() {
		return stampValue*t.passed(l) + risingValue
	}
	return stampValue * t.passed(l)
}

// Step takes a step from a representative, and yields the representatives of all classes it may
// lead to, each valid until the next one. It returns the safety property that the step breaks, nil
// if none. The states after two nodes have met in the critical section are yielded as well.
func (c *Classes) Step(w *Walker, v []uint32, x Step, yield func(rep []uint32)) (bad *Violation) {
	if !c.timed.use {
		c.from(v)
		if bad = w.Do(v, Hash{}, x); bad.lasts() {
			c.after(w.Next, yield)
		}
		return bad
	}
	t := &c.timed
	t.kept = t.kept[:0]
	t.base = append(t.base[:0], v...)
	c.look(t.base)
	c.raised(t.base, x, func(from []uint32) bool {
		if bad = w.Do(from, Hash{}, x); bad.lasts() && c.keep(w.Next) {
			c.look(w.Next)
			yield(c.lowered(c.renumbered(w.Next)))
		}
		return bad == nil
	})
	return bad
}

// lasts reports whether a network goes on after a step with this violation, if any.
func (v *Violation) lasts() bool { return v == nil || v.Property == Exclusion }

// raised yields a state, and the same with the clocks raised that a step can look
// at, in all ways, until yield reports false. A message's clock is never above its
// sender's, nor above what follows on its link.
func (c *Classes) raised(v []uint32, x Step, yield func([]uint32) bool) {
	t := &c.timed
	most := uint64(len(t.order))
	own, sender, link := int(x.Node-1), int(x.From-1), -1
	if x.ofMessage() {
		if link = int(c.places[c.link(x.From, x.Node)]); len(c.ofMessage(c.first(v[link])).rising) == 0 {
			link = -1
		}
	}
	t.variant = append(t.variant[:0], v...)
	node := most // without a clock there is nothing to raise
	if rising := c.ofLocal(v[own]).rising; len(rising) > 0 {
		node = rising[0].value() / stampValue
	}
	for ; node <= most; node++ {
		t.variant[own] = c.atLeast(ofLocals, v[own], node)
		if link < 0 {
			if !yield(t.variant) {
				return
			}
			continue
		}
		message, before := c.ofMessage(c.first(v[link])).rising[0].value()/stampValue, c.beforeNext(v[link], most)
		for ; message <= before; message++ {
			t.variant[link], t.variant[sender] = c.atLeast(ofQueues, v[link], message), c.atLeast(ofLocals, v[sender], message)
			if !yield(t.variant) {
				return
			}
		}
	}
}

// beforeNext returns how many timestamps are before the next of the sender on its link, or most.
func (c *Classes) beforeNext(queue uint32, most uint64) uint64 {
	for _, id := range c.Space.queues.at(queue).messages[1:] {
		for _, l := range c.ofMessage(id).levels {
			if c.timed.of(l) && !l.rising() && l.node() == c.Space.messages.at(id).From {
				return l.value()/stampValue - 1
			}
		}
	}
	return most
}

// lowered lowers the clocks of messages to the timestamps of their receivers, or below all.
func (c *Classes) lowered(rep []uint32) []uint32 {
	for i, id := range rep[c.Nodes : c.width-1] {
		if id == 0 || len(c.ofQueue(id).rising) == 0 {
			continue
		}
		key, receiver := lowering{queue: id}, c.firsts[i].Node
		for _, l := range c.ofLocal(rep[receiver-1]).levels {
			if c.timed.of(l) && !l.rising() && l.node() == receiver {
				key.own = l.value()
			}
		}
		to, ok := c.timed.lowered[key]
		if !ok {
			to = c.lower(key)
			c.timed.lowered[key] = to
			c.bytes += 56
		}
		rep[c.Nodes+i] = to
	}
	return rep
}

// lowering is a queue and the latest timestamp of its receiver, 0 if there is none.
type lowering struct {
	queue uint32
	own   uint64
}

func (c *Classes) lower(l lowering) uint32 {
	return c.changed(ofQueues, l.queue, func(x dme.ClockVariable) {
		switch {
		case !x.Rising:
		case l.own > 0 && *x.Value > l.own:
			*x.Value = l.own + risingValue
		default:
			*x.Value = risingValue
		}
	})
}

func (c *Classes) first(queue uint32) uint32 { return c.Space.queues.at(queue).messages[0] }

// keep reports whether an outcome is not covered by one that was kept, and keeps it then.
func (c *Classes) keep(outcome []uint32) bool {
	t := &c.timed
	var o split
	if n := len(t.kept); n < cap(t.kept) {
		o = t.kept[:n+1][n]
	}
	o.rest, o.clocks = c.split(o.rest[:0], o.clocks[:0], outcome)
	for i := range t.kept {
		if t.kept[i].covers(&o) {
			return false
		}
	}
	t.kept = append(t.kept, o)
	return true
}

func (o *split) covers(other *split) bool {
	if !slices.Equal(o.rest, other.rest) {
		return false
	}
	for i, x := range o.clocks {
		if x > other.clocks[i] {
			return false
		}
	}
	return true
}

func (c *Classes) split(rest []uint32, clocks []uint64, v []uint32) ([]uint32, []uint64) {
	rest = append(rest, v...)
	for i, id := range v[:c.Nodes] {
		for _, l := range c.ofLocal(id).rising {
			clocks = append(clocks, l.value())
		}
		rest[i] = c.bare(ofLocals, id)
	}
	for i, id := range v[c.Nodes : c.width-1] {
		if id != 0 {
			for _, l := range c.ofQueue(id).rising {
				clocks = append(clocks, l.value())
			}
			rest[c.Nodes+i] = c.bare(ofQueues, id)
		}
	}
	return rest, clocks
}

// Covers reports whether a state is of the class of a representative.
func (c *Classes) Covers(rep, v []uint32) bool {
	of := c.Of(v)
	if !c.timed.use {
		return slices.Equal(rep, of)
	}
	var x, y split
	y.rest, y.clocks = c.split(nil, nil, of)
	x.rest, x.clocks = c.split(nil, nil, rep)
	return x.covers(&y)
}

// noClocks has atLeast clear all rising clocks of a component.
const noClocks = ^uint64(0)

type raising struct {
	kind   byte
	id     uint32
	passed uint64
}

// atLeast returns a component whose rising clocks have all passed at least that many timestamps.
func (c *Classes) atLeast(kind byte, id uint32, passed uint64) uint32 {
	x := c.clocksOf(kind, id)
	if !slices.ContainsFunc(x.rising, func(l level) bool { return l.value() < stampValue*passed }) {
		return id
	}
	key := raising{kind, id, passed}
	to, ok := c.timed.raised[key]
	if !ok {
		to = c.raise(key)
		c.timed.raised[key] = to
		c.bytes += 48
	}
	return to
}

func (c *Classes) bare(kind byte, id uint32) uint32 {
	x := c.clocksOf(kind, id)
	if len(x.rising) == 0 {
		return id
	}
	if x.bare == 0 {
		x.bare = 1 + c.raise(raising{kind, id, noClocks})
	}
	return x.bare - 1
}

func (c *Classes) raise(r raising) uint32 {
	return c.changed(r.kind, r.id, func(x dme.ClockVariable) {
		switch {
		case !x.Rising:
		case r.passed == noClocks:
			*x.Value = 0
		default:
			*x.Value = max(*x.Value, stampValue*r.passed+risingValue)
		}
	})
}
