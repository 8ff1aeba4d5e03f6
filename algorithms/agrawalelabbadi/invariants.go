package agrawalelabbadi

import (
	"dmebench/algorithms/quorum"
	"dmebench/dme"
)

// invariants are those of the permission that each site has, and gives to one
// request at a time.
func invariants() []dme.Invariant {
	return []dme.Invariant{
		dme.PairInvariant("one permission", "textbook, section 9.9.5, steps 3, 5 and 7, with A1",
			"the permission of a site is at the node whose request it has granted, or in one Reply, Yield or Relinquish between "+
				"the two, and with no other node", onePermission),
		dme.PairInvariant("one Request", "textbook, section 9.9.5, steps 1, 2 and 8",
			"at each site of its quorum, the Request of a node that waits or is inside is on its way, or in the queue, or granted", oneRequest),
	}
}

func oneRequest(v dme.GlobalView, a, i dme.NodeID, site, n *node) error {
	if n.request.IsZero() || n.MemberIndex(a) < 0 {
		return nil
	}
	requests, queued := 0, 0
	for _, m := range v.Between(i, a) {
		if m.Kind == kindRequest && m.Clock == n.request.Clock {
			requests++
		}
	}
	for _, r := range site.waiting {
		queued += dme.Count(r == n.request)
	}
	if requests+queued+dme.Count(site.granted == n.request) != 1 {
		return dme.Broken([]dme.NodeID{a, i},
			"the Request %v is %d times on its way to site %d and %d times in its queue; the site has granted %v",
			n.request, requests, a, queued, site.granted)
	}
	return nil
}

func onePermission(v dme.GlobalView, a, i dme.NodeID, site, n *node) error {
	permissions := dme.Between(v, kindReply, a, i) + dme.Between(v, kindYield, i, a) + dme.Between(v, kindRelinquish, i, a)
	permissions += dme.Count(n.holds(a))
	if want := dme.Count(site.granted.Node == i); permissions != want {
		return dme.Broken([]dme.NodeID{a, i},
			"site %d has granted %v; node %d has its permission: %t, and with messages between the two there are %d permissions, not %d",
			a, site.granted, i, n.holds(a), permissions, want)
	}
	return nil
}

// Waits returns what a node waits for: as a requester, the missing replies; as a site with waiting
// requests, that the holder of its permission gives it back; after a restart, what the others hold.
// Its other part says what it waits for from itself.
func (n *node) Waits() []dme.Wait {
	j, what := n.granted.Node, "Relinquish"
	if n.inquired {
		what = "Yield or Relinquish"
	}
	return quorum.Waits(n.waits(), dme.WaitIf(j != dme.None && j != n.ID && len(n.waiting) > 0, what, j),
		dme.WaitIf(true, "Reclaim, or word that it holds no permission", n.failures.Unheard()...))
}

// Waits does the same for the printed protocol, where the head of the queue holds the permission.
func (n *publishedNode) Waits() []dme.Wait {
	if len(n.queue) == 0 {
		return n.waits()
	}
	head := n.queue[0].Node
	return quorum.Waits(n.waits(), dme.WaitIf(len(n.queue) > 1 && head != n.ID, "Relinquish", head))
}

// waits returns the replies that the requester lacks.
func (n *requester) waits() []dme.Wait {
	return dme.WaitIf(n.pending(), "Reply", n.Lacking(n.replied.Has)...)
}
