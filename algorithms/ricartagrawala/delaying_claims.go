package ricartagrawala

import (
	"math"

	"dmebench/dme"
)

// Monopoly is how often the node of the highest priority enters again, asking at once each
// time, while a request of the lowest priority waits for it.
var Monopoly = dme.Quantity{ID: "monopoly", Name: "entries of node 1 while a request of node N waits"}

func delayingClaims() []dme.Claim {
	const (
		source  = "TR-869, section 6.5, 2"
		derived = source + ": until forced to increment their sequence numbers past the one chosen; section 6.4"
	)
	delayed := map[string]string{"increments": "priority", optLower: "delayed"}
	// Its own request takes a round trip, before that of another is answered.
	claims := dme.HandOver(2, dme.UpperBound, source+"; section 5.3.1: a request takes a round trip")
	claims = append(claims, []dme.Claim{
		{
			// Its numbers are above all that had entered when the request was made, and
			// below the request's: which is at most D above these for each node, and 1 for
			// node 1.
			Quantity: dme.BypassByOne, Formula: "(N−1)D + 1 (lower=delayed)",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: derived, Predict: numbersBelow,
		},
		{
			Quantity: dme.Bypass, Formula: "(N−1)((N−1)D + 1) (lower=delayed)",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: derived,
			Predict: func(s dme.Setting) (float64, bool) {
				each, ok := numbersBelow(s)
				return float64(s.Nodes-1) * each, ok
			},
		},
		{
			Quantity: Monopoly, Formula: "D (lower=delayed)",
			Load: dme.Static, Kind: dme.Exact, Source: source + ": monopolize critical section processing until forced",
			Predict: func(s dme.Setting) (float64, bool) { return most(s), s.Nodes >= 2 }, Measure: monopoly,
		},
	}...)
	for i := range claims {
		claims[i] = claims[i].With(delayed).Where(delaying)
	}
	return claims
}

// numbersBelow is how many numbers there can be between those that have entered and that
// of a request.
func numbersBelow(s dme.Setting) (float64, bool) { return float64(s.Nodes-1)*most(s) + 1, s.Nodes >= 2 }

// delaying reports whether nodes delay REQUESTs of lower priority.
func delaying(s dme.Setting) bool {
	return s.Options.Get("increments") == "priority" && s.Options.Get(optLower) == "delayed"
}

func heard(s dme.Setting) bool { return s.Options[optLower] != "delayed" }

// monopoly lets node N ask while node 1 is inside, and counts how often node 1, which asks
// again in the instant in which it leaves, enters before it. Messages arrive in the order
// of sending.
func monopoly(s dme.Setting) (count float64, ok bool) {
	if s.Nodes < 2 {
		return 0, false
	}
	type letter struct {
		from, to dme.NodeID
		m        dme.Message
	}
	var onTheWay []letter
	var inside dme.NodeID
	var out dme.Outbox
	first, last := dme.NodeID(1), dme.NodeID(s.Nodes)
	nodes := make([]dme.Node, s.Nodes+1)
	for id := first; id <= last; id++ {
		nodes[id] = s.System.Node(id)
	}
	do := func(id dme.NodeID, what func(*dme.Outbox)) {
		what(&out)
		for _, e := range out.Effects() {
			switch e.Kind {
			case dme.EffectEnter:
				inside = id
			case dme.EffectSend:
				onTheWay = append(onTheWay, letter{id, e.To, e.Msg})
			case dme.EffectBroadcast:
				for to := first; to <= last; to++ {
					if to != id {
						onTheWay = append(onTheWay, letter{id, to, e.Msg})
					}
				}
			}
		}
		out.Reset()
	}
	settle := func() {
		for ; len(onTheWay) > 0; onTheWay = onTheWay[1:] {
			l := onTheWay[0]
			do(l.to, func(out *dme.Outbox) { nodes[l.to].Receive(l.from, l.m, out) })
		}
	}
	do(first, nodes[first].Request)
	settle()
	do(last, nodes[last].Request)
	settle()
	for ; inside == first && count < math.MaxInt16; count++ {
		do(first, nodes[first].Release)
		do(first, nodes[first].Request)
		settle()
	}
	return count - 1, inside == last // the first entry was before node N asked
}
