package carvalhoroucairol

import (
	"slices"

	"dmebench/dme"
)

func claims() []dme.Claim {
	const source = "Chaudhuri and Karaata 1998, section 1"
	const paper = "Carvalho and Roucairol 1983"
	return slices.Concat(dme.SafeAndLive(paper), dme.HandOver(1, dme.Mean, paper), []dme.Claim{
		dme.CostPerPeer(2, dme.AnyLoad, dme.UpperBound, source),
		{
			Quantity: dme.MessagesPerCS, Formula: "0",
			Load: dme.AnyLoad, Kind: dme.LowerBound, Source: source,
			Predict: dme.Constantly(0),
		},
		{
			// A lone request costs two messages for each node that has entered
			// since the requester did. Of two nodes drawn uniformly again and
			// again, either was the last with probability 1/2.
			Quantity: dme.MessagesPerCS, Formula: "between 0 and 2(N−1): N−1 for uniformly drawn requesters",
			Load: dme.Light, Kind: dme.Mean, Source: source,
			Predict: dme.PerPeer(1),
		},
		// A node that leaves has given its permission to all who wait.
		dme.CostPerPeer(2, dme.Saturated, dme.Mean, source+": between 0 and 2(N−1)"),
		{
			Quantity: dme.MessagesPerCS, Formula: "fewer than N−1, where few nodes make most requests",
			Load: dme.HotSpot, Kind: dme.UpperBound, Source: source + ": between 0 and 2(N−1)",
			Predict: func(s dme.Setting) (float64, bool) { return float64(s.Nodes - 1), s.Nodes >= 3 },
		},
	})
}
