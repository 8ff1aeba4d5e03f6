package singhal

import (
	"slices"

	"dmebench/dme"
	"dmebench/dme/claim"
)

// RequestsPerCS is the number of REQUEST messages over that of entries.
var RequestsPerCS = claim.KindPerCS("REQUEST")

// Steps counts the different sizes of request sets in a new system.
var Steps = claim.Quantity{ID: "steps", Name: "different sizes of request sets"}

// askAll is what happens if all sites always have a pending request.
const askAll = "a site that leaves has just replied to all others and must ask them all again"

func claims() claim.List {
	const source = "textbook, section 9.5.3"
	return slices.Concat(claim.SafeAndLive("textbook, section 9.5.2"), claim.HandOver(1, claim.Mean, source), claim.List{
		// A uniformly drawn requester has 0, 1, …, n−1 sites to its right
		// with equal probability, however the staircase is ordered.
		claim.MessagesPerCS.Averages("n − 1 (uniformly drawn requesters)", claim.Light, source),
		RequestsPerCS.Averages("(n−1)/2 (uniformly drawn requesters)", claim.Light, source),
		claim.MessagesPerCS.Averages("3(n−1)/2", claim.Saturated, source).
			Refuted(askAll + ": 2(n−1); the formula fits one burst in which priorities do not depend on positions"),
		RequestsPerCS.Averages("3(n−1)/4: (n−1)/2 that others send to a site, (n−1)/4 that it sends in response",
			claim.Saturated, source).Refuted(askAll + ": n−1"),
		claim.QuorumSize.Averages("(n+1)/2: sizes 1, 2, …, n, the site itself counted",
			claim.Static, "textbook, sections 9.5 and 9.5.3").MeasuredBy(claim.AskedByAll),
		Steps.Is("n: a staircase of the sizes 1, 2, …, n", claim.Static, "textbook, section 9.5, initialization").
			MeasuredBy(steps),
		claim.KindPerCS("REPLY").Averages("(n−1)/2: one for each REQUEST (uniformly drawn requesters)",
			claim.Light, source),
		claim.MessagesPerCS.AtMost("fewer than n − 1, where few sites make most requests",
			claim.HotSpot, "textbook, section 9.5.4").Where(func(s dme.Setting) bool { return s.Nodes >= 3 }),
		preserved(),
		// 2T, or nothing for the site at the right end.
		claim.ResponseTime.AtMost("less than 2T(n−1)/n + E, where few sites make most requests",
			claim.HotSpot, "textbook, section 9.5.4"),
	})
}

func steps(s dme.Setting) (float64, bool) {
	sizes := make(map[int]bool)
	for id := dme.NodeID(1); int(id) <= s.Nodes; id++ {
		sizes[len(claim.Asked(s, id))] = true
	}
	return float64(len(sizes)), true
}

// NoStaircase counts the moments at which the system is silent, no site asks, and the request sets
// are not a staircase with the last site to execute at its right end.
var NoStaircase = claim.Quantity{ID: "no-staircase", Name: "silent moments without a staircase"}

// mostFollowed is the largest system in which every request set is looked at.
const mostFollowed = 64

func preserved() claim.Claim {
	return NoStaircase.Is("0: the staircase is preserved when sites request concurrently and have executed",
		claim.Burst, "textbook, sections 9.5.2 and 9.5.3, and Exercise 9.8").
		Where(func(s dme.Setting) bool { return s.Nodes <= mostFollowed })
}

// newStairs looks at the request sets whenever the system is silent.
func newStairs(s dme.Setting) dme.Meter {
	if s.Nodes > mostFollowed {
		return nil
	}
	sites := make([]*site, s.Nodes+1) // from 1
	for id := range dme.Others(s.Nodes, dme.None) {
		sites[id], _ = s.System.Node(id).(*site) // as it is until something happens
	}
	last := dme.None
	busy, count := 0, 0 // sites that wait or execute; silent moments without a staircase
	return dme.Largest(func(x *dme.Event) (float64, bool) {
		sites[x.ID] = x.Node.(*site)
		switch x.Kind {
		case dme.Request:
			busy++
		case dme.Enter:
			last = x.ID
		case dme.Exit:
			busy--
		}
		if busy > 0 || x.OnTheWay > 0 || last == dme.None {
			return 0, false
		}
		count += dme.Count(!isStaircase(sites, last))
		return float64(count), true
	})
}

// isStaircase reports whether the sites form a line in which each asks exactly those to its right,
// the last to execute is at the right end, and no site owes an answer.
func isStaircase(sites []*site, last dme.NodeID) bool {
	order := make([]*site, len(sites)-1) // from the right
	for _, s := range sites[1:] {
		position := s.r.Len()
		if len(s.inform) > 0 || position >= len(order) || order[position] != nil {
			return false
		}
		order[position] = s
	}
	for k, s := range order {
		for _, right := range order[:k] {
			if !s.r.Has(right.i) {
				return false
			}
		}
	}
	return order[0].i == last
}

// invariants are the condition of section 9.5 on the information structure, which
// the text states of its beginning and which must hold ever after, and that each
// request is answered once.
func invariants() []dme.Invariant {
	return []dme.Invariant{
		dme.PairInvariant("information structure", "textbook, section 9.5",
			"for every two sites, S_j ∈ R_i or S_i ∈ R_j: of any two one must ask the other", informationStructure),
		dme.PairInvariant("one answer", "textbook, section 9.5, Algorithm 9.3",
			"a site that awaits another one's REPLY has one REQUEST on its way to it, or stands in I there, "+
				"or the REPLY is on its way", oneAnswer),
	}
}

func informationStructure(_ dme.GlobalView, i, j dme.NodeID, s, other *site) error {
	if i < j && !s.r.Has(j) && !other.r.Has(i) {
		return dme.Broken([]dme.NodeID{i, j},
			"node %d is not in R of node %d, nor node %d in that of node %d: neither asks the other", j, i, i, j)
	}
	return nil
}

func oneAnswer(v dme.GlobalView, i, j dme.NodeID, s, other *site) error {
	if i == j {
		return nil
	}
	requests, replies := dme.Between(v, kindRequest, i, j), dme.Between(v, kindReply, j, i)
	waits, want := dme.Count(other.inform.Has(i)), dme.Count(s.requesting && s.r.Has(j))
	if requests+replies+waits != want {
		return dme.Broken([]dme.NodeID{i, j}, "node %d awaits %d REPLYs of node %d, in whose I it stands %d times, "+
			"with %d REQUESTs and %d REPLYs on their way", i, want, j, waits, requests, replies)
	}
	return nil
}
