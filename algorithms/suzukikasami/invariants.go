package suzukikasami

import (
	"slices"

	"dmebench/dme"
)

// invariants are those by which section 9.11 argues: there is one token, its LN
// tells outdated requests from current ones, and its Q holds sites that wait.
func invariants() []dme.Invariant {
	const source = "textbook, section 9.11"
	return []dme.Invariant{
		dme.OneToken(source, dme.OfKind(kindToken)),
		{
			Name: "request numbers", Citation: source + ", outdated REQUESTs",
			Statement: "no site has heard of a request that was not made: RN_j[i] ≤ RN_i[i]; and i has one that the token has not served, " +
				"RN_i[i] = LN[i] + 1, or none, RN_i[i] = LN[i]",
			Holds: requestNumbers,
		},
		{
			Name: "token queue", Citation: source + ", step (e)",
			Statement: "each site in Q waits for the token, and stands there once",
			Holds:     tokenQueue,
		},
	}
}

// theToken returns the token, wherever it is.
func theToken(v dme.GlobalView) token {
	for _, s := range dme.NodesOf[*site](v) {
		if s.token != nil {
			return s.token
		}
	}
	for _, f := range v.InFlight() {
		if f.Kind == kindToken {
			return token(f.Vec)
		}
	}
	return nil
}

func requestNumbers(v dme.GlobalView) error {
	t := theToken(v)
	for i, s := range dme.NodesOf[*site](v) {
		own := s.rn[i-1]
		if t != nil && own != t.ln(i) && (own != t.ln(i)+1 || v.Activity(i) == dme.Idle) {
			return dme.Broken([]dme.NodeID{i}, "RN_%d[%d] is %d and LN[%d] of the token %d; node %d is %v", i, i, own, i, t.ln(i), i, v.Activity(i))
		}
		for j, other := range dme.NodesOf[*site](v) {
			if other.rn[i-1] > own {
				return dme.Broken([]dme.NodeID{i, j}, "RN_%d[%d] is %d, and RN_%d[%d] only %d", j, i, other.rn[i-1], i, i, own)
			}
		}
	}
	for _, f := range v.InFlight() {
		if own := dme.NodeOf[*site](v, f.From).rn[f.From-1]; f.Kind == kindRequest && f.Clock > own {
			return dme.Broken([]dme.NodeID{f.From},
				"a REQUEST of node %d has the number %d, and RN_%d[%d] is %d", f.From, f.Clock, f.From, f.From, own)
		}
	}
	return nil
}

func tokenQueue(v dme.GlobalView) error {
	t := theToken(v)
	if t == nil {
		return nil
	}
	q := t.queue(v.Setting().Nodes)
	for k, x := range q {
		j := dme.NodeID(x)
		if v.Activity(j) != dme.Requesting || slices.Contains(q[:k], x) {
			return dme.Broken([]dme.NodeID{j}, "node %d stands in the queue %v of the token, and is %v", j, q, v.Activity(j))
		}
	}
	return nil
}
