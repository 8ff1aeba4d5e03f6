package ricartagrawala

import "dmebench/algorithms"

func claims() []algorithms.Claim {
	return []algorithms.Claim{
		{
			Quantity: algorithms.MessagesPerCS, Formula: "2(N−1)",
			Load: algorithms.AnyLoad, Kind: algorithms.Exact, Source: "TR-869, section 4; textbook, section 9.4",
			Predict: algorithms.PerN(func(n float64) float64 { return 2 * (n - 1) }),
		},
		{
			Quantity: algorithms.SyncDelay, Formula: "T",
			Load: algorithms.Saturated, Kind: algorithms.Mean, Source: "textbook, section 9.4; TR-869, section 5.4, case A",
			Predict: atLeastTwo(func(algorithms.Setting) float64 { return 1 }),
		},
		{
			Quantity: algorithms.Throughput, Formula: "1/(T + E)",
			Load: algorithms.Saturated, Kind: algorithms.Mean, Source: "textbook, sections 9.2.3 and 9.4",
			Predict: timed(func(t, e float64) float64 { return 1 / (t + e) }),
		},
		{
			// The request waits for the slowest of N−1 round trips, which is
			// 2T only where all links have the same delay.
			Quantity: algorithms.ResponseTime, Formula: "2T + E (links of equal delay)",
			Load: algorithms.Light, Kind: algorithms.Mean, Source: "textbook, section 9.2.3",
			Predict: timed(func(t, e float64) float64 { return 2*t + e }),
		},
		{
			Quantity: algorithms.ResponseTime, Formula: "one round trip + E",
			Load: algorithms.Light, Kind: algorithms.LowerBound, Source: "TR-869, section 5.3.1",
			Predict: timed(func(t, e float64) float64 { return 2*t + e }),
		},
		{
			Quantity: algorithms.EntryOrder, Formula: "0: entries in timestamp order",
			Load: algorithms.AnyLoad, Kind: algorithms.Exact, Source: "textbook, section 9.4 and Exercise 9.5; TR-869, section 2.4",
			Predict: algorithms.Constantly(0),
		},
		{
			// On links without order. Where a link keeps order it is 2(N−1).
			Quantity: algorithms.Bypass, Formula: "N(N+1)/2 − 1",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: "TR-869, appendix",
			Predict: algorithms.PerN(func(n float64) float64 { return n*(n+1)/2 - 1 }),
		},
	}
}

// atLeastTwo is a prediction for systems in which messages are sent at all.
func atLeastTwo(f func(algorithms.Setting) float64) func(algorithms.Setting) (float64, bool) {
	return func(s algorithms.Setting) (float64, bool) { return f(s), s.Nodes >= 2 }
}

// timed is a prediction from T and E, in seconds.
func timed(f func(t, e float64) float64) func(algorithms.Setting) (float64, bool) {
	return func(s algorithms.Setting) (float64, bool) {
		return f(s.T.Seconds(), s.E.Seconds()), s.Nodes >= 2 && s.T > 0
	}
}
