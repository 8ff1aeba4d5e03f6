package suzukikasami

import (
	"slices"

	"dmebench/dme"
)

func claims() []dme.Claim {
	const source = "textbook, section 9.11"
	return slices.Concat(dme.SafeAndLive(source+", theorem 9.3"), dme.HandOver(1, dme.UpperBound, source+": 0 or T"), []dme.Claim{
		{
			// 0 for the site that has the idle token, N for any other. The
			// token rests with the last requester: where requesters are drawn
			// uniformly, the next one is the same with probability 1/N.
			Quantity: dme.MessagesPerCS, Formula: "0 or N: N(N−1)/N for uniformly drawn requesters",
			Load: dme.Light, Kind: dme.Mean, Source: source,
			Predict: dme.PerPeer(1),
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "N",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: source + "; Chaudhuri and Karaata 1998, section 1",
			Predict: dme.PerN(func(n float64) float64 { return n }),
		},
		{
			// The theorem on liveness: at most N−1 requests in front of one
			// that is in the token's queue. Entries before the REQUEST has
			// reached the token are not counted by it.
			Quantity: dme.QueueLength, Formula: "N − 1",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: source + ", theorem 9.3",
			Predict: dme.PerPeer(1),
		},
		{
			Quantity: AheadInQueue, Formula: "N − 1: at most so many in front of a request that is in the token's queue",
			Load: dme.Worst, Kind: dme.UpperBound, Source: source + ", theorem 9.3",
			Predict: dme.PerPeer(1),
		},
		{
			Quantity: dme.Bypass, Formula: "N − 1: at most so many ahead, counted from when a site asks",
			Load: dme.Contention, Kind: dme.UpperBound, Source: source + ", theorem 9.3, taken for overtaking",
			Predict: dme.PerPeer(1),
			KnownFalse: "while the REQUEST is on its way, sites that have asked later enter, and one that holds the token enters " +
				"as often as it likes; the bound counts from when the request is in the token's queue",
		},
		{
			Quantity: dme.KindPerCS("TOKEN"), Formula: "0 or 1",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: source,
			Predict: dme.Constantly(1),
		},
		{
			Quantity: dme.KindPerCS("REQUEST"), Formula: "0 or N−1",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: source,
			Predict: dme.PerPeer(1),
		},
		{
			// The idle token is with the requester with probability 1/N.
			Quantity: dme.ResponseTime, Formula: "E, or 2T + E: 2T(N−1)/N + E for uniformly drawn requesters",
			Load: dme.Light, Kind: dme.Mean, Source: source,
			Predict: dme.FromTimes(func(n, t, e float64) float64 { return 2*t*(n-1)/n + e }),
		},
	})
}
