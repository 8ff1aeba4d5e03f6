package caosinghal

import (
	"slices"

	"dmebench/dme"
	"dmebench/dme/claim"
)

func claims() claim.List {
	const paper = "Cao and Singhal 2001"
	return slices.Concat(claim.SafeAndLive(paper), claim.HandOver(1, claim.Mean, paper), claim.List{
		claim.MessagesPerCS.Averages("3(K−1), K the mean", claim.Light, paper).As("3(K−1)"),
		claim.MessagesPerCS.AtMost("6(K−1)", claim.Saturated, paper),
		claim.MessagesPerCS.Grows(claim.Growth{Exponent: 0.5, Order: true}, "O(√N)", claim.Saturated, paper).
			As("√N").Where(func(s dme.Setting) bool { return s.Options.Get("quorum") == "plane" }),
	})
}

func invariants() []dme.Invariant {
	const source = "Cao and Singhal 2001, an arbiter's permission"
	return []dme.Invariant{
		dme.StateInvariant("one permission", source,
			"the permission of a node is at that node, or at one other, or in one REPLY, YIELD or RELEASE", onePermission),
		dme.PairInvariant("one REQUEST", source,
			"at each member of its request set, the request of a node that waits or is inside is on its way, or waits, or has the permission",
			oneRequest),
	}
}

// onePermission counts, for each arbiter, the places of the permission with the highest
// number.
func onePermission(v dme.GlobalView) error {
	places := make([]int, v.Setting().Nodes+1)
	for id, n := range dme.NodesOf[*node](v) {
		places[id] += dme.Count(n.lock.IsZero())
		for k, j := range n.Members {
			places[j] += dme.Count(n.held.Has(k))
		}
	}
	for _, f := range v.InFlight() {
		switch {
		case f.Kind == kindReply:
			places[f.Node]++
		case f.Kind == kindYield, f.Kind == kindRelease && f.Req.IsZero():
			places[f.To]++
		}
	}
	for id := range dme.NodesOf[*node](v) {
		if places[id] != 1 {
			return dme.Broken([]dme.NodeID{id}, "the permission of node %d is in %d places", id, places[id])
		}
	}
	return nil
}

func oneRequest(v dme.GlobalView, a, i dme.NodeID, arbiter, n *node) error {
	if n.request.IsZero() || n.MemberIndex(a) < 0 {
		return nil
	}
	requests := 0
	for _, m := range v.Between(i, a) {
		requests += dme.Count(m.Kind == kindRequest)
	}
	requests += dme.Count(arbiter.lock == n.request) + dme.Count(arbiter.waitingOf(i) == n.request)
	if requests != 1 {
		return dme.Broken([]dme.NodeID{a, i}, "the request %v of node %d has %d places at member %d", n.request, i, requests, a)
	}
	return nil
}
