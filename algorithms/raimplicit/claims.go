package raimplicit

import (
	"slices"

	"dmebench/algorithms"
)

const source = "TR-869, section 6.1"

func claims() []algorithms.Claim {
	return slices.Concat(algorithms.SafeAndLive("TR-869, sections 3 and 6.1"), algorithms.HandOver(1, algorithms.Mean, "TR-869, section 5.4, case A"), []algorithms.Claim{
		{
			Quantity: algorithms.MessagesPerCS, Formula: "N−1",
			Load: algorithms.Light, Kind: algorithms.Exact, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return n - 1 }),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "N−1",
			Load: algorithms.AnyLoad, Kind: algorithms.LowerBound, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return n - 1 }),
		},
		{
			// Of two nodes that ask at once, one defers the other.
			Quantity: algorithms.MessagesPerCS, Formula: "2(N−1)",
			Load: algorithms.Burst, Kind: algorithms.UpperBound, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return 2 * (n - 1) }),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "2(N−1)",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return 2 * (n - 1) }),
			KnownFalse: "a request that is deferred costs DEFERRED and, later, REPLY; " +
				"under saturation all others defer it, and it costs 3(N−1)",
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "3(N−1): REQUEST, DEFERRED and REPLY",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: source + ", counting both messages of a deferral",
			Predict: algorithms.PerN(func(n float64) float64 { return 3 * (n - 1) }),
		},
		{
			Quantity: algorithms.TransmissionsPerCS, Formula: "1 (REQUEST broadcast)",
			Load: algorithms.Light, Kind: algorithms.Exact, Source: "TR-869, section 6.2",
			Set: map[string]string{"broadcast": "true"},
			Predict: func(s algorithms.Setting) (float64, bool) {
				return 1, s.Nodes >= 2 && s.Options.Get("broadcast") == "true"
			},
		},
		{
			Quantity: algorithms.ResponseTime, Formula: "the longest round trip + E",
			Load: algorithms.Light, Kind: algorithms.Mean, Source: source,
			Predict: func(s algorithms.Setting) (float64, bool) {
				sys, ok := s.System.(system)
				return (legs*sys.bound + s.E).Seconds(), ok && s.Nodes >= 2
			},
		},
		{
			Quantity: algorithms.EntryOrder, Formula: "0: entries in timestamp order",
			Load: algorithms.AnyLoad, Kind: algorithms.Exact, Source: "TR-869, section 2.4",
			Predict: algorithms.Constantly(0),
		},
		{
			Quantity: algorithms.KindPerCS("REQUEST"), Formula: "N−1",
			Load: algorithms.AnyLoad, Kind: algorithms.Exact, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return n - 1 }),
		},
		{
			Quantity: algorithms.KindPerCS("DEFERRED"), Formula: "0 with little contention",
			Load: algorithms.Light, Kind: algorithms.Exact, Source: source,
			Predict: algorithms.Constantly(0),
		},
		{
			Quantity: algorithms.KindPerCS("DEFERRED"), Formula: "N−1",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return n - 1 }),
		},
		{
			// Of two nodes, one defers the other: each gets a half of N−1.
			Quantity: algorithms.KindPerCS("DEFERRED"), Formula: "(N−1)/2: one for each two nodes",
			Load: algorithms.Burst, Kind: algorithms.UpperBound, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return (n - 1) / 2 }),
		},
	})
}
