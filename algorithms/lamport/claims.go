package lamport

import "dmebench/algorithms"

const source = "textbook, section 9.3"

// claims lists what is said of both forms.
func claims() []algorithms.Claim {
	return []algorithms.Claim{
		{
			Quantity: algorithms.EntryOrder, Formula: "0: entries in timestamp order",
			Load: algorithms.AnyLoad, Kind: algorithms.Exact, Source: source + ", theorem 9.2, and Exercise 9.7",
			Predict: algorithms.Constantly(0),
		},
		{
			Quantity: algorithms.SyncDelay, Formula: "T",
			Load: algorithms.Saturated, Kind: algorithms.Mean, Source: source,
			Predict: func(s algorithms.Setting) (float64, bool) { return 1, s.Nodes >= 2 },
		},
		{
			Quantity: algorithms.Throughput, Formula: "1/(T + E)",
			Load: algorithms.Saturated, Kind: algorithms.Mean, Source: "textbook, sections 9.2.3 and 9.3",
			Predict: timed(func(t, e float64) float64 { return 1 / (t + e) }),
		},
		{
			// The request waits for the slowest of N−1 round trips, which is
			// 2T only where all links have the same delay.
			Quantity: algorithms.ResponseTime, Formula: "2T + E (links of equal delay)",
			Load: algorithms.Light, Kind: algorithms.Mean, Source: "textbook, section 9.2.3",
			Predict: timed(func(t, e float64) float64 { return 2*t + e }),
		},
	}
}

// exactly is the cost of the algorithm as it stands.
func exactly() algorithms.Claim {
	return algorithms.Claim{
		Quantity: algorithms.MessagesPerCS, Formula: "3(N−1)",
		Load: algorithms.AnyLoad, Kind: algorithms.Exact,
		Source:  source + "; TR-869, section 1; Chaudhuri and Karaata 1998, section 1",
		Predict: perPeer(3),
	}
}

// between is the cost of the optimized form.
func between() []algorithms.Claim {
	const optimization = source + ", an optimization, and Exercise 9.4"
	return []algorithms.Claim{
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
	}
}

// perPeer predicts so many messages for each other node.
func perPeer(messages float64) func(algorithms.Setting) (float64, bool) {
	return algorithms.PerN(func(n float64) float64 { return messages * (n - 1) })
}

// timed is a prediction from T and E, in seconds.
func timed(f func(t, e float64) float64) func(algorithms.Setting) (float64, bool) {
	return func(s algorithms.Setting) (float64, bool) {
		return f(s.T.Seconds(), s.E.Seconds()), s.Nodes >= 2 && s.T > 0
	}
}
