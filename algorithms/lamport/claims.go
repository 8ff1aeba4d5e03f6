package lamport

import (
	"slices"

	"dmebench/dme"
	"dmebench/dme/claim"
)

const source = "textbook, section 9.3"

// claims lists the claims about both forms.
func claims() claim.List {
	return slices.Concat(claim.SafeAndLive(source+", theorems 9.1 and 9.2"), claim.List{
		claim.InOrder("0: entries in timestamp order", source+", theorem 9.2, and Exercise 9.7"),
		// The request waits for the slowest of N−1 round trips, which is 2T only if all links have
		// the same delay.
		claim.ResponseTime.Averages("2T + E (links of equal delay)", claim.Light, "textbook, section 9.2.3").
			OnEqualDelays(),
		claim.QuorumSize.Is("N: REQUEST to all other sites", claim.Static, source).MeasuredBy(claim.AskedByAll),
	}, exercises(), claim.HandOver(1, claim.Mean, source))
}

// exactly is the cost of the algorithm as it stands.
func exactly() claim.List {
	cost := claim.MessagesPerCS.Is("3(N−1)",
		claim.AnyLoad, source+"; TR-869, section 1; Chaudhuri and Karaata 1998, section 1")
	each := claim.MessagesPerCS.Is("N−1", claim.AnyLoad, source)
	return append(claim.List{cost, equalWork()}, claim.KindsPerCS(each, "REQUEST", "REPLY", "RELEASE")...)
}

// equalWork says that all sites send and answer the same number of messages per entry.
func equalWork() claim.Claim {
	return claim.WorkSpread.Is("1: a symmetric algorithm", claim.Burst, "TR-869, section 4.1").
		Where(claim.AtLeastTwo)
}

// between is the cost of the optimized form.
func between() claim.List {
	const optimization = source + ", an optimization, and Exercise 9.4"
	each := claim.MessagesPerCS.Is("N−1", claim.AnyLoad, optimization)
	return append(claim.KindsPerCS(each, "REQUEST", "RELEASE"), claim.List{
		claim.CostPerPeer(3, claim.AnyLoad, claim.UpperBound, optimization),
		claim.CostPerPeer(2, claim.AnyLoad, claim.LowerBound, optimization),
		// No site has a request of its own that could stand for a REPLY.
		claim.CostPerPeer(3, claim.Light, claim.Exact, optimization),
		// Of two sites that ask at about the same time, the one with the
		// smaller timestamp needs no REPLY of the other.
		claim.KindPerCS("REPLY").AtLeast("(N−1)/2: one for each two sites", claim.Burst, optimization),
	}...)
}

// Quantities of the exercises.
var (
	// L1AtOnce and L2AtOnce count the requesting sites at which the condition holds at
	// one moment, BothAtOnce those at which both do.
	L1AtOnce   = claim.Quantity{ID: "l1-at-once", Name: "sites at which L1 holds at once"}
	L2AtOnce   = claim.Quantity{ID: "l2-at-once", Name: "sites at which L2 holds at once"}
	BothAtOnce = claim.Quantity{ID: "both-at-once", Name: "sites at which L1 and L2 hold at once"}

	// NotAtTop counts the sites at the top of whose queues another request is than that
	// of the site that executes. NotAtTopInSilence counts them while no message is on
	// its way.
	NotAtTop          = claim.Quantity{ID: "not-at-top", Name: "queues without the executing site's request at the top"}
	NotAtTopInSilence = claim.Quantity{
		ID: "not-at-top-in-silence", Name: "queues without the executing site's request at the top, with no message on its way",
	}
)

// exercises lists what is to be shown in the textbook's section 9.14.
func exercises() claim.List {
	const needed = "textbook, Exercise 9.2"
	several := func(s dme.Setting) bool { return s.Nodes >= 4 && s.Nodes <= mostFollowed }
	return claim.List{
		L1AtOnce.AtLeast("2: L1 can hold concurrently at several sites", claim.Burst, needed).
			Where(several),
		// Each of them would enter, if it were not for L1.
		L2AtOnce.AtLeast("2: L1 is needed, since L2 alone lets several sites in", claim.Burst, needed).
			Where(several),
		BothAtOnce.AtMost("1", claim.AnyLoad, source+", theorem 9.1").Where(several),
		NotAtTop.AtLeast("1: the request need not be at the top of another site's queue",
			claim.Burst, "textbook, Exercise 9.3").Where(several),
		NotAtTopInSilence.Is("0: it is at the top of all if no messages are in transit",
			claim.Worst, "textbook, Exercise 9.3").Where(several),
	}
}

// mostFollowed is the largest system in which every queue is looked at.
const mostFollowed = 64

func gauges() []dme.Gauge {
	holds := func(l1, l2 bool) func(dme.Setting) dme.Meter {
		return func(s dme.Setting) dme.Meter {
			if s.Nodes > mostFollowed {
				return nil
			}
			at := make([]bool, s.Nodes+1)
			return dme.Largest(func(x *dme.Event) (float64, bool) {
				n := x.Node.(*site)
				at[x.ID] = n.requesting() && (!l1 || n.l1()) && (!l2 || n.l2())
				return float64(dme.Count(at...)), true
			})
		}
	}
	top := func(silent bool) func(dme.Setting) dme.Meter {
		return func(s dme.Setting) dme.Meter {
			if s.Nodes > mostFollowed {
				return nil
			}
			tops := make([]dme.NodeID, s.Nodes+1) // by site: the node whose request is at the top of its queue
			executing := dme.None
			return dme.Largest(func(x *dme.Event) (float64, bool) {
				n := x.Node.(*site)
				tops[x.ID] = dme.None
				if len(n.requestQueue) > 0 {
					tops[x.ID] = n.requestQueue[0].Node
				}
				switch {
				case n.executing:
					executing = x.ID
				case executing == x.ID:
					executing = dme.None
				}
				if executing == dme.None || silent && x.OnTheWay > 0 {
					return 0, false
				}
				count := 0
				for _, who := range tops[1:] {
					count += dme.Count(who != executing)
				}
				return float64(count), true
			})
		}
	}
	return []dme.Gauge{
		{Quantity: L1AtOnce.ID, Begin: holds(true, false)}, {Quantity: L2AtOnce.ID, Begin: holds(false, true)},
		{Quantity: BothAtOnce.ID, Begin: holds(true, true)},
		{Quantity: NotAtTop.ID, Begin: top(false)}, {Quantity: NotAtTopInSilence.ID, Begin: top(true)},
	}
}

// invariants are what the proof of theorem 9.1 rests on.
func invariants() []dme.Invariant {
	return []dme.Invariant{
		dme.PairInvariant("request queues", "textbook, section 9.3, Algorithm 9.1",
			"every site's queue holds the pending requests of all, but for REQUESTs and RELEASEs that are on their way to it",
			requestQueues),
		dme.PairInvariant("nothing earlier on its way", "textbook, section 9.3, theorem 9.1, condition L1",
			"a site that has heard something later than its request from another one has every earlier request of that one in its queue",
			nothingEarlier),
	}
}

// requestQueues follows what is on its way from i to j.
func requestQueues(v dme.GlobalView, i, j dme.NodeID, s, at *site) error {
	// The requests of i in the queue of j once everything has arrived.
	queued, ok := pendingOf(at, i), true
	for _, m := range v.Between(i, j) {
		switch m.Kind {
		case kindRequest:
			ok = ok && queued.IsZero()
			queued = dme.Stamp{Clock: m.Clock, Node: i}
		case kindRelease:
			ok = ok && !queued.IsZero()
			queued = dme.Stamp{}
		}
	}
	if !ok || queued != s.request {
		return dme.Broken([]dme.NodeID{i, j}, "the request of node %d is %s, and the queue of node %d holds %v",
			i, orNone(s.request), j, at.requestQueue)
	}
	return nil
}

// pendingOf returns the request of site i in the queue of another, zero if it has none.
func pendingOf(s *site, i dme.NodeID) dme.Stamp {
	if k := slices.IndexFunc(s.requestQueue, func(r dme.Stamp) bool { return r.Node == i }); k >= 0 {
		return s.requestQueue[k]
	}
	return dme.Stamp{}
}

func orNone(r dme.Stamp) string {
	if r.IsZero() {
		return "none"
	}
	return r.String()
}

func nothingEarlier(v dme.GlobalView, i, j dme.NodeID, _, s *site) error {
	if i == j || !s.requesting() || s.awaiting.Has(i) {
		return nil
	}
	for _, m := range v.Between(i, j) {
		if r := (dme.Stamp{Clock: m.Clock, Node: i}); m.Kind == kindRequest && r.Precedes(s.request) {
			return dme.Broken([]dme.NodeID{i, j},
				"node %d, whose request is %v, awaits nothing of node %d any more, and the REQUEST %v of that one is on its way",
				j, s.request, i, r)
		}
	}
	return nil
}
