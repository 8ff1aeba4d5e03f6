package centralized

import (
	"slices"

	"dmebench/dme"
	"dmebench/dme/claim"
)

func claims() claim.List {
	const source = "textbook, Exercise 9.6"
	const queueing = source + " as a server; F. Pollaczek 1930, A. Khinchin 1932"
	const maekawa = "Maekawa 1985, section 2"
	// RELEASE to node 1, then GRANT from it; T if node 1 is one of the two.
	handOver := claim.HandOver(2, claim.UpperBound, source)
	each := claim.MessagesPerCS.Averages("(N−1)/N: 1, but 0 for the node with the resource", claim.Light, source)
	return slices.Concat(claim.SafeAndLive(source), claim.List{
		// Exactly 3 for each node but node 1, which needs none.
		claim.MessagesPerCS.Averages("3(N−1)/N: 3, but 0 for the node with the resource", claim.Light, source),
		claim.MessagesPerCS.AtMost("3", claim.AnyLoad, source),
		claim.ResponseTime.Averages("2T(N−1)/N + E: 2T + E, but E for the node with the resource",
			claim.Light, source+", with section 9.2.3"),
		// Node 1 is one end of every message: it sends or receives as many
		// as all others together, N/2 times the mean.
		claim.WorkSpread.Is("N/2: node 1 is one end of every message",
			claim.AnyLoad, maekawa+": it violates property (d), equal responsibility").Where(claim.AtLeastTwo),
		// M/D/1 but for node 1, and M/G/1.
		waiting("constant", 0, "2T(N−1)/N + λE[S²]/2(1−ρ): S = 2T + E, but E for the node with the resource; E constant", queueing),
		waiting("exponential", 1, "2T(N−1)/N + λE[S²]/2(1−ρ): S = 2T + E, but E for the node with the resource; E exponential", queueing),
	}, claim.KindsPerCS(each, "REQUEST", "GRANT", "RELEASE"), handOver)
}

// manyQueues is the number of nodes from which on it hardly matters that requests of one node wait
// at the node and not at the server. If they are few, those of node 1, whose service is short, are
// served out of turn often enough to be seen: the mean is 4 to 8% shorter for two nodes, and within
// 1% from five on.
const manyQueues = 8

// waiting returns the claim about the mean waiting time under an open load, with critical sections
// of the given squared coefficient of variation.
//
// Node 1 is a server: from a GRANT until the RELEASE it serves one request, which takes 2T + E, or
// E for its own. Requests wait there as in an M/G/1 queue, whose mean waiting time is that of
// Pollaczek and Khinchin whatever the order of service, if that order does not depend on service
// times. REQUEST and GRANT add 2T. A request that waits at its node while an earlier one is served
// loses nothing by it: its REQUEST follows the RELEASE at once.
func waiting(name string, variability float64, formula, source string) claim.Claim {
	return claim.WaitingTime.Averages(formula, claim.Open, source).Named(name).OnEqualDelays().
		Predicting(func(s dme.Setting) (float64, bool) {
			t, e, others := s.T.Seconds(), s.E.Seconds(), float64(s.Nodes-1)/float64(s.Nodes)
			mean := 2*t*others + e                                             // of a service
			square := others*4*t*(t+e) + e*e*(1+s.Variability)                 // the mean of its square
			busy := s.Rate * mean                                              // ρ
			made := s.Nodes >= manyQueues && s.T > 0 && s.Rate > 0 && busy < 1 // beyond, the queue grows for ever
			return 2*t*others + s.Rate*square/(2*(1-busy)), made && s.Variability == variability
		})
}

// invariants are those of step 2: the resource is granted to one node at a time.
func invariants() []dme.Invariant {
	return []dme.Invariant{
		dme.StateInvariant("one grant", "textbook, Exercise 9.6, step 2",
			"the resource is free, or granted to one node, which is inside or for which a GRANT or a RELEASE is on its way", oneGrant),
		dme.StateInvariant("one place in line", "textbook, Exercise 9.6, steps 1 and 2",
			"a node that waits has one REQUEST on its way, or stands in the queue once, or has been granted the resource", onePlace),
	}
}

func onePlace(v dme.GlobalView) error {
	s := dme.NodeOf[*server](v, coordinator)
	for id := dme.NodeID(1); int(id) <= v.Setting().Nodes; id++ {
		if v.Activity(id) != dme.Requesting {
			continue
		}
		requests, queued := 0, 0
		for x := range s.queue.All() {
			queued += dme.Count(x == id)
		}
		granted := s.holder == id
		for _, m := range v.Between(id, coordinator) {
			switch m.Kind {
			case kindRequest:
				requests++
			case kindRelease:
				granted = false // of the last entry
			}
		}
		if places := requests + queued; granted && places != 0 || !granted && places != 1 {
			return dme.Broken([]dme.NodeID{id}, "node %d waits, granted=%t, with %d REQUESTs on their way and %d places in the queue",
				id, granted, requests, queued)
		}
	}
	return nil
}

func oneGrant(v dme.GlobalView) error {
	s := dme.NodeOf[*server](v, coordinator)
	for id := dme.NodeID(1); int(id) <= v.Setting().Nodes; id++ {
		grants, releases := dme.Between(v, kindGrant, coordinator, id), dme.Between(v, kindRelease, id, coordinator)
		if grants+releases+dme.Count(v.Activity(id) == dme.Inside) != dme.Count(s.holder == id) {
			return dme.Broken([]dme.NodeID{id},
				"the resource is granted to node %s, and node %d has %d GRANTs and %d RELEASEs on their way, and is %v",
				holderOf(s), id, grants, releases, v.Activity(id))
		}
	}
	return nil
}

func holderOf(s *server) string {
	if s.holder == dme.None {
		return "–"
	}
	return s.holder.String()
}
