package helaryplouzeauraynal

import (
	"slices"

	"dmebench/dme"
	"dmebench/dme/claim"
)

func claims() claim.List {
	const source = "Chaudhuri and Karaata 1998, section 1"
	const paper = "Hélary, Plouzeau and Raynal 1988"
	return slices.Concat(claim.SafeAndLive(paper), claim.List{
		claim.MessagesPerCS.AtMost("2e + n − 1", claim.AnyLoad, source).
			Predicting(func(s dme.Setting) (float64, bool) {
				sys, ok := s.System.(*system)
				if !ok {
					return 0, false
				}
				return float64(2*sys.graph.links + sys.graph.nodes() - 1), true
			}),
		claim.MessagesPerCS.AtLeast("n", claim.AnyLoad, source).
			Refuted("a process that has the token enters without a message; every other entry takes n at least"),
		// The token rests with the last requester: if requesters are drawn uniformly, the next one
		// is the same with probability 1/n.
		claim.MessagesPerCS.Averages("n (complete graph): n(n−1)/n for uniformly drawn requesters",
			claim.Light, source).As("n(n−1)/n").Where(complete),
		claim.SyncDelay.Averages("T (complete graph): the token goes straight to the next process",
			claim.Saturated, paper).Where(complete),
	})
}

// complete is about the complete graph of at least two nodes.
func complete(s dme.Setting) bool { return s.Nodes >= 2 && s.Options.Get(optGraph) == "complete" }

// invariants are those of a single token, and of the dates by which it knows which requests it has
// served.
func invariants() []dme.Invariant {
	const source = "Hélary, Plouzeau and Raynal, The Computer Journal 31(4), 1988"
	return []dme.Invariant{
		dme.OneToken(source, dme.OfKind(kindToken)),
		dme.StateInvariant("way back", source,
			"whoever knows of the pending request of a process can send the token along via to that process", wayBack),
	}
}

// wayBack follows the trail of each pending request from every process that knows of it.
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
