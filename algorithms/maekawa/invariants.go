package maekawa

import "dmebench/dme"

// invariants are those of the lock that each member has, and gives to one request
// at a time.
func invariants() []dme.Invariant {
	return []dme.Invariant{
		{
			Name: "one lock", Citation: "Maekawa 1985, section 4 (2), (4) and (7)",
			Statement: "the lock of a member is at the node whose REQUEST it is locked for, or in one LOCKED, RELINQUISH or RELEASE " +
				"between the two, and with no other node",
			Holds: oneLock,
		},
		{
			Name: "one INQUIRE", Citation: "Maekawa 1985, section 4 (2)",
			Statement: "at most one INQUIRE is on its way from a member for its current lock",
			Holds:     oneInquire,
		},
	}
}

func oneLock(v dme.GlobalView) error {
	for a, arbiter := range dme.NodesOf[*node](v) {
		for i, n := range dme.NodesOf[*node](v) {
			locks, held, want := 0, false, 0
			if k := n.MemberIndex(a); k >= 0 && n.locked.Has(k) {
				held = true
				locks++
			}
			for _, m := range v.Between(a, i) {
				if m.Kind == kindLocked {
					locks++
				}
			}
			for _, m := range v.Between(i, a) {
				if m.Kind == kindRelinquish || m.Kind == kindRelease {
					locks++
				}
			}
			if arbiter.locking.Node == i {
				want = 1
			}
			if locks != want {
				return dme.Broken([]dme.NodeID{a, i},
					"member %d is locked for %v; node %d holds its lock: %t, and with messages between the two there are %d locks, not %d",
					a, arbiter.locking, i, held, locks, want)
			}
		}
	}
	return nil
}

func oneInquire(v dme.GlobalView) error {
	for a, arbiter := range dme.NodesOf[*node](v) {
		for i := range dme.NodesOf[*node](v) {
			if i != arbiter.locking.Node {
				continue
			}
			current := 0
			for _, m := range v.Between(a, i) {
				switch {
				case arbiter.numbered:
					if m.Kind == kindInquire && m.Num == arbiter.grant {
						current++
					}
				case m.Kind == kindLocked:
					current = 0 // what is before it is about an earlier lock
				case m.Kind == kindInquire:
					current++
				}
			}
			if current > 1 || current == 1 && !arbiter.inquiring {
				return dme.Broken([]dme.NodeID{a, i}, "%d INQUIREs are on their way from member %d to node %d, for which it is locked",
					current, a, i)
			}
		}
	}
	return nil
}
