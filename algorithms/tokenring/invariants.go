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
			Holds:     askedOnce,
			If:        func(o dme.Options) bool { return o.Get(optMode) == "demand" },
		},
	}
}

func askedOnce(v dme.GlobalView) error {
	for id, d := range dme.NodesOf[*demand](v) {
		if d.previous == id {
			continue // alone
		}
		requests, tokens, owed, want := 0, 0, 0, 0
		for _, m := range v.Between(id, d.previous) {
			if m.Kind == kindRequest {
				requests++
			}
		}
		for _, m := range v.Between(d.previous, id) {
			if m.Kind == kindToken {
				tokens++
			}
		}
		if dme.NodeOf[*demand](v, d.previous).owed {
			owed = 1
		}
		if d.asked {
			want = 1
		}
		if requests+tokens+owed != want {
			return dme.Broken([]dme.NodeID{id, d.previous},
				"node %d, asked=%t, and node %d, owed=%t, with %d REQUESTs and %d TOKENs on their way between them",
				id, d.asked, d.previous, owed == 1, requests, tokens)
		}
	}
	return nil
}
