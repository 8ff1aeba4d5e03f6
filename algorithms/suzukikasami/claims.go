package suzukikasami

import "dmebench/algorithms"

func claims() []algorithms.Claim {
	const source = "textbook, section 9.11"
	return []algorithms.Claim{
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
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return n }),
		},
		{
			Quantity: algorithms.SyncDelay, Formula: "0 or T",
			Load: algorithms.Saturated, Kind: algorithms.UpperBound, Source: source,
			Predict: algorithms.Constantly(1),
		},
		{
			// The theorem on liveness: at most N−1 requests in front of one
			// that is in the token's queue. Entries before the REQUEST has
			// reached the token are not counted by it.
			Quantity: algorithms.QueueLength, Formula: "N − 1",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: source + ", theorem 9.3",
			Predict: algorithms.PerN(func(n float64) float64 { return n - 1 }),
		},
	}
}
