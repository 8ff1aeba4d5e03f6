package ricartagrawala

import (
	"slices"

	"dmebench/dme"
	"dmebench/dme/claim"
)

func lastingClaims() claim.List {
	const source = "Chaudhuri and Karaata 1998, section 1"
	const paper = "Carvalho and Roucairol 1983"
	return slices.Concat(claim.SafeAndLive(paper), claim.HandOver(1, claim.Mean, paper), claim.List{
		claim.CostPerPeer(2, claim.AnyLoad, claim.UpperBound, source),
		claim.MessagesPerCS.AtLeast("0", claim.AnyLoad, source),
		// A lone request costs two messages for each node that has entered
		// since the requester did. Of two nodes drawn uniformly again and
		// again, either was the last with probability 1/2.
		claim.MessagesPerCS.Averages("between 0 and 2(N−1): N−1 for uniformly drawn requesters",
			claim.Light, source).As("N−1"),
		// A node that leaves has given its permission to all that wait.
		claim.CostPerPeer(2, claim.Saturated, claim.Mean, source+": between 0 and 2(N−1)"),
		claim.MessagesPerCS.AtMost("fewer than N−1, where few nodes make most requests",
			claim.HotSpot, source+": between 0 and 2(N−1)").
			Where(func(s dme.Setting) bool { return s.Nodes >= 3 }),
	})
}

// lastingInvariants are those of lasting permissions.
func lastingInvariants() []dme.Invariant {
	const source = "Carvalho and Roucairol, CACM 26(2), 1983"
	return []dme.Invariant{
		dme.PairInvariant("one permission", source,
			"of any two nodes at most one has the other's permission, or the REPLY that gives it on its way",
			onePermission),
		dme.PairInvariant("one answer", source+", with Ricart and Agrawala, TR-869, section 2.2",
			"a node that waits for another one's permission has one REQUEST on its way to it, or is deferred there, "+
				"or the REPLY is on its way", lastingAnswer),
	}
}

// given reports whether a node has the permission of j, or will once a REPLY arrives.
func given(v dme.GlobalView, i, j dme.NodeID, n *lastingNode) bool {
	return !n.lacking.Has(j) || dme.Between(v, kindReply, j, i) > 0
}

func onePermission(v dme.GlobalView, i, j dme.NodeID, n, other *lastingNode) error {
	if i < j && given(v, i, j, n) && given(v, j, i, other) {
		return dme.Broken([]dme.NodeID{i, j}, "nodes %d and %d have each other's permission, counting %d REPLYs on their way",
			i, j, dme.Between(v, kindReply, j, i)+dme.Between(v, kindReply, i, j))
	}
	return nil
}

func lastingAnswer(v dme.GlobalView, i, j dme.NodeID, n, other *lastingNode) error {
	if i == j {
		return nil
	}
	requests, replies := dme.Between(v, kindRequest, i, j), dme.Between(v, kindReply, j, i)
	deferred, want := dme.Count(other.replyDeferred.Has(i)), dme.Count(n.requesting && n.lacking.Has(j))
	if requests+replies+deferred != want {
		return dme.Broken([]dme.NodeID{i, j}, "node %d awaits %d REPLYs of node %d, which has deferred %d, "+
			"with %d REQUESTs and %d REPLYs on their way", i, want, j, deferred, requests, replies)
	}
	return nil
}
