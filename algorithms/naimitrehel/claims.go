package naimitrehel

import (
	"math"
	"slices"

	"dmebench/dme"
)

func claims() []dme.Claim {
	const (
		paper   = "Naimi and Trehel 1987; Naimi, Trehel and Arnold 1996"
		lavault = "C. Lavault: Analysis of an Efficient Distributed Algorithm for Mutual Exclusion, LNCS 634, 1992"
	)
	return slices.Concat(dme.SafeAndLive(paper), dme.HandOver(1, dme.Mean, paper), []dme.Claim{
		{
			Quantity: dme.MessagesPerCS, Formula: "O(log N)",
			Load: dme.Light, Kind: dme.Asymptotic, Growth: dme.Growth{Log: true, Order: true}, Source: paper,
			Predict: func(s dme.Setting) (float64, bool) {
				return math.Log2(float64(s.Nodes)), s.Nodes >= 2
			},
		},
		{
			// The mean length of the path to the root is H_N − 1; the token
			// adds a message where the path is not empty: 1 − 1/N.
			Quantity: dme.MessagesPerCS, Formula: "H_{N−1} = 1 + 1/2 + … + 1/(N−1) (uniformly drawn requesters)",
			Load: dme.Light, Kind: dme.Mean, Source: lavault,
			Predict: func(s dme.Setting) (float64, bool) { return harmonic(s.Nodes - 1), true },
		},
		{
			// A REQUEST visits each other node at most once; then comes the token.
			Quantity: dme.MessagesPerCS, Formula: "N",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: paper,
			Predict: dme.PerN(func(n float64) float64 { return n }),
		},
	})
}

// harmonic returns H_k = 1 + 1/2 + … + 1/k.
func harmonic(k int) float64 {
	var sum float64
	for i := k; i >= 1; i-- {
		sum += 1 / float64(i)
	}
	return sum
}
