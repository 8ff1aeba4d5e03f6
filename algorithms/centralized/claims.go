package centralized

import (
	"slices"

	"dmebench/algorithms"
)

func claims() []algorithms.Claim {
	const source = "textbook, Exercise 9.6"
	const maekawa = "Maekawa 1985, section 2"
	// RELEASE to node 1, then GRANT from it; T where node 1 is one of the two.
	handOver := algorithms.HandOver(2, algorithms.UpperBound, source)
	each := algorithms.Claim{
		Formula: "(N−1)/N: 1, but 0 for the node with the resource",
		Load:    algorithms.Light, Kind: algorithms.Mean, Source: source,
		Predict: algorithms.PerN(func(n float64) float64 { return (n - 1) / n }),
	}
	return slices.Concat(algorithms.SafeAndLive(source), []algorithms.Claim{
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
			Quantity: algorithms.ResponseTime, Formula: "2T(N−1)/N + E: 2T + E, but E for the node with the resource",
			Load: algorithms.Light, Kind: algorithms.Mean, Source: source + ", with section 9.2.3",
			Predict: algorithms.FromTimes(func(n, t, e float64) float64 { return 2*t*(n-1)/n + e }),
		},
		{
			// Node 1 is one end of every message: it sends or receives as many
			// as all others together, N/2 times the mean.
			Quantity: algorithms.WorkSpread, Formula: "N/2: node 1 is one end of every message",
			Load: algorithms.AnyLoad, Kind: algorithms.Exact, Source: maekawa + ": it violates property (d), equal responsibility",
			Predict: func(s algorithms.Setting) (float64, bool) { return float64(s.Nodes) / 2, s.Nodes >= 2 },
		},
	}, algorithms.KindsPerCS(each, "REQUEST", "GRANT", "RELEASE"), handOver)
}
