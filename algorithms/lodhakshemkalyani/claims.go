package lodhakshemkalyani

import "dmebench/algorithms"

// The size of the concurrency set of a request, from 1 to N, is a property of
// the run; what depends on N alone are the ends of the range.
func claims() []algorithms.Claim {
	const source = "textbook, section 9.6.4"
	return []algorithms.Claim{
		{
			Quantity: algorithms.MessagesPerCS, Formula: "2(N−1)",
			Load: algorithms.Light, Kind: algorithms.Exact, Source: source + ", case 2",
			Predict: algorithms.PerN(func(n float64) float64 { return 2 * (n - 1) }),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "2(N−1), from 2N − |CSet|",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return 2 * (n - 1) }),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "N − 1, from 2N − 1 − |CSet|",
			Load: algorithms.AnyLoad, Kind: algorithms.LowerBound, Source: source + ", case 1(b)",
			Predict: algorithms.PerN(func(n float64) float64 { return n - 1 }),
		},
		{
			// Reached where the requests are concurrent, all with all.
			Quantity: algorithms.MessagesPerCS, Formula: "N − 1/N: N, and N−1 for the last",
			Load: algorithms.Burst, Kind: algorithms.LowerBound, Source: source + ", case 1",
			Predict: algorithms.PerN(func(n float64) float64 { return n - 1/n }),
		},
		{
			Quantity: algorithms.EntryOrder, Formula: "0: entries in priority order",
			Load: algorithms.AnyLoad, Kind: algorithms.Exact, Source: "textbook, section 9.6.1",
			Predict: algorithms.Constantly(0),
		},
	}
}
