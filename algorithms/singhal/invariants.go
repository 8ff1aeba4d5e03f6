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
			Pair:      dme.EachPair(informationStructure),
		},
		{
			Name: "one answer", Citation: "textbook, section 9.5, Algorithm 9.3",
			Statement: "a site that awaits another one's REPLY has one REQUEST on its way to it, or stands in I there, " +
				"or the REPLY is on its way",
			Pair: dme.EachPair(oneAnswer),
		},
	}
}

func informationStructure(_ dme.GlobalView, i, j dme.NodeID, s, other *site) error {
	if i < j && !s.r.Has(j) && !other.r.Has(i) {
		return dme.Broken([]dme.NodeID{i, j},
			"node %d is not in R of node %d, nor node %d in that of node %d: neither asks the other", j, i, i, j)
	}
	return nil
}

func oneAnswer(v dme.GlobalView, i, j dme.NodeID, s, other *site) error {
	if i == j {
		return nil
	}
	requests, replies, waits, want := dme.Between(v, kindRequest, i, j), dme.Between(v, kindReply, j, i), 0, 0
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
	return nil
}
