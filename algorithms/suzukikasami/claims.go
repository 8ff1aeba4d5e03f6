package suzukikasami

import (
	"slices"

	"dmebench/algorithms"
)

func claims() []algorithms.Claim {
	const source = "textbook, section 9.11"
	return slices.Concat(algorithms.SafeAndLive(source+", theorem 9.3"), algorithms.HandOver(1, algorithms.UpperBound, source+": 0 or T"), []algorithms.Claim{
		{
			// 0 for the site that has the idle token, N for any other. The
			// token rests with the last requester: where requesters are drawn
			// uniformly, the next one is the same with probability 1/N.
			Quantity: algorithms.MessagesPerCS, Formula: "0 or N: N(N−1)/N for uniformly drawn requesters",
			Load: algorithms.Light, Kind: algorithms.Mean, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return n - 1 }),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "N",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: source + "; Chaudhuri and Karaata 1998, section 1",
			Predict: algorithms.PerN(func(n float64) float64 { return n }),
		},
		{
			// The theorem on liveness: at most N−1 requests in front of one
			// that is in the token's queue. Entries before the REQUEST has
			// reached the token are not counted by it.
			Quantity: algorithms.QueueLength, Formula: "N − 1",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: source + ", theorem 9.3",
			Predict: algorithms.PerN(func(n float64) float64 { return n - 1 }),
		},
		{
			Quantity: algorithms.KindPerCS("TOKEN"), Formula: "0 or 1",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: source,
			Predict: algorithms.Constantly(1),
		},
		{
			Quantity: algorithms.KindPerCS("REQUEST"), Formula: "0 or N−1",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return n - 1 }),
		},
		{
			// The idle token is with the requester with probability 1/N.
			Quantity: algorithms.ResponseTime, Formula: "E, or 2T + E: 2T(N−1)/N + E for uniformly drawn requesters",
			Load: algorithms.Light, Kind: algorithms.Mean, Source: source,
			Predict: algorithms.FromTimes(func(n, t, e float64) float64 { return 2*t*(n-1)/n + e }),
		},
	})
}
