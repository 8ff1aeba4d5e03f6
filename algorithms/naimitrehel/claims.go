package naimitrehel

import (
	"math"
	"slices"

	"dmebench/algorithms"
)

func claims() []algorithms.Claim {
	const (
		paper   = "Naimi and Trehel 1987; Naimi, Trehel and Arnold 1996"
		lavault = "C. Lavault: Analysis of an Efficient Distributed Algorithm for Mutual Exclusion, LNCS 634, 1992"
	)
	return slices.Concat(algorithms.SafeAndLive(paper), algorithms.HandOver(1, algorithms.Mean, paper), []algorithms.Claim{
		{
			Quantity: algorithms.MessagesPerCS, Formula: "O(log N)",
			Load: algorithms.Light, Kind: algorithms.Asymptotic, Source: paper,
			Predict: func(s algorithms.Setting) (float64, bool) {
				return math.Log2(float64(s.Nodes)), s.Nodes >= 2
			},
		},
		{
			// The mean length of the path to the root is H_N − 1; the token
			// adds a message where the path is not empty: 1 − 1/N.
			Quantity: algorithms.MessagesPerCS, Formula: "H_{N−1} = 1 + 1/2 + … + 1/(N−1) (uniformly drawn requesters)",
			Load: algorithms.Light, Kind: algorithms.Mean, Source: lavault,
			Predict: func(s algorithms.Setting) (float64, bool) { return harmonic(s.Nodes - 1), true },
		},
		{
			// A REQUEST visits each other node at most once; then comes the token.
			Quantity: algorithms.MessagesPerCS, Formula: "N",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: paper,
			Predict: algorithms.PerN(func(n float64) float64 { return n }),
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
