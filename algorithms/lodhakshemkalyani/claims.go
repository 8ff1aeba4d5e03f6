package lodhakshemkalyani

import (
	"slices"

	"dmebench/dme"
	"dmebench/dme/claim"
)

// The size of the concurrency set of a request, from 1 to N, is a property of
// the run; what depends on N alone are the ends of the range.
func claims() claim.List {
	const source = "textbook, section 9.6.4"
	handOver := claim.HandOver(1, claim.Mean, "textbook, section 9.6")
	return slices.Concat(claim.SafeAndLive("textbook, sections 9.6 and 9.6.3"), handOver, claim.List{
		claim.CostPerPeer(2, claim.Light, claim.Exact, source+", case 2"),
		claim.MessagesPerCS.AtMost("2(N−1), from 2N − |CSet|", claim.AnyLoad, source),
		claim.MessagesPerCS.AtLeast("N − 1, from 2N − 1 − |CSet|", claim.AnyLoad, source+", case 1(b)"),
		// Reached if the requests are concurrent, all with all.
		claim.MessagesPerCS.AtLeast("N − 1/N: N, and N−1 for the last", claim.Burst, source+", case 1"),
		claim.InOrder("0: entries in priority order", "textbook, section 9.6.1"),
		claim.KindPerCS("REQUEST").Is("N − 1", claim.AnyLoad, source),
		claim.KindPerCS("REPLY").Is("N − |CSet|, and |CSet| = 1", claim.Light, source+", case 2").As("N−1"),
		claim.KindPerCS("REPLY").AtMost("N − 1, from N − |CSet|", claim.AnyLoad, source),
		claim.KindPerCS("FLUSH").Is("0: there is no successor", claim.Light, source+", case 2"),
		claim.KindPerCS("FLUSH").AtMost("1: with a successor, case 1(a)",
			claim.AnyLoad, source+", cases 1(a) and 1(b)"),
		// A site that asks again at once is concurrent with no other: their requests had all
		// arrived before.
		claim.MessagesPerCS.Averages("2(N−1): no two requests are concurrent", claim.Saturated, source+", case 2"),
		claim.MessagesPerCS.AtLeast("2(N−1): no parallel, symmetric, distributed algorithm can do with fewer",
			claim.Burst, "TR-869, sections 4.1 and 8").Named("least-possible").
			Where(func(s dme.Setting) bool { return s.Nodes >= 3 }).
			Refuted("a REQUEST can serve as a REPLY: N − 1/N messages if all requests are concurrent, " +
				"12.9 and not 24 on 13 nodes"),
	})
}

// invariants are what the argument of section 9.6.2 rests on.
func invariants() []dme.Invariant {
	return []dme.Invariant{
		dme.StateInvariant("nothing done is pending", "textbook, section 9.6, steps (4b), (5) and (6b)",
			"a pending request comes after every one that a process, or a message, knows to be satisfied", doneIsDone),
		dme.PairInvariant("concurrent requests", "textbook, section 9.6, step (3bi)",
			"of two pending requests whose processes have each other's permission, the one with priority stands in LRQ of the other",
			concurrent),
		dme.PairInvariant("one answer", "textbook, section 9.6, steps (3) and (5b)",
			"a process that has not heard of another one since it asked has its REQUEST or that one's REPLY on its way, "+
				"or stands among those that it has deferred", oneAnswer),
	}
}

// doneIsDone looks at the pending request that goes first: what precedes it precedes
// all.
func doneIsDone(v dme.GlobalView) error {
	var first dme.Stamp
	for _, p := range dme.NodesOf[*process](v) {
		if r := p.myRequest(); p.requesting && (first.IsZero() || r.Precedes(first)) {
			first = r
		}
	}
	if first.IsZero() {
		return nil
	}
	for j, p := range dme.NodesOf[*process](v) {
		if !p.done.Precedes(first) {
			return dme.Broken([]dme.NodeID{first.Node, j},
				"node %d takes all up to %v for satisfied, and the request %v is pending", j, p.done, first)
		}
	}
	for _, f := range v.InFlight() {
		if !f.Done.Precedes(first) {
			return dme.Broken([]dme.NodeID{first.Node},
				"a message of node %d says that all up to %v are satisfied, and the request %v is pending", f.From, f.Done, first)
		}
	}
	return nil
}

func concurrent(_ dme.GlobalView, i, j dme.NodeID, p, q *process) error {
	if i == j || !p.requesting || !q.requesting || !p.rv.Has(j) || !q.rv.Has(i) || q.myRequest().Precedes(p.myRequest()) ||
		q.lrq.Ahead(i, q.myRequest()) {
		return nil
	}
	return dme.Broken([]dme.NodeID{i, j},
		"nodes %d and %d have each other's permission, and LRQ of node %d, %v, lacks the request %v, which goes first",
		min(i, j), max(i, j), j, q.lrq, p.myRequest())
}

func oneAnswer(v dme.GlobalView, i, j dme.NodeID, p, q *process) error {
	if i == j || !p.waiting() || p.rv.Has(j) || q.deferred.Has(i) {
		return nil
	}
	for _, m := range v.Between(i, j) {
		if m.Kind == kindRequest && m.Clock == p.mySequenceNumber {
			return nil
		}
	}
	for _, m := range v.Between(j, i) {
		// A REQUEST of j stands for a REPLY if it is concurrent with p's.
		if m.Kind == kindRequest || m.Kind == kindReply && m.Req == p.myRequest() {
			return nil
		}
	}
	return dme.Broken([]dme.NodeID{i, j},
		"node %d waits for node %d, which has not got its REQUEST, nor sent or deferred a REPLY", i, j)
}
