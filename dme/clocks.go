package dme

// Logical clocks and sequence numbers grow without end, and so do the states of a node that asks
// without end. Algorithms compare them, though, and hardly ever do more: what a node does in a
// state it does as well if all of them are higher by the same amount. An algorithm that says which
// of its numbers are such clocks has states that are finite but for that, and an exhaustive search
// can come to an end if requests do not.
//
// A number is a clock if the handlers do nothing with it but compare it with other clocks of its
// domain (equality with the successor of another included), copy it, and set it to the largest of
// some, or the successor of that. A node must do the same wherever the differences between the
// clocks of the whole system are the same, and wherever one difference of 2 or more is another such
// difference. Arithmetic modulo a number is more than that. The conformance suite, and a search
// before it rests a verdict on this, look for a state in which it does not hold.

// ClockVariable is a clock as a visit shows it.
type ClockVariable struct {
	Name   string // as the visit shows it; "" within a list, and mostly in messages
	Domain NodeID // see [Visitor.ClockOf]
	Node   NodeID // of a timestamp: whose it is; of a rising clock: as whose it is compared; else None
	Value  *uint64
	Live   bool // else its value does not matter
	Rising bool // see [Visitor.Rising]
}

// Clock shows a logical clock that all nodes compare with their own.
func (v *Visitor) Clock(name string, p *uint64) { v.ClockWhile(true, None, name, p) }

// ClockOf shows a number that is compared only with the numbers of the same
// domain, such as the sequence numbers of one node's requests. None is the
// domain of [Visitor.Clock] and of timestamps.
func (v *Visitor) ClockOf(domain NodeID, name string, p *uint64) { v.ClockWhile(true, domain, name, p) }

// ClockWhile shows a clock that matters only while it is live: until it is live again, and has been
// set, the node does the same whatever its value.
func (v *Visitor) ClockWhile(live bool, domain NodeID, name string, p *uint64) {
	v.clock(ClockVariable{Name: name, Domain: domain, Value: p, Live: live})
}

func (v *Visitor) clock(x ClockVariable) {
	if v.mode == visiting {
		v.each(x)
	} else {
		v.Uint(x.Name, x.Value)
	}
}

// ClocksOf shows a vector of clocks of one domain.
func (v *Visitor) ClocksOf(domain NodeID, name string, p *[]uint64) {
	v.clocks(len(*p), name, p, func(int) NodeID { return domain })
}

// ClocksByNode shows a vector of numbers, in which the number of node j, at j−1, is compared only
// with others of node j's: [Visitor.ClockOf] with the domain j. Behind those of n nodes there may
// be numbers that are no clocks.
func (v *Visitor) ClocksByNode(n int, name string, p *[]uint64) {
	v.clocks(min(n, len(*p)), name, p, func(j int) NodeID { return NodeID(j + 1) })
}

// ClocksAt shows a vector of numbers in which element k is compared only with others of the domain
// nodes[k].
func (v *Visitor) ClocksAt(nodes []NodeID, name string, p *[]uint64) {
	v.clocks(len(*p), name, p, func(k int) NodeID { return nodes[k] })
}

func (v *Visitor) clocks(n int, name string, p *[]uint64, domain func(j int) NodeID) {
	if v.mode != visiting {
		v.Uints(name, p)
		return
	}
	for j := range n {
		v.clock(ClockVariable{Name: name, Domain: domain(j), Value: &(*p)[j], Live: true})
	}
}

// Rising shows a logical clock that does no more than rise above what it meets, as Lamport's does:
//
//   - An event sets it at most once, to the successor of the largest of itself and the clocks that
//     it meets, and before it looks at the clock or sends it.
//   - Handlers may send it, and compare it with timestamps, as node's. An event that has set it may
//     make a timestamp of it, with node for its node.
//   - An event that has set it compares with timestamps either the clock (to make a timestamp of it
//     is such a comparison) or the clocks of the message that arrives, and not both. A message's
//     clock has passed what the successor passes only by accident: with one that is 3, node 1's
//     timestamp of 4 is not passed, and yet node 2's next timestamp may be a later 4.
//
// A node shows one at most. The timestamps that a node has sent are never above its clock, and on
// each link never below those that it has sent there before.
//
// How far apart such clocks are, and which of two is ahead, matters only when one of them becomes a
// timestamp. So a search can tell states apart by the order of the timestamps and by which of them
// each clock is known to have passed, which leaves far fewer states than [Visitor.Clock] does.
// Timestamps are shown by [Visitor.Stamp] or [Visitor.Timestamp] then. The conformance suite, and a
// search that rests a verdict on this, look for states in which a node breaks these rules.
func (v *Visitor) Rising(name string, node NodeID, p *uint64) {
	v.clock(ClockVariable{Name: name, Node: node, Value: p, Live: true, Rising: true})
}

// Timestamp shows the clock of node's timestamp, if there are clocks that are shown by
// [Visitor.Rising].
func (v *Visitor) Timestamp(name string, node NodeID, p *uint64) {
	v.clock(ClockVariable{Name: name, Node: node, Value: p, Live: true})
}

// VisitClocks calls each with every clock among n's variables, which it may
// change. A clock that is not live may have any value.
func VisitClocks(n Node, each func(ClockVariable)) {
	v := Visitor{mode: visiting, each: each}
	n.State(&v)
}

// VisitMessageClocks calls each with every clock in a message of a system of n
// nodes, which it may change, as [Algorithm.Clocks] shows them.
func VisitMessageClocks(a *Algorithm, n int, from NodeID, m *Message, each func(ClockVariable)) {
	v := Visitor{mode: visiting, each: each}
	a.Clocks(n, from, m, &v)
}

// ClockInMessages is Clocks for an algorithm whose messages carry logical clocks
// of one domain, in Clock, Req and Done. A Clock of 0 is none.
func ClockInMessages(_ int, _ NodeID, m *Message, v *Visitor) {
	v.ClockWhile(m.Clock != 0, None, "", &m.Clock)
	v.Stamp("", &m.Req)
	v.Stamp("", &m.Done)
}
