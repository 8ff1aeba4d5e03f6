package helaryplouzeauraynal

import "dmebench/dme"

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
