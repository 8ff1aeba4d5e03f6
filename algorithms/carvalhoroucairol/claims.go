package carvalhoroucairol

import (
	"slices"

	"dmebench/algorithms"
)

func claims() []algorithms.Claim {
	const source = "Chaudhuri and Karaata 1998, section 1"
	const paper = "Carvalho and Roucairol 1983"
	return slices.Concat(algorithms.SafeAndLive(paper), algorithms.HandOver(1, algorithms.Mean, paper), []algorithms.Claim{
		{
			Quantity: algorithms.MessagesPerCS, Formula: "2(N−1)",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return 2 * (n - 1) }),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "0",
			Load: algorithms.AnyLoad, Kind: algorithms.LowerBound, Source: source,
			Predict: algorithms.Constantly(0),
		},
		{
			// A lone request costs two messages for each node that has entered
			// since the requester did. Of two nodes drawn uniformly again and
			// again, either was the last with probability 1/2.
			Quantity: algorithms.MessagesPerCS, Formula: "between 0 and 2(N−1): N−1 for uniformly drawn requesters",
			Load: algorithms.Light, Kind: algorithms.Mean, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return n - 1 }),
		},
		{
			// A node that leaves has given its permission to all who wait.
			Quantity: algorithms.MessagesPerCS, Formula: "2(N−1)",
			Load: algorithms.Saturated, Kind: algorithms.Mean, Source: source + ": between 0 and 2(N−1)",
			Predict: algorithms.PerN(func(n float64) float64 { return 2 * (n - 1) }),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "fewer than N−1, where few nodes make most requests",
			Load: algorithms.HotSpot, Kind: algorithms.UpperBound, Source: source + ": between 0 and 2(N−1)",
			Predict: func(s algorithms.Setting) (float64, bool) { return float64(s.Nodes - 1), s.Nodes >= 3 },
		},
	})
}
