package ricartagrawala

import (
	"slices"
	"strconv"

	"dmebench/dme"
)

// LowerFirst is how often, of two nodes that ask concurrently, the one with the
// lower number, or the higher priority, enters first.
var LowerFirst = dme.Quantity{ID: "lower-first", Name: "share of conflicts that the node with the lower number wins"}

func priorityClaims() []dme.Claim {
	const source = "TR-869, section 6.5"
	return slices.Concat(
		dme.SafeAndLive("TR-869, sections 3 and 6.5"),
		handedOver(),
		delayingClaims(),
		[]dme.Claim{
			dme.CostPerPeer(2, dme.AnyLoad, dme.Exact, "TR-869, section 4"),
			dme.InOrder("0: entries in timestamp order", "TR-869, sections 2.4 and 6.5"),
			{
				// Each request adds at most D to a number that has been seen,
				// where it adds 1 in section 6.4.
				Quantity: dme.NumberRange, Formula: "(N−1)D",
				Load: dme.AnyLoad, Kind: dme.UpperBound, Source: "TR-869, section 6.4, with increments up to D",
				Predict: func(s dme.Setting) (float64, bool) { return float64(s.Nodes-1) * most(s), true },
			},
			{
				// 1 where all add 1. Of two increments from 1 to D the first is
				// smaller, or equal and wins the tie.
				Quantity: LowerFirst, Formula: "less than 1: (D+1)/2D (increments=random)",
				Load: dme.Contention, Kind: dme.Mean, Source: source + ", 1: random increments reduce the favouritism",
				Predict: func(s dme.Setting) (float64, bool) {
					return (most(s) + 1) / (2 * most(s)), s.Nodes >= 2 && s.Options.Get("increments") == "random" && heard(s)
				},
			},
			{
				Quantity: LowerFirst, Formula: "1 (increments=priority)",
				Load: dme.Static, Kind: dme.Exact, Source: source + ", 2: deliberate priority",
				Set:     map[string]string{"increments": "priority"},
				Predict: dme.AtLeastTwo(1), Measure: lowerFirst,
			},
		})
}

// handedOver is claimed of nodes that act on every REQUEST as they hear it: one that has
// left goes first again only with a larger number.
func handedOver() []dme.Claim {
	claims := dme.HandOver(1, dme.Mean, "TR-869, section 5.4, case A")
	for i := range claims {
		claims[i] = claims[i].Where(heard)
	}
	return claims
}

// most is D, the largest increment.
func most(s dme.Setting) float64 {
	d, err := strconv.ParseUint(s.Options.Get("most"), 10, 64)
	if err != nil {
		panic("ricartagrawala: most=" + s.Options.Get("most") + " was accepted") // the option is checked
	}
	return float64(d)
}

// lowerFirst lets all nodes of a new system ask before any hears of another,
// and compares each two of their requests.
func lowerFirst(s dme.Setting) (float64, bool) {
	var requests []dme.Stamp
	for id := dme.NodeID(1); int(id) <= s.Nodes; id++ {
		n, ok := s.System.Node(id).(*priorityNode)
		if !ok {
			return 0, false
		}
		n.Request(new(dme.Outbox))
		requests = append(requests, n.ourRequest())
	}
	won, all := 0, 0
	for j, high := range requests {
		for _, low := range requests[:j] {
			all++
			if low.Precedes(high) {
				won++
			}
		}
	}
	return float64(won) / float64(all), all > 0
}
