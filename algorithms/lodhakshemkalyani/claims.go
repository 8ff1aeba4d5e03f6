package lodhakshemkalyani

import (
	"slices"

	"dmebench/algorithms"
)

// The size of the concurrency set of a request, from 1 to N, is a property of
// the run; what depends on N alone are the ends of the range.
func claims() []algorithms.Claim {
	const source = "textbook, section 9.6.4"
	return slices.Concat(algorithms.SafeAndLive("textbook, sections 9.6 and 9.6.3"), algorithms.HandOver(1, algorithms.Mean, "textbook, section 9.6"), []algorithms.Claim{
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
		{
			Quantity: algorithms.KindPerCS("REQUEST"), Formula: "N − 1",
			Load: algorithms.AnyLoad, Kind: algorithms.Exact, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return n - 1 }),
		},
		{
			Quantity: algorithms.KindPerCS("REPLY"), Formula: "N − |CSet|, and |CSet| = 1",
			Load: algorithms.Light, Kind: algorithms.Exact, Source: source + ", case 2",
			Predict: algorithms.PerN(func(n float64) float64 { return n - 1 }),
		},
		{
			Quantity: algorithms.KindPerCS("REPLY"), Formula: "N − 1, from N − |CSet|",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return n - 1 }),
		},
		{
			Quantity: algorithms.KindPerCS("FLUSH"), Formula: "0: there is no successor",
			Load: algorithms.Light, Kind: algorithms.Exact, Source: source + ", case 2",
			Predict: algorithms.Constantly(0),
		},
		{
			Quantity: algorithms.KindPerCS("FLUSH"), Formula: "1: with a successor, case 1(a)",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: source + ", cases 1(a) and 1(b)",
			Predict: algorithms.Constantly(1),
		},
		{
			// A site that asks again at once is concurrent with nobody: all
			// others' requests arrived before.
			Quantity: algorithms.MessagesPerCS, Formula: "2(N−1): no two requests are concurrent",
			Load: algorithms.Saturated, Kind: algorithms.Mean, Source: source + ", case 2",
			Predict: algorithms.PerN(func(n float64) float64 { return 2 * (n - 1) }),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "2(N−1): no parallel, symmetric, distributed algorithm can do with fewer",
			Load: algorithms.Burst, Kind: algorithms.LowerBound, Source: "TR-869, sections 4.1 and 8",
			Predict: func(s algorithms.Setting) (float64, bool) { return 2 * float64(s.Nodes-1), s.Nodes >= 3 },
			KnownFalse: "a REQUEST can serve as a REPLY: N − 1/N messages where all requests are concurrent, " +
				"12.9 and not 24 on 13 nodes",
		},
	})
}
