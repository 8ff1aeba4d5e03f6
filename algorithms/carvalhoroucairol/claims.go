package carvalhoroucairol

import "dmebench/algorithms"

func claims() []algorithms.Claim {
	const source = "Chaudhuri and Karaata 1998, section 1"
	return []algorithms.Claim{
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
	}
}
