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
			Holds:     requestQueues,
		},
		{
			Name: "nothing earlier on its way", Citation: "textbook, section 9.3, theorem 9.1, condition L1",
			Statement: "a site that has heard something later than its request from another one has every earlier request of that one in its queue",
			Holds:     nothingEarlier,
		},
	}
}

func requestQueues(v dme.GlobalView) error {
	for i, s := range dme.NodesOf[*site](v) {
		for j, at := range dme.NodesOf[*site](v) {
			// What the queue of j will hold of i once everything has arrived.
			queued, ok := pendingOf(at, i), true
			for _, m := range v.Between(i, j) {
				switch {
				case m.Kind == kindRequest:
					ok = ok && queued.IsZero()
					queued = dme.Stamp{Clock: m.Clock, Node: i}
				case m.Kind == kindRelease:
					ok = ok && !queued.IsZero()
					queued = dme.Stamp{}
				}
			}
			if !ok || queued != s.request {
				return dme.Broken([]dme.NodeID{i, j}, "the request of node %d is %s, and the queue of node %d holds %v",
					i, orNone(s.request), j, at.requestQueue)
			}
		}
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

func nothingEarlier(v dme.GlobalView) error {
	for _, f := range v.InFlight() {
		s := dme.NodeOf[*site](v, f.To)
		r := dme.Stamp{Clock: f.Clock, Node: f.From}
		if f.Kind == kindRequest && s.requesting() && !s.awaiting.Has(f.From) && r.Precedes(s.request) {
			return dme.Broken([]dme.NodeID{f.From, f.To},
				"node %d, whose request is %v, awaits nothing of node %d any more, and the REQUEST %v of that one is on its way",
				f.To, s.request, f.From, r)
		}
	}
	return nil
}
