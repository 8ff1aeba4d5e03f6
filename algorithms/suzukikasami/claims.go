package suzukikasami

import (
	"slices"

	"dmebench/dme"
	"dmebench/dme/claim"
)

func claims() claim.List {
	const source = "textbook, section 9.11"
	return slices.Concat(claim.SafeAndLive(source+", theorem 9.3"), claim.HandOver(1, claim.UpperBound, source+": 0 or T"), claim.List{
		// 0 for the site that has the idle token, N for any other. The token rests with the last
		// requester: if requesters are drawn uniformly, the next one is the same with probability
		// 1/N.
		claim.MessagesPerCS.Averages("0 or N: N(N−1)/N for uniformly drawn requesters", claim.Light, source).
			As("N(N−1)/N"),
		claim.MessagesPerCS.AtMost("N", claim.AnyLoad, source+"; Chaudhuri and Karaata 1998, section 1"),
		// The theorem on liveness: at most N−1 requests in front of one
		// that is in the token's queue. Entries before the REQUEST has
		// reached the token are not counted by it.
		claim.QueueLength.AtMost("N − 1", claim.AnyLoad, source+", theorem 9.3"),
		AheadInQueue.AtMost("N − 1: at most this many ahead of a request that is in the token's queue",
			claim.Worst, source+", theorem 9.3"),
		claim.Bypass.AtMost("N − 1: at most this many ahead, counted from when a site asks",
			claim.Contention, source+", theorem 9.3, taken for overtaking").
			Refuted("while the REQUEST is on its way, sites that have asked later enter, and one that holds the token enters " +
				"as often as it likes; the bound counts from when the request is in the token's queue"),
		claim.KindPerCS("TOKEN").AtMost("0 or 1", claim.AnyLoad, source).As("1"),
		claim.KindPerCS("REQUEST").AtMost("0 or N−1", claim.AnyLoad, source).As("N−1"),
		// The idle token is with the requester with probability 1/N.
		claim.ResponseTime.Averages("E, or 2T + E: 2T(N−1)/N + E for uniformly drawn requesters",
			claim.Light, source).As("2T(N−1)/N + E"),
	})
}

// AheadInQueue counts the entries of others from when a request is in the token's
// queue until its own.
var AheadInQueue = claim.Quantity{ID: "ahead-in-queue", Name: "entries by others while a request is in the token's queue"}

// newAhead follows the requests in the token's queue.
func newAhead(s dme.Setting) dme.Meter {
	since := slices.Repeat([]int{-1}, s.Nodes+1) // by site, from 1: entries of all when its request came into the queue; −1: it is not there
	entries := 0
	found := func(j uint64) {
		if since[j] < 0 {
			since[j] = entries
		}
	}
	return dme.Largest(func(x *dme.Event) (ahead float64, ok bool) {
		switch {
		case x.Kind == dme.Enter:
			before := since[x.ID]
			ahead, ok = float64(entries-before), before >= 0
			since[x.ID] = -1
			entries++
		case x.Kind == dme.Send && x.Msg.Kind == kindToken && len(x.Msg.Vec) >= s.Nodes:
			// The queue as it leaves a site, and before it the site that gets the token.
			found(uint64(x.Peer))
			for _, j := range token(x.Msg.Vec).queue(s.Nodes) {
				found(j)
			}
		}
		return ahead, ok
	})
}

// invariants are those by which section 9.11 argues: there is one token, its LN separates outdated
// requests from current ones, and its Q holds sites that wait.
func invariants() []dme.Invariant {
	const source = "textbook, section 9.11"
	return []dme.Invariant{
		dme.OneToken(source, dme.OfKind(kindToken)),
		dme.PairInvariant("request numbers", source+", outdated REQUESTs",
			"no site, and no REQUEST on its way, has a number of a request that was not made: RN_j[i] ≤ RN_i[i]",
			requestNumbers),
		dme.StateInvariant("executed requests", source+", steps (b) and (d)",
			"each site has one request that the token has not served, RN_i[i] = LN[i] + 1, or none, RN_i[i] = LN[i], as when it is idle",
			executedRequests),
		dme.StateInvariant("token queue", source+", step (e)",
			"each site in Q waits for the token, and stands there once", tokenQueue),
	}
}

// theToken returns the token, wherever it is.
func theToken(v dme.GlobalView) token {
	for _, s := range dme.NodesOf[*site](v) {
		if s.token != nil {
			return s.token
		}
	}
	for _, f := range v.InFlight() {
		if f.Kind == kindToken {
			return token(f.Vec)
		}
	}
	return nil
}

func requestNumbers(v dme.GlobalView, i, j dme.NodeID, s, other *site) error {
	own := s.rn[i-1]
	if other.rn[i-1] > own {
		return dme.Broken([]dme.NodeID{i, j}, "RN_%d[%d] is %d, and RN_%d[%d] only %d", j, i, other.rn[i-1], i, i, own)
	}
	for _, m := range v.Between(i, j) {
		if m.Kind == kindRequest && m.Clock > own {
			return dme.Broken([]dme.NodeID{i}, "a REQUEST of node %d has the number %d, and RN_%d[%d] is %d", i, m.Clock, i, i, own)
		}
	}
	return nil
}

func executedRequests(v dme.GlobalView) error {
	t := theToken(v)
	if t == nil {
		return nil
	}
	for i, s := range dme.NodesOf[*site](v) {
		if own := s.rn[i-1]; own != t.ln(i) && (own != t.ln(i)+1 || v.Activity(i) == dme.Idle) {
			return dme.Broken([]dme.NodeID{i}, "RN_%d[%d] is %d and LN[%d] of the token %d; node %d is %v",
				i, i, own, i, t.ln(i), i, v.Activity(i))
		}
	}
	return nil
}

func tokenQueue(v dme.GlobalView) error {
	t := theToken(v)
	if t == nil {
		return nil
	}
	q := t.queue(v.Setting().Nodes)
	for k, x := range q {
		j := dme.NodeID(x)
		if v.Activity(j) != dme.Requesting || slices.Contains(q[:k], x) {
			return dme.Broken([]dme.NodeID{j}, "node %d stands in the queue %v of the token, and is %v", j, q, v.Activity(j))
		}
	}
	return nil
}
