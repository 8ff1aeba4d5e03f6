package ricartagrawalatoken

import (
	"slices"

	"dmebench/dme"
)

func claims() []dme.Claim {
	const source = "Chaudhuri and Karaata 1998, section 1"
	const paper = "Ricart and Agrawala 1983"
	return slices.Concat(dme.SafeAndLive(paper), dme.HandOver(1, dme.Mean, paper), []dme.Claim{
		{
			// The token rests with the last requester: where requesters are
			// drawn uniformly, the next one is the same with probability 1/N.
			Quantity: dme.MessagesPerCS, Formula: "0 or N: N(N−1)/N for uniformly drawn requesters",
			Load: dme.Light, Kind: dme.Mean, Source: source,
			Predict: dme.PerPeer(1),
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "N",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: source,
			Predict: dme.PerN(func(n float64) float64 { return n }),
		},
		{
			Quantity: dme.KindPerCS("TOKEN"), Formula: "0 or 1",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: source,
			Predict: dme.Constantly(1),
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "N",
			Load: dme.Saturated, Kind: dme.Mean, Source: source,
			Predict: func(s dme.Setting) (float64, bool) { return float64(s.Nodes), s.Nodes >= 3 }, // of two, the one inside may ask again in time
		},
	})
}
