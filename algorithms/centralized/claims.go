package centralized

import "dmebench/algorithms"

func claims() []algorithms.Claim {
	const source = "textbook, Exercise 9.6"
	return []algorithms.Claim{
		{
			// Exactly 3 for each node but node 1, which needs none.
			Quantity: algorithms.MessagesPerCS, Formula: "3(N−1)/N: 3, but 0 for the node with the resource",
			Load: algorithms.Light, Kind: algorithms.Mean, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return 3 * (n - 1) / n }),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "3",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: source,
			Predict: algorithms.Constantly(3),
		},
		{
			// RELEASE to node 1, then GRANT from it; T where node 1 is one of the two.
			Quantity: algorithms.SyncDelay, Formula: "2T",
			Load: algorithms.Saturated, Kind: algorithms.UpperBound, Source: source + ", with section 9.2.3",
			Predict: algorithms.Constantly(2),
		},
		{
			Quantity: algorithms.ResponseTime, Formula: "2T(N−1)/N + E: 2T + E, but E for the node with the resource",
			Load: algorithms.Light, Kind: algorithms.Mean, Source: source + ", with section 9.2.3",
			Predict: func(s algorithms.Setting) (float64, bool) {
				n := float64(s.Nodes)
				return 2*s.T.Seconds()*(n-1)/n + s.E.Seconds(), s.T > 0
			},
		},
	}
}
