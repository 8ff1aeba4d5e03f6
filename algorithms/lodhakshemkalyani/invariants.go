package lodhakshemkalyani

import "dmebench/dme"

// invariants are what the argument of section 9.6.2 rests on.
func invariants() []dme.Invariant {
	return []dme.Invariant{
		{
			Name: "nothing done is pending", Citation: "textbook, section 9.6, steps (4b), (5) and (6b)",
			Statement: "a pending request comes after every one that a process, or a message, knows to be satisfied",
			Holds:     doneIsDone,
		},
		{
			Name: "concurrent requests", Citation: "textbook, section 9.6, step (3bi)",
			Statement: "of two pending requests whose processes have each other's permission, the one with priority stands in LRQ of the other",
			Holds:     concurrent,
		},
		{
			Name: "one answer", Citation: "textbook, section 9.6, steps (3) and (5b)",
			Statement: "a process that has not heard of another one since it asked has its REQUEST or that one's REPLY on its way, " +
				"or stands among those that it has deferred",
			Holds: oneAnswer,
		},
	}
}

func doneIsDone(v dme.GlobalView) error {
	for i, p := range dme.NodesOf[*process](v) {
		if !p.requesting {
			continue
		}
		r := p.myRequest()
		for j, other := range dme.NodesOf[*process](v) {
			if !other.done.Precedes(r) {
				return dme.Broken([]dme.NodeID{i, j}, "node %d takes all up to %v for satisfied, and the request %v is pending", j, other.done, r)
			}
		}
		for _, f := range v.InFlight() {
			if !f.Done.Precedes(r) {
				return dme.Broken([]dme.NodeID{i}, "a message of node %d says that all up to %v are satisfied, and the request %v is pending",
					f.From, f.Done, r)
			}
		}
	}
	return nil
}

func concurrent(v dme.GlobalView) error {
	for i, p := range dme.NodesOf[*process](v) {
		for j, q := range dme.NodesOf[*process](v) {
			if i == j || !p.requesting || !q.requesting || !p.rv.Has(j) || !q.rv.Has(i) || q.myRequest().Precedes(p.myRequest()) {
				continue
			}
			if !q.lrq.Ahead(i, q.myRequest()) {
				return dme.Broken([]dme.NodeID{i, j},
					"nodes %d and %d have each other's permission, and LRQ of node %d, %v, lacks the request %v, which goes first",
					min(i, j), max(i, j), j, q.lrq, p.myRequest())
			}
		}
	}
	return nil
}

func oneAnswer(v dme.GlobalView) error {
	for i, p := range dme.NodesOf[*process](v) {
		if !p.waiting() {
			continue
		}
		for j, q := range dme.NodesOf[*process](v) {
			if i == j || p.rv.Has(j) {
				continue
			}
			answers := 0
			for _, m := range v.Between(i, j) {
				if m.Kind == kindRequest && m.Clock == p.mySequenceNumber {
					answers++
				}
			}
			for _, m := range v.Between(j, i) {
				// A REQUEST of j stands for a REPLY where it is concurrent with p's.
				if m.Kind == kindRequest || m.Kind == kindReply && m.Req == p.myRequest() {
					answers++
				}
			}
			if q.deferred.Has(i) {
				answers++
			}
			if answers == 0 {
				return dme.Broken([]dme.NodeID{i, j}, "node %d waits for node %d, which has not got its REQUEST, nor sent or deferred a REPLY", i, j)
			}
		}
	}
	return nil
}
