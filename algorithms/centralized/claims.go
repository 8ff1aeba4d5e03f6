package centralized

import (
	"slices"

	"dmebench/dme"
)

func claims() []dme.Claim {
	const source = "textbook, Exercise 9.6"
	const maekawa = "Maekawa 1985, section 2"
	// RELEASE to node 1, then GRANT from it; T where node 1 is one of the two.
	handOver := dme.HandOver(2, dme.UpperBound, source)
	each := dme.Claim{
		Formula: "(N−1)/N: 1, but 0 for the node with the resource",
		Load:    dme.Light, Kind: dme.Mean, Source: source,
		Predict: dme.PerN(func(n float64) float64 { return (n - 1) / n }),
	}
	return slices.Concat(dme.SafeAndLive(source), []dme.Claim{
		{
			// Exactly 3 for each node but node 1, which needs none.
			Quantity: dme.MessagesPerCS, Formula: "3(N−1)/N: 3, but 0 for the node with the resource",
			Load: dme.Light, Kind: dme.Mean, Source: source,
			Predict: dme.PerN(func(n float64) float64 { return 3 * (n - 1) / n }),
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "3",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: source,
			Predict: dme.Constantly(3),
		},
		{
			Quantity: dme.ResponseTime, Formula: "2T(N−1)/N + E: 2T + E, but E for the node with the resource",
			Load: dme.Light, Kind: dme.Mean, Source: source + ", with section 9.2.3",
			Predict: dme.FromTimes(func(n, t, e float64) float64 { return 2*t*(n-1)/n + e }),
		},
		{
			// Node 1 is one end of every message: it sends or receives as many
			// as all others together, N/2 times the mean.
			Quantity: dme.WorkSpread, Formula: "N/2: node 1 is one end of every message",
			Load: dme.AnyLoad, Kind: dme.Exact, Source: maekawa + ": it violates property (d), equal responsibility",
			Predict: func(s dme.Setting) (float64, bool) { return float64(s.Nodes) / 2, s.Nodes >= 2 },
		},
	}, dme.KindsPerCS(each, "REQUEST", "GRANT", "RELEASE"), handOver)
}
