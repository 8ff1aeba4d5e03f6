package lodhakshemkalyani

import (
	"slices"

	"dmebench/dme"
)

// The size of the concurrency set of a request, from 1 to N, is a property of
// the run; what depends on N alone are the ends of the range.
func claims() []dme.Claim {
	const source = "textbook, section 9.6.4"
	return slices.Concat(dme.SafeAndLive("textbook, sections 9.6 and 9.6.3"), dme.HandOver(1, dme.Mean, "textbook, section 9.6"), []dme.Claim{
		dme.CostPerPeer(2, dme.Light, dme.Exact, source+", case 2"),
		{
			Quantity: dme.MessagesPerCS, Formula: "2(N−1), from 2N − |CSet|",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: source,
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "N − 1, from 2N − 1 − |CSet|",
			Load: dme.AnyLoad, Kind: dme.LowerBound, Source: source + ", case 1(b)",
		},
		{
			// Reached where the requests are concurrent, all with all.
			Quantity: dme.MessagesPerCS, Formula: "N − 1/N: N, and N−1 for the last",
			Load: dme.Burst, Kind: dme.LowerBound, Source: source + ", case 1",
		},
		dme.InOrder("0: entries in priority order", "textbook, section 9.6.1"),
		{
			Quantity: dme.KindPerCS("REQUEST"), Formula: "N − 1",
			Load: dme.AnyLoad, Kind: dme.Exact, Source: source,
		},
		{
			Quantity: dme.KindPerCS("REPLY"), Formula: "N − |CSet|, and |CSet| = 1", Expression: "N−1",
			Load: dme.Light, Kind: dme.Exact, Source: source + ", case 2",
		},
		{
			Quantity: dme.KindPerCS("REPLY"), Formula: "N − 1, from N − |CSet|",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: source,
		},
		{
			Quantity: dme.KindPerCS("FLUSH"), Formula: "0: there is no successor",
			Load: dme.Light, Kind: dme.Exact, Source: source + ", case 2",
		},
		{
			Quantity: dme.KindPerCS("FLUSH"), Formula: "1: with a successor, case 1(a)",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: source + ", cases 1(a) and 1(b)",
		},
		{
			// A site that asks again at once is concurrent with nobody: all
			// others' requests arrived before.
			Quantity: dme.MessagesPerCS, Formula: "2(N−1): no two requests are concurrent",
			Load: dme.Saturated, Kind: dme.Mean, Source: source + ", case 2",
		},
		{
			Name:     "least-possible",
			Quantity: dme.MessagesPerCS, Formula: "2(N−1): no parallel, symmetric, distributed algorithm can do with fewer",
			Load: dme.Burst, Kind: dme.LowerBound, Source: "TR-869, sections 4.1 and 8",
			Applies: func(s dme.Setting) bool { return s.Nodes >= 3 },
			KnownFalse: "a REQUEST can serve as a REPLY: N − 1/N messages where all requests are concurrent, " +
				"12.9 and not 24 on 13 nodes",
		},
	})
}
