package ricartagrawala

import (
	"slices"

	"dmebench/dme"
)

const source = "TR-869, section 6.1"

func implicitClaims() []dme.Claim {
	return slices.Concat(dme.SafeAndLive("TR-869, sections 3 and 6.1"), dme.HandOver(1, dme.Mean, "TR-869, section 5.4, case A"), []dme.Claim{
		dme.CostPerPeer(1, dme.Light, dme.Exact, source),
		dme.CostPerPeer(1, dme.AnyLoad, dme.LowerBound, source),
		// Of two nodes that ask at once, one defers the other.
		dme.CostPerPeer(2, dme.Burst, dme.UpperBound, source),
		{
			Quantity: dme.MessagesPerCS, Formula: "2(N−1)",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: source,
			Predict: dme.PerPeer(2),
			KnownFalse: "a request that is deferred costs DEFERRED and, later, REPLY; " +
				"under saturation all others defer it, and it costs 3(N−1)",
		},
		{
			Name:     "with-deferred",
			Quantity: dme.MessagesPerCS, Formula: "3(N−1): REQUEST, DEFERRED and REPLY",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: source + ", counting both messages of a deferral",
			Predict: dme.PerPeer(3),
		},
		{
			Quantity: dme.TransmissionsPerCS, Formula: "1 (REQUEST broadcast)",
			Load: dme.Light, Kind: dme.Exact, Source: "TR-869, section 6.2",
			Set: map[string]string{"broadcast": "true"},
			Predict: func(s dme.Setting) (float64, bool) {
				return 1, s.Nodes >= 2 && s.Options.Get("broadcast") == "true"
			},
		},
		{
			Quantity: dme.ResponseTime, Formula: "the longest round trip + E",
			Load: dme.Light, Kind: dme.Mean, Source: source,
			Predict: func(s dme.Setting) (float64, bool) {
				sys, ok := s.System.(implicitSystem)
				return (legs*sys.bound + s.E).Seconds(), ok && s.Nodes >= 2
			},
		},
		dme.InOrder("0: entries in timestamp order", "TR-869, section 2.4"),
		{
			Quantity: dme.KindPerCS("REQUEST"), Formula: "N−1",
			Load: dme.AnyLoad, Kind: dme.Exact, Source: source,
			Predict: dme.PerPeer(1),
		},
		{
			Quantity: dme.KindPerCS("DEFERRED"), Formula: "0 with little contention",
			Load: dme.Light, Kind: dme.Exact, Source: source,
			Predict: dme.Constantly(0),
		},
		{
			Quantity: dme.KindPerCS("DEFERRED"), Formula: "N−1",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: source,
			Predict: dme.PerPeer(1),
		},
		{
			// Of two nodes, one defers the other: each gets a half of N−1.
			Quantity: dme.KindPerCS("DEFERRED"), Formula: "(N−1)/2: one for each two nodes",
			Load: dme.Burst, Kind: dme.UpperBound, Source: source,
			Predict: dme.PerN(func(n float64) float64 { return (n - 1) / 2 }),
		},
	})
}
