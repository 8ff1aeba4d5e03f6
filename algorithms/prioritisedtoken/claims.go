package prioritisedtoken

import (
	"slices"

	"dmebench/dme"
	"dmebench/dme/claim"
)

func claims() claim.List {
	const (
		mueller = "Mueller 1997, abstract"
		ours    = "this project's rules"
		lavault = "C. Lavault: Analysis of an Efficient Distributed Algorithm for Mutual Exclusion, LNCS 634, 1992"
	)
	return slices.Concat(claim.SafeAndLive(ours), claim.HandOver(1, claim.Mean, ours), claim.List{
		claim.MessagesPerCS.Grows(claim.Growth{Log: true, Order: true}, "O(log N)", claim.Light, mueller).
			As("log2 N").Where(claim.AtLeastTwo),
		// A request that meets no other takes the way that it takes in Naimi and Trehel's algorithm.
		claim.MessagesPerCS.Averages("H_{N−1} = 1 + 1/2 + … + 1/(N−1) (uniformly drawn requesters)", claim.Light, lavault).
			Predicting(func(s dme.Setting) (h float64, ok bool) {
				for i := s.Nodes - 1; i >= 1; i-- {
					h += 1 / float64(i)
				}
				return h, true
			}),
		// A REQUEST visits each other node at most once; then comes the token.
		claim.MessagesPerCS.AtMost("N", claim.AnyLoad, ours+"; O(N): "+mueller),
		claim.KindPerCS("TOKEN").AtMost("1", claim.AnyLoad, ours),
	})
}

func invariants() []dme.Invariant {
	const source = "this project's rules"
	return []dme.Invariant{
		dme.OneToken(source, dme.OfKind(kindToken)),
		dme.StateInvariant("one place in the queue", source,
			"a node that waits has one REQUEST on its way, or is in one queue, or the TOKEN is on its way to it; "+
				"no other node has any of these", onePlace),
		dme.StateInvariant("one tree", source,
			"by father, and from each node that waits to where its request is, all nodes lead to the one that has or gets the token",
			oneTree),
		dme.StateInvariant("preferred at most", source,
			"a request in the token's queue has had others preferred to it at most patience times", preferredAtMost),
	}
}

// places are where requests wait, and for how many places each node has one.
type places struct {
	at    []dme.NodeID // by node: where its request is, or goes
	count []int
}

func placesOf(v dme.GlobalView) places {
	nodes := v.Setting().Nodes
	p := places{make([]dme.NodeID, nodes+1), make([]int, nodes+1)}
	add := func(id, at dme.NodeID) {
		p.at[id] = at
		p.count[id]++
	}
	for _, f := range v.InFlight() {
		switch f.Kind {
		case kindRequest:
			add(f.Node, f.To)
		case kindToken:
			add(f.To, f.To)
			for pair := range slices.Chunk(f.Vec, 2) {
				add(dme.NodeID(pair[0]), f.To)
			}
		}
	}
	for id, n := range dme.NodesOf[*node](v) {
		for _, r := range n.queue {
			add(r.by, id)
		}
	}
	return p
}

func onePlace(v dme.GlobalView) error {
	p := placesOf(v)
	for id, n := range dme.NodesOf[*node](v) {
		if p.count[id] != dme.Count(n.requestingCS && !n.tokenPresent) {
			return dme.Broken([]dme.NodeID{id}, "node %d is %v, and its request is at %d places", id, v.Activity(id), p.count[id])
		}
	}
	return nil
}

func oneTree(v dme.GlobalView) error {
	p := placesOf(v)
	up := func(id dme.NodeID) dme.NodeID {
		if n := dme.NodeOf[*node](v, id); n.father != dme.None {
			return n.father
		}
		if p.at[id] == id { // the TOKEN is on its way
			return dme.None
		}
		return p.at[id]
	}
	for id, n := range dme.NodesOf[*node](v) {
		at := id
		for range n.nodes {
			if next := up(at); next != dme.None {
				at = next
			}
		}
		if n := dme.NodeOf[*node](v, at); !n.tokenPresent && p.at[at] != at {
			return dme.Broken([]dme.NodeID{id}, "the way from node %d goes round at node %d", id, at)
		}
	}
	return nil
}

func preferredAtMost(v dme.GlobalView) error {
	for id, n := range dme.NodesOf[*node](v) {
		for _, r := range n.queue {
			if r.preferred > uint64(n.patience) {
				return dme.Broken([]dme.NodeID{id, r.by}, "others were preferred to node %d %d times", r.by, r.preferred)
			}
		}
	}
	return nil
}
