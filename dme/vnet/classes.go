package vnet

import (
	"encoding/binary"
	"slices"

	"dmebench/dme"
)

// Classes merges the states that differ only in the values of logical clocks, so that systems whose
// nodes ask without end have finitely many. States are in the same class if their clocks have the
// same order, and the same differences between neighbours in it, those of [Gap] and more counting
// as one. Each class has one representative, whose clocks are as low as can be: the lowest of each
// domain is 1, and no difference is above Gap.
//
// # Why this is sound
//
// Handlers compare clocks, copy them and set them to the successor of one; see [dme.Visitor.Clock].
// So what a handler does in a state it does in every state of the class, and its outcomes are of
// one class too, but for one thing: a node whose clock is Gap or more below the next steps up by
// one, and the difference may now be Gap−1, or still Gap or more. The representative of the step's
// outcome shows only the first; [Classes.Step] yields both. Hence every schedule of the system is
// one between representatives, step by step, and what holds of all schedules between
// representatives (no state in which a property is broken, no fair cycle in which a node waits)
// holds of all schedules of the system. The other way round there may be a schedule between
// representatives that the system has not: a counterexample has to be repeated by a network.
//
// If the nodes show rising clocks, classes are larger: see [timestamps].
//
// An algorithm that does not say what its clocks are ([dme.Algorithm.Clocks]) has as many classes
// as states. One goroutine uses it.
type Classes struct {
	*Space
	exec     *executor // has nodes to load states into
	locals   []*clocked
	messages []*clocked
	queues   []*clocked
	memo     map[string]uint32 // component and new clocks: component
	bytes    int               // approximate size of the above

	wide []span // of the state that a step is taken from: differences of Gap and more

	timed timestamps

	// Of the state that is looked at.
	old   []level
	fresh []uint64 // what becomes of each of old
	most  []uint64 // and its largest difference from the one before, if that is uncertain; else 0
	rep   []uint32
	key   []byte
	ids   []uint32
}

// Gap is the least difference between two clocks that is as good as any larger
// one: handlers tell apart only equal clocks, successors, and others.
const Gap = 2

// span is a pair of neighbours among the values of a domain's clocks.
type span struct {
	domain    dme.NodeID
	low, high uint64
}

// NewClasses returns the classes of a space's states.
func (s *Space) NewClasses() *Classes {
	c := &Classes{Space: s, exec: newExecutor(s), memo: make(map[string]uint32), rep: make([]uint32, s.width)}
	c.timed = timestamps{use: c.timestamped(), raised: make(map[raising]uint32), lowered: make(map[lowering]uint32)}
	return c
}

// Ordered reports whether states are distinguished by the order of timestamps; see
// [dme.Visitor.Rising].
func (c *Classes) Ordered() bool { return c.timed.use }

// Footprint is the approximate size of the classes in bytes, without their space.
func (c *Classes) Footprint() int { return c.bytes }

// from says from which representative the steps are taken whose outcomes after is asked for next.
func (c *Classes) from(v []uint32) {
	c.wide = c.wide[:0]
	c.look(v)
	for i := range c.old {
		if i > 0 && c.old[i-1].domain() == c.old[i].domain() && c.old[i].value()-c.old[i-1].value() >= Gap {
			c.wide = append(c.wide, span{c.old[i].domain(), c.old[i-1].value(), c.old[i].value()})
		}
	}
}

// Of returns the representative of a state's class. It is valid until the next call.
func (c *Classes) Of(v []uint32) (rep []uint32) {
	c.wide = c.wide[:0]
	c.after(v, func(v []uint32) { rep = v })
	return rep
}

// after yields the representatives of all classes to which a step may lead that
// leads from the representative given to from to state v. A representative is
// valid until the next one.
func (c *Classes) after(v []uint32, yield func(rep []uint32)) {
	if c.Algorithm.Clocks == nil {
		yield(v)
		return
	}
	c.look(v)
	c.most, c.fresh = c.most[:0], c.fresh[:0]
	for i := range c.old {
		most := uint64(0)
		if i > 0 && c.old[i-1].domain() == c.old[i].domain() && c.old[i].value()-c.old[i-1].value() < Gap && c.uncertain(c.old[i-1], c.old[i]) {
			most = Gap
		}
		c.most = append(c.most, most)
	}
	c.choose(v, 0, yield)
}

// uncertain reports whether the difference between two neighbours may be larger
// in other states of the class: the lower one has stepped up, from the lower end
// of a wide difference.
func (c *Classes) uncertain(x, y level) bool {
	return slices.ContainsFunc(c.wide, func(s span) bool {
		return s.domain == x.domain() && s.low < x.value() && x.value() < s.high && s.high <= y.value()
	})
}

func (c *Classes) choose(v []uint32, i int, yield func(rep []uint32)) {
	if i == len(c.old) {
		yield(c.renumbered(v))
		return
	}
	least, before := uint64(1), uint64(0) // the lowest of its domain is 1
	if i > 0 && c.old[i-1].domain() == c.old[i].domain() {
		least, before = min(Gap, c.old[i].value()-c.old[i-1].value()), c.fresh[i-1]
	}
	for difference := least; difference <= max(least, c.most[i]); difference++ {
		c.fresh = append(c.fresh[:i], before+difference)
		c.choose(v, i+1, yield)
	}
}

// lowest appends what becomes of levels, which are in order and different, where
// the lowest of each domain is 1 and no difference is above Gap.
func lowest(to []uint64, levels []level) []uint64 {
	for i, x := range levels {
		value := uint64(1)
		if i > 0 && levels[i-1].domain() == x.domain() {
			value = to[i-1] + min(Gap, x.value()-levels[i-1].value())
		}
		to = append(to, value)
	}
	return to
}

// Differences returns those between neighbouring clocks of a state, domain by domain.
func (c *Classes) Differences(v []uint32) []uint64 {
	if c.Algorithm.Clocks == nil {
		return nil
	}
	c.look(v)
	var all []uint64
	for i := range c.old {
		if i > 0 && c.old[i-1].domain() == c.old[i].domain() {
			all = append(all, c.old[i].value()-c.old[i-1].value())
		}
	}
	return all
}

// In is [Space.In] where v is the representative of the network's state.
func (c *Classes) In(n *Network, v []uint32, x Step) (Step, bool) {
	if x.ofMessage() && c.Unordered {
		state, _ := c.Space.Of(n)
		c.Of(state) // for the new values of its clocks
	}
	return c.in(n, v, x, c.message)
}

// Skeleton returns the number of a message with all its clocks alike: what can
// be said of it that no change of clocks changes. x is the step by which the
// message arrives in state v.
func (c *Classes) Skeleton(v []uint32, x Step) uint32 {
	return c.skeleton(c.Space.queues.at(v[c.places[c.link(x.From, x.Node)]]).messages[x.Index])
}

// Skeletons appends the skeletons of all messages that are on the way in state v.
func (c *Classes) Skeletons(to []uint32, v []uint32) []uint32 {
	for _, queue := range v[c.Nodes : c.width-1] {
		for _, id := range c.Space.queues.at(queue).messages {
			to = append(to, c.skeleton(id))
		}
	}
	return to
}

func (c *Classes) skeleton(id uint32) uint32 {
	if c.Algorithm.Clocks == nil {
		return id
	}
	return c.changedMessage(id, func(x dme.ClockVariable) { *x.Value = 0 })
}

func (c *Classes) look(v []uint32) {
	c.old, c.timed.levels = c.old[:0], c.timed.levels[:0]
	if c.Algorithm.Clocks == nil {
		return
	}
	for _, id := range v[:c.Nodes] {
		c.insert(c.ofLocal(id).levels)
	}
	for _, id := range v[c.Nodes : c.width-1] {
		if id != 0 {
			c.insert(c.ofQueue(id).levels)
		}
	}
	t := &c.timed
	t.order = t.order[:0]
	for _, l := range t.levels {
		if !l.rising() {
			t.order = append(t.order, l)
		}
	}
}

// insert puts levels into their places among the few of a state.
func (c *Classes) insert(levels []level) {
	for _, x := range levels {
		to := &c.old
		if c.timed.of(x) {
			to = &c.timed.levels
		}
		at := len(*to)
		for at > 0 && x < (*to)[at-1] {
			at--
		}
		if at == 0 || (*to)[at-1] != x {
			*to = slices.Insert(*to, at, x)
		}
	}
}

func (c *Classes) renumbered(v []uint32) []uint32 {
	copy(c.rep, v)
	for i, id := range v[:c.Nodes] {
		c.rep[i] = c.renumberedAs(ofLocals, id)
	}
	for i, id := range v[c.Nodes : c.width-1] {
		if id != 0 {
			c.rep[c.Nodes+i] = c.renumberedAs(ofQueues, id)
		}
	}
	return c.rep
}

func (c *Classes) chosen(l level) uint64 {
	if c.timed.of(l) {
		return c.timed.chosen(l)
	}
	for i, x := range c.old { // there are few
		if x == l {
			return c.fresh[i]
		}
	}
	panic("vnet: a clock that was not seen")
}

func (c *Classes) renumber(x dme.ClockVariable) {
	if x.Live {
		*x.Value = c.chosen(c.level(x))
	} else {
		*x.Value = 0
	}
}

// The keys of Classes.memo distinguish components by these.
const (
	ofLocals byte = iota
	ofQueues
)

func (c *Classes) renumberedAs(kind byte, id uint32) uint32 {
	x := c.clocksOf(kind, id)
	same := !x.stale
	key := binary.LittleEndian.AppendUint32(append(c.key[:0], kind), id)
	for _, l := range x.levels {
		value := c.chosen(l)
		same = same && value == l.value()
		key = binary.AppendUvarint(key, value)
	}
	c.key = key
	if same {
		return id
	}
	to, ok := c.memo[string(key)]
	if !ok {
		kept := string(key)
		to = c.changed(kind, id, c.renumber)
		c.memo[kept] = to
		c.bytes += 64 + len(kept)
	}
	return to
}

func (c *Classes) message(id uint32) uint32 {
	if c.Algorithm.Clocks == nil {
		return id
	}
	return c.changedMessage(id, c.renumber)
}

func (c *Classes) changed(kind byte, id uint32, change func(dme.ClockVariable)) (to uint32) {
	if kind == ofLocals {
		n, at := c.loaded(id), c.Space.locals.at(id)
		dme.VisitClocks(n, change)
		to, c.key = c.localOf(c.key, at.id, at.process, n)
		return to
	}
	c.ids = c.ids[:0]
	for _, m := range c.Space.queues.at(id).messages {
		c.ids = append(c.ids, c.changedMessage(m, change))
	}
	if c.Unordered {
		c.sortBetweenNews(c.ids)
	}
	to, c.key = c.queueOf(c.key, c.ids)
	return to
}

func (c *Classes) changedMessage(id uint32, change func(dme.ClockVariable)) (to uint32) {
	m, x := c.decoded(id), c.Space.messages.at(id)
	dme.VisitMessageClocks(c.Algorithm, c.Nodes, x.From, &m, change)
	to, c.key = c.messageOf(c.key, x.passage, dme.AppendMessage(nil, &m))
	return to
}

// The clocks of the components of a state, by which [Classes] compares states.

// level is the value of a clock, and what else it is compared by: its domain first,
// then the value, then the node of a timestamp or a rising clock, and a rising clock
// is after the timestamp to which it is equal. Levels are compared as numbers.
type level uint64

// The bits of a level, from the lowest: rising or not, its node, its value, its domain.
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

type clocked struct {
	levels []level // in order, each once
	rising []level // as they are met, each as often
	bare   uint32  // the component without them, plus one; 0: not known
	stale  bool    // there are others that do not matter and are not 0
}

// known returns the clocks of a component, by its number, and finds them at first.
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

func (c *Classes) clocksOf(kind byte, id uint32) *clocked {
	if kind == ofLocals {
		return c.ofLocal(id)
	}
	return c.ofQueue(id)
}

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
