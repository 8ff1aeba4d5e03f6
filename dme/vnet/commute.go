package vnet

import (
	"cmp"
	"slices"

	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
)

// commuting knows which arrivals commute with all that may happen at their node before; see [Reduction].
type commuting struct {
	*Walker                    // runs handlers, from states in which no network may ever be
	table   table              // node's state and message: yes or no
	cut     map[dme.NodeID]int // how many visits were given up, by node
	effort  Effort
	tried   int // stimuli

	// Scratch. A state is met if its stamp is the present one.
	stamps       []uint32
	stamp        uint32
	stack        []uint32
	met          []uint32
	first, other []posted
}

// Whether a message commutes in a state, and in all that are met from there.
const (
	yes uint32 = iota + 1
	no
)

// Effort is how much a reduction does to find out what commutes. A node that counts or
// queues all that arrives has states without end: one visit gives up after Met states,
// or Tried stimuli in them, and after some such visits nothing more is tried at the
// node, and its arrivals are forced no more. When that is depends on which visit comes
// first: with several workers the number of states that a search visits may differ
// from one time to the next there. Its findings do not, since to force less is
// always sound.
type Effort struct {
	Met, Tried int // of one visit
	Total      int // stimuli tried in all; 0: any number
}

// Brief is the effort that pays if the states are few. More effort takes minutes on Ricart and
// Agrawala's algorithm with 4 nodes that ask 8 times, on links that do not keep order, where a
// search reaches a few hundred states.
var Brief = Effort{Met: 1 << 11, Tried: 1 << 17}

// Thorough is the effort that reduces systems of five nodes, with a limit on all of it.
func Thorough(total int) Effort { return Effort{Met: 1 << 16, Tried: 1 << 24, Total: total} }

const mostCut = 2 // visits at a node that were given up

// States of a queue that grows take memory with the square of their number: a visit gives up
// once they take wide bytes, and checks that every wideEvery states.
const (
	wide      = 12 << 20
	wideEvery = 256
)

func (c *commuting) forget() { c.table = table{} }

func (c *commuting) key(at, message uint32) uint64 { return uint64(at)<<32 | uint64(message) }

// answer says whether a message commutes at a node that these messages may reach.
func (c *commuting) answer(at, message uint32, arrive [][]uint32) uint32 {
	answer, ok := c.table.get(c.key(at, message))
	if !ok {
		x := c.messages.at(message)
		c.begin()
		c.meet(at)
		if answer = no; c.cut[x.To] < mostCut && c.plain(c.outcomeOf(at, Step{Kind: dme.Receive, From: x.From, Node: x.To}, message)) {
			answer = c.visit(message, arrive)
		}
		if answer == no {
			c.table.put(c.key(at, message), no)
		}
	}
	return answer
}

// holds reports whether all messages that commuted still do if more may arrive.
func (c *commuting) holds(arrive [][]uint32, before []int) bool {
	var all []uint64
	for _, e := range c.table.slots {
		if e.key != 0 && e.value == yes {
			all = append(all, e.key-1)
		}
	}
	for _, key := range all {
		at, message := uint32(key>>32), uint32(key)
		to := c.messages.at(message).To
		// The states that are met by what could arrive before are in the table too.
		c.begin()
		if !c.tryArrivals(at, message, arrive[to][before[to]:]) || c.visit(message, arrive) == no {
			return false
		}
	}
	return true
}

func (c *commuting) spent() bool { return c.effort.Total > 0 && c.tried > c.effort.Total }

func (c *commuting) begin() {
	c.stamp++
	c.met, c.stack = c.met[:0], c.stack[:0]
}

func (c *commuting) meet(at uint32) {
	if int(at) >= len(c.stamps) {
		c.stamps = append(c.stamps, make([]uint32, int(at)+1024)...)
	}
	if c.stamps[at] != c.stamp {
		c.stamps[at] = c.stamp
		c.stack = append(c.stack, at)
	}
}

// visit visits the states that have been met, and those that they lead to.
func (c *commuting) visit(message uint32, arrive [][]uint32) (answer uint32) {
	to := c.messages.at(message).To
	held := c.Space.Footprint()
	for len(c.stack) > 0 {
		at := c.stack[len(c.stack)-1]
		c.stack = c.stack[:len(c.stack)-1]
		switch known, _ := c.table.get(c.key(at, message)); known {
		case yes:
			continue
		case no:
			return no
		}
		if c.met = append(c.met, at); len(c.met) > c.effort.Met || len(c.met)*(1+len(arrive[to])) > c.effort.Tried {
			c.cut[to]++
			return no
		}
		if c.spent() {
			return no
		}
		if len(c.met)%wideEvery == 0 && c.Space.Footprint()-held > wide {
			c.cut[to]++
			return no
		}
		if !c.tryProcess(at, message) || !c.tryArrivals(at, message, arrive[to]) {
			return no
		}
	}
	for _, at := range c.met {
		c.table.put(c.key(at, message), yes)
	}
	return yes
}

// tryProcess tries what the local process may do in a state, before the message and after it.
func (c *commuting) tryProcess(at, message uint32) bool {
	p := &c.locals.at(at).process
	id := c.locals.at(at).id
	switch {
	case p.activity == noderun.Inside:
		if !c.try(at, message, Step{Kind: dme.Exit, Node: id}, 0) {
			return false
		}
	case p.mayAsk():
		if !c.try(at, message, Step{Kind: dme.Request, Node: id}, 0) ||
			c.Shares && !c.try(at, message, Step{Kind: dme.RequestShared, Node: id}, 0) {
			return false
		}
	}
	return !c.Stops || !c.mayStop(p) || c.try(at, message, Step{Kind: dme.Stop, Node: id}, 0)
}

// tryArrivals tries the arrival of others in a state, before the message and after it.
func (c *commuting) tryArrivals(at, message uint32, others []uint32) bool {
	from := c.messages.at(message).From
	for _, other := range others {
		x := c.messages.at(other)
		if other == message || x.From == from && !c.Unordered {
			continue
		}
		if !c.try(at, message, Step{Kind: dme.Receive, Node: x.To, From: x.From}, other) {
			return false
		}
	}
	return true
}

// try tries a stimulus, which is possible in a state, before the message and
// after it, and meets the state to which it leads without the message.
func (c *commuting) try(at, message uint32, s Step, other uint32) bool {
	x := c.messages.at(message)
	arrival := Step{Kind: dme.Receive, From: x.From, Node: x.To}

	c.tried++
	early := c.outcomeOf(at, arrival, message)
	if !c.plain(early) || !c.possibleAt(c.outcomes[early].next, s) {
		return false
	}
	after := c.outcomeOf(c.outcomes[early].next, s, other)
	before := c.outcomeOf(at, s, other)
	if !c.plain(after) || !c.plain(before) {
		return false
	}
	next := c.outcomes[before].next
	late := c.outcomeOf(next, arrival, message)
	if !c.plain(late) || c.outcomes[after].next != c.outcomes[late].next {
		return false
	}
	if c.refusals(early)+c.refusals(after) != c.refusals(before)+c.refusals(late) {
		return false
	}
	c.first = c.appendSent(c.appendSent(c.first[:0], early), after)
	c.other = c.appendSent(c.appendSent(c.other[:0], before), late)
	if !c.sameLinks(c.first, c.other) {
		return false
	}
	c.meet(next)
	return true
}

// plain reports whether an outcome breaks nothing and leaves timers alone.
func (c *commuting) plain(outcome uint32) bool {
	o := &c.outcomes[outcome]
	return o.broken == nil && len(o.timers) == 0 && !o.left
}

// possibleAt reports whether what a local process may do in one state it may do in another.
func (c *commuting) possibleAt(at uint32, s Step) bool {
	switch p := &c.locals.at(at).process; s.Kind {
	case dme.Request, dme.RequestShared:
		return p.mayAsk()
	case dme.Exit:
		return p.activity == noderun.Inside
	case dme.Stop:
		return c.mayStop(p)
	}
	return true
}

func (c *commuting) refusals(outcome uint32) int {
	if c.outcomes[outcome].refused {
		return 1
	}
	return 0
}

func (c *commuting) appendSent(to []posted, outcome uint32) []posted {
	o := &c.outcomes[outcome]
	return append(to, c.posted[o.posted:][:o.posts]...)
}

// sameLinks reports whether messages sent are the same on each link, and in the
// same order if links keep order.
func (c *commuting) sameLinks(x, y []posted) bool {
	if len(x) != len(y) {
		return false
	}
	slices.SortStableFunc(x, c.byLink)
	slices.SortStableFunc(y, c.byLink)
	return slices.Equal(x, y)
}

func (c *commuting) byLink(x, y posted) int {
	if by := cmp.Compare(x.place, y.place); by != 0 || !c.Unordered {
		return by
	}
	return cmp.Compare(x.message, y.message)
}
