package singhal

import (
	"slices"

	"dmebench/dme"
)

// RequestsPerCS is the number of REQUEST messages over that of entries.
var RequestsPerCS = dme.KindPerCS("REQUEST")

// Steps counts the sizes of request sets that there are in a new system.
var Steps = dme.Quantity{ID: "steps", Name: "different sizes of request sets"}

// askAll is what happens where all sites always have a pending request.
const askAll = "a site that leaves has just replied to all others and must ask them all again"

func claims() []dme.Claim {
	const source = "textbook, section 9.5.3"
	return slices.Concat(dme.SafeAndLive("textbook, section 9.5.2"), dme.HandOver(1, dme.Mean, source), []dme.Claim{
		{
			// A uniformly drawn requester has 0, 1, …, n−1 sites to its right
			// with equal probability, however the staircase is ordered.
			Quantity: dme.MessagesPerCS, Formula: "n − 1 (uniformly drawn requesters)",
			Load: dme.Light, Kind: dme.Mean, Source: source,
			Predict: dme.PerPeer(1),
		},
		{
			Quantity: RequestsPerCS, Formula: "(n−1)/2 (uniformly drawn requesters)",
			Load: dme.Light, Kind: dme.Mean, Source: source,
			Predict: dme.PerN(func(n float64) float64 { return (n - 1) / 2 }),
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "3(n−1)/2",
			Load: dme.Saturated, Kind: dme.Mean, Source: source,
			Predict:    dme.PerN(func(n float64) float64 { return 3 * (n - 1) / 2 }),
			KnownFalse: askAll + ": 2(n−1); the formula fits one burst in which priorities do not depend on positions",
		},
		{
			Quantity: RequestsPerCS, Formula: "3(n−1)/4: (n−1)/2 that others send to a site, (n−1)/4 that it sends in response",
			Load: dme.Saturated, Kind: dme.Mean, Source: source,
			Predict:    dme.PerN(func(n float64) float64 { return 3 * (n - 1) / 4 }),
			KnownFalse: askAll + ": n−1",
		},
		{
			Quantity: dme.QuorumSize, Formula: "(n+1)/2: sizes 1, 2, …, n, the site itself counted",
			Load: dme.Static, Kind: dme.Mean, Source: "textbook, sections 9.5 and 9.5.3",
			Predict: dme.PerN(func(n float64) float64 { return (n + 1) / 2 }),
			Measure: dme.AskedByAll,
		},
		{
			Quantity: Steps, Formula: "n: a staircase of the sizes 1, 2, …, n",
			Load: dme.Static, Kind: dme.Exact, Source: "textbook, section 9.5, initialization",
			Predict: dme.PerN(func(n float64) float64 { return n }), Measure: steps,
		},
		{
			Quantity: dme.KindPerCS("REPLY"), Formula: "(n−1)/2: one for each REQUEST (uniformly drawn requesters)",
			Load: dme.Light, Kind: dme.Mean, Source: source,
			Predict: dme.PerN(func(n float64) float64 { return (n - 1) / 2 }),
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "fewer than n − 1, where few sites make most requests",
			Load: dme.HotSpot, Kind: dme.UpperBound, Source: "textbook, section 9.5.4",
			Predict: func(s dme.Setting) (float64, bool) { return float64(s.Nodes - 1), s.Nodes >= 3 },
		},
		preserved(),
		{
			// 2T, or nothing for the site at the right end.
			Quantity: dme.ResponseTime, Formula: "less than 2T(n−1)/n + E, where few sites make most requests",
			Load: dme.HotSpot, Kind: dme.UpperBound, Source: "textbook, section 9.5.4",
			Predict: dme.FromTimes(func(n, t, e float64) float64 { return 2*t*(n-1)/n + e }),
		},
	})
}

func steps(s dme.Setting) (float64, bool) {
	sizes := make(map[int]bool)
	for id := dme.NodeID(1); int(id) <= s.Nodes; id++ {
		sizes[len(dme.Asked(s, id))] = true
	}
	return float64(len(sizes)), true
}
