package ricartagrawalatoken

import (
	"slices"

	"dmebench/algorithms"
)

func claims() []algorithms.Claim {
	const source = "Chaudhuri and Karaata 1998, section 1"
	const paper = "Ricart and Agrawala 1983"
	return slices.Concat(algorithms.SafeAndLive(paper), algorithms.HandOver(1, algorithms.Mean, paper), []algorithms.Claim{
		{
			// The token rests with the last requester: where requesters are
			// drawn uniformly, the next one is the same with probability 1/N.
			Quantity: algorithms.MessagesPerCS, Formula: "0 or N: N(N−1)/N for uniformly drawn requesters",
			Load: algorithms.Light, Kind: algorithms.Mean, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return n - 1 }),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "N",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return n }),
		},
		{
			Quantity: algorithms.KindPerCS("TOKEN"), Formula: "0 or 1",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: source,
			Predict: algorithms.Constantly(1),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "N",
			Load: algorithms.Saturated, Kind: algorithms.Mean, Source: source,
			Predict: func(s algorithms.Setting) (float64, bool) { return float64(s.Nodes), s.Nodes >= 3 }, // of two, the one inside may ask again in time
		},
	})
}
