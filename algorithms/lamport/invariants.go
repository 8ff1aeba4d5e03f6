package lamport

import (
	"slices"

	"dmebench/dme"
)

// invariants are what the proof of theorem 9.1 rests on.
func invariants() []dme.Invariant {
	return []dme.Invariant{
		{
			Name: "request queues", Citation: "textbook, section 9.3, Algorithm 9.1",
			Statement: "every site's queue holds the pending requests of all, but for REQUESTs and RELEASEs that are on their way to it",
			Pair:      dme.EachPair(requestQueues),
		},
		{
			Name: "nothing earlier on its way", Citation: "textbook, section 9.3, theorem 9.1, condition L1",
			Statement: "a site that has heard something later than its request from another one has every earlier request of that one in its queue",
			Pair:      dme.EachPair(nothingEarlier),
		},
	}
}

// requestQueues follows what is on its way from i to j.
func requestQueues(v dme.GlobalView, i, j dme.NodeID, s, at *site) error {
	// What the queue of j will hold of i once everything has arrived.
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

// pendingOf returns the request of site i in the queue of another, zero where it
// has none.
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
