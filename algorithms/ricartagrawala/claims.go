package ricartagrawala

import (
	"slices"

	"dmebench/algorithms"
)

// Quantities of which only TR-869 speaks.
const (
	// EntriesAfterProcessing counts the entries of one node from when it has
	// processed another's REQUEST until that one enters.
	EntriesAfterProcessing algorithms.Quantity = "entries by a node that has processed a REQUEST, before that request's"
	// LaterFirst is how often, of two nodes that ask concurrently, the one that
	// asked later enters first.
	LaterFirst algorithms.Quantity = "share of conflicts in which the later request goes first"
)

const (
	report   = "TR-869, "
	textbook = "textbook, "
)

func claims() []algorithms.Claim {
	return slices.Concat(
		algorithms.SafeAndLive(report+"sections 3.1 to 3.3; "+textbook+"theorem 9.3"),
		messages(), times(), order(),
	)
}

func messages() []algorithms.Claim {
	each := algorithms.Claim{
		Formula: "N−1", Load: algorithms.AnyLoad, Kind: algorithms.Exact,
		Source:  report + "section 4; " + textbook + "section 9.4",
		Predict: algorithms.PerN(func(n float64) float64 { return n - 1 }),
	}
	return append(algorithms.KindsPerCS(each, "REQUEST", "REPLY"), []algorithms.Claim{
		{
			Quantity: algorithms.MessagesPerCS, Formula: "2(N−1)",
			Load: algorithms.AnyLoad, Kind: algorithms.Exact,
			Source:  report + "section 4; " + textbook + "section 9.4; Chaudhuri and Karaata 1998, section 1",
			Predict: algorithms.PerN(func(n float64) float64 { return 2 * (n - 1) }),
		},
		{
			// A message into and one out of each other node, for each entry.
			Quantity: algorithms.WorkSpread, Formula: "1: a symmetric algorithm",
			Load: algorithms.Burst, Kind: algorithms.Exact, Source: report + "section 4.1; Maekawa 1985, section 1",
			Predict: algorithms.AtLeastTwo(1),
		},
		{
			Quantity: algorithms.QuorumSize, Formula: "K = N",
			Load: algorithms.Static, Kind: algorithms.Exact, Source: "Maekawa 1985, section 2",
			Predict: algorithms.PerN(func(n float64) float64 { return n }), Measure: algorithms.AskedByAll,
		},
	}...)
}

func times() []algorithms.Claim {
	return append(algorithms.HandOver(1, algorithms.Mean, textbook+"section 9.4; "+report+"section 5.4, case A"), []algorithms.Claim{
		{
			Quantity: algorithms.SyncDelay, Formula: "T: a one-way trip",
			Load: algorithms.Saturated, Kind: algorithms.LowerBound, Source: report + "section 5.3.3",
			Predict: algorithms.AtLeastTwo(1),
		},
		{
			// The request waits for the slowest of N−1 round trips, which is
			// 2T only where all links have the same delay.
			Quantity: algorithms.ResponseTime, Formula: "2T + E (links of equal delay)",
			Load: algorithms.Light, Kind: algorithms.Mean, Source: textbook + "section 9.2.3; " + report + "section 5.4, case B",
			EqualDelays: true,
			Predict:     algorithms.FromTimes(func(_, t, e float64) float64 { return 2*t + e }),
		},
		{
			Quantity: algorithms.ResponseTime, Formula: "one round trip + E",
			Load: algorithms.AnyLoad, Kind: algorithms.LowerBound, Source: report + "section 5.3.1",
			Predict: algorithms.FromTimes(func(_, t, e float64) float64 { return 2*t + e }),
		},
		{
			// The node number decides, which knows nothing of time.
			Quantity: LaterFirst, Formula: "1/2",
			Load: algorithms.Contention, Kind: algorithms.Mean, Source: report + "section 5.3.2",
			Test:    "TestTieBreakKnowsNothingOfTime",
			Predict: algorithms.AtLeastTwo(0.5),
		},
	}...)
}

func order() []algorithms.Claim {
	return []algorithms.Claim{
		{
			Quantity: algorithms.EntryOrder, Formula: "0: entries in timestamp order",
			Load: algorithms.AnyLoad, Kind: algorithms.Exact, Source: textbook + "section 9.4 and Exercise 9.5; " + report + "section 2.4",
			Predict: algorithms.Constantly(0),
		},
		{
			Quantity: EntriesAfterProcessing, Formula: "1: not twice, once all have processed the REQUEST",
			Load: algorithms.Worst, Kind: algorithms.UpperBound, Source: report + "section 2.4",
			Test:    "TestNobodyEntersTwiceAfterProcessing",
			Predict: algorithms.AtLeastTwo(1),
		},
		{
			// On links without order. Where a link keeps order it is 2(N−1).
			Quantity: algorithms.Bypass, Formula: "N(N+1)/2 − 1",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: report + "appendix",
			Predict: algorithms.PerN(func(n float64) float64 { return n*(n+1)/2 - 1 }),
		},
		{
			Quantity: algorithms.BypassByOne, Formula: "N",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: report + "appendix",
			Predict: algorithms.PerN(func(n float64) float64 { return n }),
		},
		{
			Quantity: algorithms.Bypass, Formula: "2(N−1) (links that keep order)",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: report + "appendix",
			FIFO: true, Predict: algorithms.PerN(func(n float64) float64 { return 2 * (n - 1) }),
		},
		{
			Quantity: algorithms.BypassByOne, Formula: "2 (links that keep order)",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: report + "appendix",
			FIFO: true, Predict: algorithms.AtLeastTwo(2),
		},
		{
			Quantity: algorithms.NumberRange, Formula: "N−1: from x to x+N−1",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: report + "section 6.4",
			Test:    "TestConformance",
			Predict: algorithms.PerN(func(n float64) float64 { return n - 1 }),
		},
	}
}
