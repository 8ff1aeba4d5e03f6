package naimitrehel

import (
	"slices"

	"dmebench/dme"
	"dmebench/dme/claim"
)

func claims() claim.List {
	const (
		paper   = "Naimi and Trehel 1987; Naimi, Trehel and Arnold 1996"
		lavault = "C. Lavault: Analysis of an Efficient Distributed Algorithm for Mutual Exclusion, LNCS 634, 1992"
	)
	return slices.Concat(claim.SafeAndLive(paper), claim.HandOver(1, claim.Mean, paper), claim.List{
		claim.MessagesPerCS.Grows(claim.Growth{Log: true, Order: true}, "O(log N)", claim.Light, paper).
			As("log2 N").Where(claim.AtLeastTwo),
		// The mean length of the path to the root is H_N − 1; the token adds a message if the path
		// is not empty: 1 − 1/N.
		claim.MessagesPerCS.Averages("H_{N−1} = 1 + 1/2 + … + 1/(N−1) (uniformly drawn requesters)",
			claim.Light, lavault).
			Predicting(func(s dme.Setting) (float64, bool) { return harmonic(s.Nodes - 1), true }),
		// A REQUEST visits each other node at most once; then comes the token.
		claim.MessagesPerCS.AtMost("N", claim.AnyLoad, paper),
	})
}

// harmonic returns H_k = 1 + 1/2 + … + 1/k.
func harmonic(k int) float64 {
	var sum float64
	for i := k; i >= 1; i-- {
		sum += 1 / float64(i)
	}
	return sum
}

// invariants are those of the two structures of the paper: father pointers are
// trees, next pointers are the queue.
func invariants() []dme.Invariant {
	const source = "Naimi, Trehel and Arnold, JPDC 34(1), 1996"
	return []dme.Invariant{
		dme.OneToken(source, dme.OfKind(kindToken)),
		dme.StateInvariant("father trees", source+", the logical rooted tree",
			"father pointers lead from every node to a root, and there is one root more than REQUESTs are on their way",
			fatherTrees),
		dme.StateInvariant("one place in the queue", source+", the queue of next pointers",
			"a node that waits has one REQUEST on its way, or is the next of one node, or has the TOKEN on its way to it; "+
				"no other node has any of these", onePlace),
	}
}

func fatherTrees(v dme.GlobalView) error {
	roots, requests := 0, 0
	for id, n := range dme.NodesOf[*node](v) {
		at := n
		for steps := 0; at.father != dme.None; steps++ {
			if steps == n.n {
				return dme.Broken([]dme.NodeID{id}, "father pointers go round: they lead from node %d to no root", id)
			}
			at = dme.NodeOf[*node](v, at.father)
		}
		roots += dme.Count(n.father == dme.None)
	}
	for _, f := range v.InFlight() {
		requests += dme.Count(f.Kind == kindRequest)
	}
	if roots != requests+1 {
		return dme.Broken(nil, "there are %d roots, and %d REQUESTs on their way", roots, requests)
	}
	return nil
}

func onePlace(v dme.GlobalView) error {
	type places struct{ requests, tokens, nexts int }
	of := make([]places, v.Setting().Nodes+1)
	for _, f := range v.InFlight() {
		switch f.Kind {
		case kindRequest:
			of[f.Node].requests++
		case kindToken:
			of[f.To].tokens++
		}
	}
	for _, n := range dme.NodesOf[*node](v) {
		of[n.next].nexts++
	}
	for id, n := range dme.NodesOf[*node](v) {
		p := of[id]
		if p.requests+p.tokens+p.nexts != dme.Count(n.requestingCS && !n.tokenPresent) {
			return dme.Broken([]dme.NodeID{id},
				"node %d is %v: %d REQUESTs for it and %d TOKENs to it are on their way, and it is the next of %d nodes",
				id, v.Activity(id), p.requests, p.tokens, p.nexts)
		}
	}
	return nil
}
