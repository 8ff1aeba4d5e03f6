package dme

// Logical clocks and sequence numbers grow without end, and so do the states of
// a node that asks without end. Algorithms compare them, though, and hardly ever
// do more: what a node does in a state it does as well where all of them are
// higher by the same amount. An algorithm that says which of its numbers are
// such clocks has states that are finite but for that, and an exhaustive search
// can come to an end where requests do not.
//
// A number is a clock if the handlers do nothing with it but compare it with
// other clocks of its domain (equality with the successor of another included),
// copy it, and set it to the largest of some, or the successor of that. A node
// must do the same wherever the differences between the clocks of the whole
// system are the same, and wherever one difference of 2 or more is another such
// difference. Arithmetic modulo a number is more than that. The conformance
// suite looks for a state in which it does not hold.

// Clock shows a logical clock that all nodes compare with their own.
func (v *Visitor) Clock(name string, p *uint64) { v.ClockOf(None, name, p) }

// ClockOf shows a number that is compared only with the numbers of the same
// domain, such as the sequence numbers of one node's requests. None is the
// domain of [Visitor.Clock] and of timestamps.
func (v *Visitor) ClockOf(domain NodeID, name string, p *uint64) {
	v.ClockWhile(true, domain, name, p)
}

// ClockWhile shows a clock that is looked at only while it is live: until it is
// live again, and has been set, the node does the same whatever its value.
func (v *Visitor) ClockWhile(live bool, domain NodeID, name string, p *uint64) {
	if v.mode == visiting {
		v.each(domain, p, live)
		return
	}
	v.Uint(name, p)
}

// ClocksOf shows a vector of clocks of one domain.
func (v *Visitor) ClocksOf(domain NodeID, name string, p *[]uint64) {
	if v.mode == visiting {
		for j := range *p {
			v.each(domain, &(*p)[j], true)
		}
		return
	}
	v.Uints(name, p)
}

// ClocksByNode shows a vector of numbers of which that of node j, at j−1, is
// compared only with others of node j's: [Visitor.ClockOf] with the domain j.
// Behind those of n nodes there may be numbers that are no clocks.
func (v *Visitor) ClocksByNode(n int, name string, p *[]uint64) {
	if v.mode == visiting {
		for j := range min(n, len(*p)) {
			v.each(NodeID(j+1), &(*p)[j], true)
		}
		return
	}
	v.Uints(name, p)
}

// VisitClocks calls each with every clock among n's variables, which it may
// change. A clock that is not live may have any value.
func VisitClocks(n Node, each func(domain NodeID, clock *uint64, live bool)) {
	v := Visitor{mode: visiting, each: each}
	n.State(&v)
}

// VisitMessageClocks calls each with every clock in a message of a system of n
// nodes, which it may change, as [Algorithm.Clocks] shows them.
func VisitMessageClocks(a *Algorithm, n int, from NodeID, m *Message, each func(domain NodeID, clock *uint64, live bool)) {
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
