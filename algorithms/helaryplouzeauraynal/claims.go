package helaryplouzeauraynal

import (
	"slices"

	"dmebench/dme"
)

func claims() []dme.Claim {
	const source = "Chaudhuri and Karaata 1998, section 1"
	const paper = "Hélary, Plouzeau and Raynal 1988"
	return slices.Concat(dme.SafeAndLive(paper), []dme.Claim{
		{
			Quantity: dme.MessagesPerCS, Formula: "2e + n − 1",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: source,
			Predict: onGraph(func(g *graph) float64 { return float64(2*g.links + g.nodes() - 1) }),
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "n",
			Load: dme.AnyLoad, Kind: dme.LowerBound, Source: source,
			Predict:    onGraph(func(g *graph) float64 { return float64(g.nodes()) }),
			KnownFalse: "a process that has the token enters without a message; every other entry takes n at least",
		},
		{
			// The token rests with the last requester: where requesters are
			// drawn uniformly, the next one is the same with probability 1/n.
			Quantity: dme.MessagesPerCS, Formula: "n (complete graph): n(n−1)/n for uniformly drawn requesters",
			Load: dme.Light, Kind: dme.Mean, Source: source,
			Predict: complete(func(n float64) float64 { return n - 1 }),
		},
		{
			Quantity: dme.SyncDelay, Formula: "T (complete graph): the token goes straight to the next process",
			Load: dme.Saturated, Kind: dme.Mean, Source: paper,
			Predict: complete(func(float64) float64 { return 1 }),
		},
	})
}

// complete is a prediction from N for the complete graph of at least two nodes.
func complete(f func(n float64) float64) func(dme.Setting) (float64, bool) {
	return func(s dme.Setting) (float64, bool) {
		return f(float64(s.Nodes)), s.Nodes >= 2 && s.Options.Get(optGraph) == "complete"
	}
}

// onGraph is a prediction from the graph.
func onGraph(f func(*graph) float64) func(dme.Setting) (float64, bool) {
	return func(s dme.Setting) (float64, bool) {
		sys, ok := s.System.(*system)
		if !ok {
			return 0, false
		}
		return f(sys.graph), true
	}
}

// invariants are those of a single token, and of the dates by which it knows whom
// it has served.
func invariants() []dme.Invariant {
	const source = "Hélary, Plouzeau and Raynal, The Computer Journal 31(4), 1988"
	return []dme.Invariant{
		dme.OneToken(source, dme.OfKind(kindToken)),
		{
			Name: "way back", Citation: source,
			Statement: "whoever knows of the pending request of a process can send the token along via to that process",
			Holds:     wayBack,
		},
	}
}

// wayBack follows the trail of each pending request from whoever knows of it.
func wayBack(v dme.GlobalView) error {
	for j, p := range dme.NodesOf[*process](v) {
		if !p.waiting {
			continue
		}
		for i, q := range dme.NodesOf[*process](v) {
			steps := 0
			for at, here := i, q; at != j && here.date[j-1] == p.date[j-1]; here = dme.NodeOf[*process](v, at) {
				at = here.via[j-1]
				if next := dme.NodeOf[*process](v, at); steps == p.n || next == nil || next.date[j-1] != p.date[j-1] {
					return dme.Broken([]dme.NodeID{i, j},
						"node %d knows of node %d's request, and via leads from it to node %d, not to node %d", i, j, at, j)
				}
				steps++
			}
		}
	}
	return nil
}
