package neilsenmizuno

import (
	"slices"

	"dmebench/algorithms/spanning"
	"dmebench/dme"
	"dmebench/dme/claim"
)

func claims() claim.List {
	const (
		paper = "Neilsen and Mizuno 1991"
		star  = spanning.OptTree + "=star"
	)
	return slices.Concat(claim.SafeAndLive(paper), claim.HandOver(1, claim.Mean, paper), claim.List{
		// A REQUEST for each edge to the sink; then comes the token.
		claim.MessagesPerCS.AtMost("longest path + 1", claim.AnyLoad, paper).
			Predicting(spanning.On(func(t *spanning.Tree) float64 { return float64(t.LongestPath() + 1) })),
		claim.MessagesPerCS.AtMost("3 (star)", claim.AnyLoad, paper+": the best topology").With(star).
			Where(spanning.Shaped("star")),
		// With probability 1/N the requester is the last one again: neither edge nor token.
		claim.MessagesPerCS.Averages("1 − 1/N + mean distance (uniformly drawn requesters)", claim.Light, paper).
			Predicting(spanning.On(func(t *spanning.Tree) float64 { return t.MeanDistance() + 1 - 1/float64(t.Nodes()) })),
		// 3 between two leaves, 2 between a leaf and the centre.
		claim.MessagesPerCS.Averages("3 − 5/N + 2/N² (star, uniformly drawn requesters)", claim.Light, paper).
			With(star).Where(spanning.Shaped("star")),
		claim.KindPerCS("PRIVILEGE").AtMost("1", claim.AnyLoad, paper),
	})
}

func invariants() []dme.Invariant {
	const source = "Neilsen and Mizuno 1991"
	return []dme.Invariant{
		dme.OneToken(source, dme.OfKind(kindPrivilege)),
		dme.PairInvariant("directed edges", source+", the directed acyclic graph",
			"an edge of the tree leads one way, by LAST of one of its nodes, or carries one REQUEST; no other link has either",
			directedEdge),
		dme.StateInvariant("one place in the queue", source+", the queue of FOLLOW",
			"a node that waits has one REQUEST on its way, or is FOLLOW of one node, or has PRIVILEGE on its way to it; "+
				"no other node has any of these", onePlace),
	}
}

// directedEdge looks at each edge once.
func directedEdge(v dme.GlobalView, a, b dme.NodeID, n, other *node) error {
	if a > b {
		return nil
	}
	requests := dme.Between(v, kindRequest, a, b) + dme.Between(v, kindRequest, b, a)
	directions := dme.Count(n.last == b) + dme.Count(other.last == a)
	if requests+directions != dme.Count(n.tree.Adjacent(a, b)) {
		return dme.Broken([]dme.NodeID{a, b}, "LAST is %d at node %d and %d at node %d, with %d REQUESTs on their way between them",
			n.last, a, other.last, b, requests)
	}
	return nil
}

func onePlace(v dme.GlobalView) error {
	places := make([]int, v.Setting().Nodes+1)
	for _, f := range v.InFlight() {
		if f.Kind == kindRequest {
			places[f.Node]++
		} else {
			places[f.To]++
		}
	}
	for _, n := range dme.NodesOf[*node](v) {
		places[n.follow]++
	}
	for id, n := range dme.NodesOf[*node](v) {
		if places[id] != dme.Count(n.waiting) {
			return dme.Broken([]dme.NodeID{id}, "node %d is %v, and has %d places in the queue", id, v.Activity(id), places[id])
		}
	}
	return nil
}
