package singhal

import "dmebench/dme"

// invariants are the condition of section 9.5 on the information structure, which
// the text states of its beginning and which must hold ever after, and that each
// request is answered once.
func invariants() []dme.Invariant {
	return []dme.Invariant{
		{
			Name: "information structure", Citation: "textbook, section 9.5",
			Statement: "for every two sites, S_j ∈ R_i or S_i ∈ R_j: of any two one must ask the other",
			Holds:     informationStructure,
		},
		{
			Name: "one answer", Citation: "textbook, section 9.5, Algorithm 9.3",
			Statement: "a site that awaits another one's REPLY has one REQUEST on its way to it, or stands in I there, " +
				"or the REPLY is on its way",
			Holds: oneAnswer,
		},
	}
}

func informationStructure(v dme.GlobalView) error {
	for i, s := range dme.NodesOf[*site](v) {
		for j, other := range dme.NodesOf[*site](v) {
			if i < j && !s.r.Has(j) && !other.r.Has(i) {
				return dme.Broken([]dme.NodeID{i, j},
					"node %d is not in R of node %d, nor node %d in that of node %d: neither asks the other", j, i, i, j)
			}
		}
	}
	return nil
}

func oneAnswer(v dme.GlobalView) error {
	for i, s := range dme.NodesOf[*site](v) {
		for j, other := range dme.NodesOf[*site](v) {
			if i == j {
				continue
			}
			requests, replies, waits, want := 0, 0, 0, 0
			for _, m := range v.Between(i, j) {
				if m.Kind == kindRequest {
					requests++
				}
			}
			for _, m := range v.Between(j, i) {
				if m.Kind == kindReply {
					replies++
				}
			}
			if other.inform.Has(i) {
				waits = 1
			}
			if s.requesting && s.r.Has(j) {
				want = 1
			}
			if requests+replies+waits != want {
				return dme.Broken([]dme.NodeID{i, j}, "node %d awaits %d REPLYs of node %d, in whose I it stands %d times, "+
					"with %d REQUESTs and %d REPLYs on their way", i, want, j, waits, requests, replies)
			}
		}
	}
	return nil
}
