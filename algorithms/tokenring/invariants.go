package tokenring

import "dmebench/dme"

// invariants are those of a single token and, where it rests, of the chain of
// those who have asked for it.
func invariants() []dme.Invariant {
	return []dme.Invariant{
		dme.OneToken("textbook, Exercise 9.1", dme.OfKind(kindToken)),
		{
			Name: "asked once", Citation: "mode=demand, steps 1 and 2",
			Statement: "a site that has asked the previous one has one REQUEST or TOKEN between the two, or is owed the token there",
			Pair:      dme.EachPair(askedOnce),
			If:        func(o dme.Options) bool { return o.Get(optMode) == "demand" },
		},
	}
}

func askedOnce(v dme.GlobalView, id, previous dme.NodeID, d, before *demand) error {
	if d.previous != previous || previous == id { // which is so where it is alone
		return nil
	}
	requests, tokens, owed, want := dme.Between(v, kindRequest, id, previous), dme.Between(v, kindToken, previous, id), 0, 0
	if before.owed {
		owed = 1
	}
	if d.asked {
		want = 1
	}
	if requests+tokens+owed != want {
		return dme.Broken([]dme.NodeID{id, previous},
			"node %d, asked=%t, and node %d, owed=%t, with %d REQUESTs and %d TOKENs on their way between them",
			id, d.asked, previous, before.owed, requests, tokens)
	}
	return nil
}
