package lamport

import (
	"slices"

	"dmebench/algorithms"
)

const source = "textbook, section 9.3"

// claims lists what is said of both forms.
func claims() []algorithms.Claim {
	return slices.Concat(algorithms.SafeAndLive(source+", theorems 9.1 and 9.2"), []algorithms.Claim{
		{
			Quantity: algorithms.EntryOrder, Formula: "0: entries in timestamp order",
			Load: algorithms.AnyLoad, Kind: algorithms.Exact, Source: source + ", theorem 9.2, and Exercise 9.7",
			Predict: algorithms.Constantly(0),
		},
		{
			// The request waits for the slowest of N−1 round trips, which is
			// 2T only where all links have the same delay.
			Quantity: algorithms.ResponseTime, Formula: "2T + E (links of equal delay)",
			Load: algorithms.Light, Kind: algorithms.Mean, Source: "textbook, section 9.2.3",
			EqualDelays: true,
			Predict:     algorithms.FromTimes(func(_, t, e float64) float64 { return 2*t + e }),
		},
		{
			Quantity: algorithms.QuorumSize, Formula: "N: REQUEST to all other sites",
			Load: algorithms.Static, Kind: algorithms.Exact, Source: source,
			Predict: algorithms.PerN(func(n float64) float64 { return n }), Measure: algorithms.AskedByAll,
		},
	}, algorithms.HandOver(1, algorithms.Mean, source))
}

// exactly is the cost of the algorithm as it stands.
func exactly() []algorithms.Claim {
	cost := algorithms.Claim{
		Quantity: algorithms.MessagesPerCS, Formula: "3(N−1)",
		Load: algorithms.AnyLoad, Kind: algorithms.Exact,
		Source:  source + "; TR-869, section 1; Chaudhuri and Karaata 1998, section 1",
		Predict: perPeer(3),
	}
	each := algorithms.Claim{
		Formula: "N−1", Load: algorithms.AnyLoad, Kind: algorithms.Exact, Source: source,
		Predict: perPeer(1),
	}
	return append([]algorithms.Claim{cost, equalWork()}, algorithms.KindsPerCS(each, "REQUEST", "REPLY", "RELEASE")...)
}

// equalWork says that everybody sends and answers as many messages for each
// entry.
func equalWork() algorithms.Claim {
	return algorithms.Claim{
		Quantity: algorithms.WorkSpread, Formula: "1: a symmetric algorithm",
		Load: algorithms.Burst, Kind: algorithms.Exact, Source: "TR-869, section 4.1",
		Predict: algorithms.AtLeastTwo(1),
	}
}

// between is the cost of the optimized form.
func between() []algorithms.Claim {
	const optimization = source + ", an optimization, and Exercise 9.4"
	each := algorithms.Claim{
		Formula: "N−1", Load: algorithms.AnyLoad, Kind: algorithms.Exact, Source: optimization,
		Predict: perPeer(1),
	}
	return append(algorithms.KindsPerCS(each, "REQUEST", "RELEASE"), []algorithms.Claim{
		{
			Quantity: algorithms.MessagesPerCS, Formula: "3(N−1)",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: optimization,
			Predict: perPeer(3),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "2(N−1)",
			Load: algorithms.AnyLoad, Kind: algorithms.LowerBound, Source: optimization,
			Predict: perPeer(2),
		},
		{
			// Nobody has a request of its own that could stand for a REPLY.
			Quantity: algorithms.MessagesPerCS, Formula: "3(N−1)",
			Load: algorithms.Light, Kind: algorithms.Exact, Source: optimization,
			Predict: perPeer(3),
		},
		{
			// Of two sites that ask at about the same time, the one with the
			// smaller timestamp needs no REPLY of the other.
			Quantity: algorithms.KindPerCS("REPLY"), Formula: "(N−1)/2: one for each two sites",
			Load: algorithms.Burst, Kind: algorithms.LowerBound, Source: optimization,
			Predict: perPeer(0.5),
		},
	}...)
}

// perPeer predicts so many messages for each other node.
func perPeer(messages float64) func(algorithms.Setting) (float64, bool) {
	return algorithms.PerN(func(n float64) float64 { return messages * (n - 1) })
}
