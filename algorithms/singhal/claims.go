package singhal

import "dmebench/algorithms"

// RequestsPerCS is the number of REQUEST messages over that of entries.
const RequestsPerCS algorithms.Quantity = "REQUEST messages per CS"

// askAll is what happens where all sites always have a pending request.
const askAll = "a site that leaves has just replied to all others and must ask them all again"

func claims() []algorithms.Claim {
	const source = "textbook, section 9.5.3"
	return []algorithms.Claim{
		{
			// A uniformly drawn requester has 0, 1, …, n−1 sites to its right
			// with equal probability, however the staircase is ordered.
			Quantity: algorithms.MessagesPerCS, Formula: "n − 1 (uniformly drawn requesters)",
			Load: algorithms.Light, Kind: algorithms.Mean, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return n - 1 }),
		},
		{
			Quantity: RequestsPerCS, Formula: "(n−1)/2 (uniformly drawn requesters)",
			Load: algorithms.Light, Kind: algorithms.Mean, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return (n - 1) / 2 }),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "3(n−1)/2",
			Load: algorithms.Saturated, Kind: algorithms.Mean, Source: source,
			Predict:    algorithms.PerN(func(n float64) float64 { return 3 * (n - 1) / 2 }),
			KnownFalse: askAll + ": 2(n−1); the formula fits one burst in which priorities do not depend on positions",
		},
		{
			Quantity: RequestsPerCS, Formula: "3(n−1)/4: (n−1)/2 that others send to a site, (n−1)/4 that it sends in response",
			Load: algorithms.Saturated, Kind: algorithms.Mean, Source: source,
			Predict:    algorithms.PerN(func(n float64) float64 { return 3 * (n - 1) / 4 }),
			KnownFalse: askAll + ": n−1",
		},
		{
			Quantity: algorithms.SyncDelay, Formula: "T",
			Load: algorithms.Saturated, Kind: algorithms.Mean, Source: source,
			Predict: atLeastTwo(1),
		},
		{
			Quantity: algorithms.QuorumSize, Formula: "(n+1)/2: sizes 1, 2, …, n, the site itself counted",
			Load: algorithms.Static, Kind: algorithms.Mean, Source: "textbook, sections 9.5 and 9.5.3",
			Predict: algorithms.PerN(func(n float64) float64 { return (n + 1) / 2 }),
		},
	}
}

// atLeastTwo is a prediction for systems in which messages are sent at all.
func atLeastTwo(value float64) func(algorithms.Setting) (float64, bool) {
	return func(s algorithms.Setting) (float64, bool) { return value, s.Nodes >= 2 }
}
