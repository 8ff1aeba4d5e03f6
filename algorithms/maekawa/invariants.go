package maekawa

import (
	"dmebench/algorithms/quorum"
	"dmebench/dme"
)

// invariants are those of the lock that each member has, and gives to one request
// at a time.
func invariants() []dme.Invariant {
	return []dme.Invariant{
		dme.PairInvariant("one lock", "Maekawa 1985, section 4 (2), (4) and (7)",
			"the lock of a member is at the node whose REQUEST it is locked for, or in one LOCKED, RELINQUISH or RELEASE "+
				"between the two, and with no other node", oneLock),
		dme.PairInvariant("one INQUIRE", "Maekawa 1985, section 4 (2)",
			"at most one INQUIRE is on its way from a member for its current lock", oneInquire),
		dme.PairInvariant("one REQUEST", "Maekawa 1985, section 4 (1), (2) and (4)",
			"at each member of its request set, the REQUEST of a node that waits or is inside is on its way, or in the WAITING QUEUE, "+
				"or the member is locked for it", oneRequest),
	}
}

func oneRequest(v dme.GlobalView, a, i dme.NodeID, arbiter, n *node) error {
	if n.request.IsZero() || n.MemberIndex(a) < 0 {
		return nil
	}
	requests, queued := 0, 0
	for _, m := range v.Between(i, a) {
		if m.Kind == kindRequest && m.Clock == n.request.Clock {
			requests++
		}
	}
	for _, r := range arbiter.waiting {
		queued += dme.Count(r == n.request)
	}
	if requests+queued+dme.Count(arbiter.locking == n.request) != 1 {
		return dme.Broken([]dme.NodeID{a, i}, "the REQUEST %v is %d times on its way to member %d and %d times in its WAITING QUEUE; "+
			"the member is locked for %v", n.request, requests, a, queued, arbiter.locking)
	}
	return nil
}

func oneLock(v dme.GlobalView, a, i dme.NodeID, arbiter, n *node) error {
	k := n.MemberIndex(a)
	held := k >= 0 && n.locked.Has(k)
	locks := dme.Between(v, kindLocked, a, i) + dme.Between(v, kindRelinquish, i, a) + dme.Between(v, kindRelease, i, a) + dme.Count(held)
	if want := dme.Count(arbiter.locking.Node == i); locks != want {
		return dme.Broken([]dme.NodeID{a, i},
			"member %d is locked for %v; node %d holds its lock: %t, and with messages between the two there are %d locks, not %d",
			a, arbiter.locking, i, held, locks, want)
	}
	return nil
}

func oneInquire(v dme.GlobalView, a, i dme.NodeID, arbiter, n *node) error {
	if i != arbiter.locking.Node {
		return nil
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
	return nil
}

// Waits returns what a node of the repaired algorithm waits for.
func (n *node) Waits() []dme.Wait {
	return quorum.Waits(n.waits(n.inquiring, !n.inquired.Empty()),
		dme.WaitIf(true, "RECLAIM, or word that it holds no lock", n.failures.Unheard()...))
}

// Waits returns what a node of the paper waits for.
func (n *paperNode) Waits() []dme.Wait { return n.waits(n.inquired, !n.deferred.Empty()) }

// Waits returns what a site of the textbook waits for. The site forgets an INQUIRE that it cannot
// answer.
func (n *textbookNode) Waits() []dme.Wait { return n.waits(true, false) }

// waits returns what is waited for, by peer: as a requester, that members lock themselves; as an
// arbiter with waiting requests, that the node gives way for which this one is locked. inquiring
// says that it has been inquired of, deferred that the requester has yet to answer an INQUIRE. What
// a node waits for from itself is in its other part.
func (s *site) waits(inquiring, deferred bool) []dme.Wait {
	members, holder := "LOCKED", "RELEASE of its lock"
	if deferred {
		members = "LOCKED, or FAILED to answer an INQUIRE"
	}
	if inquiring {
		holder = "RELINQUISH or RELEASE of its lock"
	}
	j := s.locking.Node
	return quorum.Waits(dme.WaitIf(s.pending(), members, s.Lacking(s.locked.Has)...),
		dme.WaitIf(j != dme.None && j != s.ID && len(s.waiting) > 0, holder, j))
}
