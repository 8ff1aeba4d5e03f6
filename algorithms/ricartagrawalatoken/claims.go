package ricartagrawalatoken

import (
	"slices"

	"dmebench/dme"
	"dmebench/dme/claim"
)

func claims() claim.List {
	const source = "Chaudhuri and Karaata 1998, section 1"
	const paper = "Ricart and Agrawala 1983"
	return slices.Concat(claim.SafeAndLive(paper), claim.HandOver(1, claim.Mean, paper), claim.List{
		// The token rests with the last requester: if requesters are drawn uniformly, the next one
		// is the same with probability 1/N.
		claim.MessagesPerCS.Averages("0 or N: N(N−1)/N for uniformly drawn requesters", claim.Light, source).
			As("N(N−1)/N"),
		claim.MessagesPerCS.AtMost("N", claim.AnyLoad, source),
		claim.KindPerCS("TOKEN").AtMost("0 or 1", claim.AnyLoad, source).As("1"),
		// of two, the one inside may ask again in time
		claim.MessagesPerCS.Averages("N", claim.Saturated, source).
			Where(func(s dme.Setting) bool { return s.Nodes >= 3 }),
	})
}

// invariants are those of a single token, and of the numbers that tell a request
// that it has served from one that it has not.
func invariants() []dme.Invariant {
	const source = "Ricart and Agrawala, CACM 26(2), 1983"
	return []dme.Invariant{
		dme.OneToken(source, dme.OfKind(kindToken)),
		dme.PairInvariant("request numbers", source,
			"no node has heard of a request that was not made: request_i[j] ≤ clock_j", requestNumbers),
		dme.StateInvariant("executed requests", source,
			"the token has served no request that was not made: token[j] ≤ clock_j", executedRequests),
	}
}

func requestNumbers(_ dme.GlobalView, i, j dme.NodeID, n, other *node) error {
	if number := n.request[j-1]; number > other.clock {
		return dme.Broken([]dme.NodeID{i, j}, "node %d has heard of request %d of node %d, whose last request is %d", i, number, j, other.clock)
	}
	return nil
}

func executedRequests(v dme.GlobalView) error {
	var token []uint64
	for _, n := range dme.NodesOf[*node](v) {
		if n.token != nil {
			token = n.token
		}
	}
	for _, f := range v.InFlight() {
		if f.Kind == kindToken {
			token = f.Vec
		}
	}
	if token == nil {
		return nil
	}
	for j, n := range dme.NodesOf[*node](v) {
		if token[j-1] > n.clock {
			return dme.Broken([]dme.NodeID{j}, "the token has the number %d for node %d, whose last request is %d", token[j-1], j, n.clock)
		}
	}
	return nil
}
