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
		{
			Name: "one REQUEST", Citation: "Maekawa 1985, section 4 (1), (2) and (4)",
			Statement: "at each member of its request set, the REQUEST of a node that waits or is inside is on its way, or in the WAITING QUEUE, " +
				"or the member is locked for it",
			Holds: oneRequest,
		},
	}
}

func oneRequest(v dme.GlobalView) error {
	for i, n := range dme.NodesOf[*node](v) {
		if n.request.IsZero() {
			continue
		}
		for _, a := range n.Members {
			arbiter, requests, queued, locked := dme.NodeOf[*node](v, a), 0, 0, 0
			for _, m := range v.Between(i, a) {
				if m.Kind == kindRequest && m.Clock == n.request.Clock {
					requests++
				}
			}
			for _, r := range arbiter.waiting {
				if r == n.request {
					queued++
				}
			}
			if arbiter.locking == n.request {
				locked++
			}
			if requests+queued+locked != 1 {
				return dme.Broken([]dme.NodeID{a, i}, "the REQUEST %v is %d times on its way to member %d and %d times in its WAITING QUEUE; "+
					"the member is locked for %v", n.request, requests, a, queued, arbiter.locking)
			}
		}
	}
	return nil
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
