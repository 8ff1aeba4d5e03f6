package ricartagrawala

import (
	"slices"

	"dmebench/dme"
)

// Quantities of which only TR-869 speaks.
var (
	// EntriesAfterProcessing counts the entries of one node from when it has
	// processed another's REQUEST until that one enters.
	EntriesAfterProcessing = dme.Quantity{ID: "entries-after-processing",
		Name: "entries by a node that has processed a REQUEST, before that request's"}
	// LaterFirst is how often, of two nodes that ask concurrently, the one that
	// asked later enters first.
	LaterFirst = dme.Quantity{ID: "later-first", Name: "share of conflicts in which the later request goes first"}
	// TieLaterFirst is the same of nodes that have chosen the same number.
	TieLaterFirst = dme.Quantity{ID: "tie-later-first", Name: "share of ties in which the later request goes first"}
)

const (
	report   = "TR-869, "
	textbook = "textbook, "
)

func claims() []dme.Claim {
	return slices.Concat(
		dme.SafeAndLive(report+"sections 3.1 to 3.3; "+textbook+"theorem 9.3"),
		messages(), times(), order(),
	)
}

func messages() []dme.Claim {
	each := dme.Claim{
		Formula: "N−1", Load: dme.AnyLoad, Kind: dme.Exact,
		Source: report + "section 4; " + textbook + "section 9.4",
	}
	return append(dme.KindsPerCS(each, "REQUEST", "REPLY"), []dme.Claim{
		dme.CostPerPeer(2, dme.AnyLoad, dme.Exact, report+"section 4; "+textbook+"section 9.4; Chaudhuri and Karaata 1998, section 1"),
		{
			Name:     "relative-speeds",
			Quantity: dme.MessagesPerCS, Formula: "2(N−1), whatever the relative speeds of nodes and links",
			Load: dme.AnyLoad, Kind: dme.Exact, Source: report + "section 1",
		},
		{
			// A message into and one out of each other node, for each entry.
			Quantity: dme.WorkSpread, Formula: "1: a symmetric algorithm",
			Load: dme.Burst, Kind: dme.Exact, Source: report + "section 4.1; Maekawa 1985, section 1", Applies: dme.AtLeastTwo,
		},
		{
			Quantity: dme.QuorumSize, Formula: "K = N",
			Load: dme.Static, Kind: dme.Exact, Source: "Maekawa 1985, section 2",
			Measure: dme.AskedByAll,
		},
	}...)
}

func times() []dme.Claim {
	return append(dme.HandOver(1, dme.Mean, textbook+"section 9.4; "+report+"section 5.4, case A"), []dme.Claim{
		{
			Quantity: dme.SyncDelay, Formula: "T: a one-way trip",
			Load: dme.Saturated, Kind: dme.LowerBound, Source: report + "section 5.3.3",
		},
		{
			// The request waits for the slowest of N−1 round trips, which is
			// 2T only where all links have the same delay.
			Quantity: dme.ResponseTime, Formula: "2T + E (links of equal delay)",
			Load: dme.Light, Kind: dme.Mean, Source: textbook + "section 9.2.3; " + report + "section 5.4, case B",
			EqualDelays: true,
		},
		{
			Quantity: dme.ResponseTime, Formula: "one round trip + E", Expression: "2T + E",
			Load: dme.AnyLoad, Kind: dme.LowerBound, Source: report + "section 5.3.1",
		},
		{
			Quantity: LaterFirst, Formula: "1/2",
			Load: dme.Contention, Kind: dme.Mean, Source: report + "section 5.3.2", Applies: dme.AtLeastTwo,
			KnownFalse: "numbers know something of time: who asks later has heard of more requests and takes a larger number; " +
				"it is 1/2 where the numbers are equal and the numbers of the nodes decide",
		},
		{
			// The node number decides, which knows nothing of time. Where nodes ask
			// again at their exits, neither does it look like chance.
			Name:     "equal-numbers",
			Quantity: TieLaterFirst, Formula: "1/2 of the conflicts between equal numbers",
			Load: dme.Burst, Kind: dme.Mean, Source: report + "section 5.3.2", Applies: dme.AtLeastTwo,
		},
	}...)
}

func order() []dme.Claim {
	return []dme.Claim{
		dme.InOrder("0: entries in timestamp order", textbook+"section 9.4 and Exercise 9.5; "+report+"section 2.4"),
		{
			Quantity: EntriesAfterProcessing, Formula: "1: not twice, once all have processed the REQUEST",
			Load: dme.Worst, Kind: dme.UpperBound, Source: report + "section 2.4", Applies: dme.AtLeastTwo,
		},
		{
			// On links without order. Where a link keeps order it is 2(N−1).
			Quantity: dme.Bypass, Formula: "N(N+1)/2 − 1",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: report + "appendix",
		},
		{
			Quantity: dme.BypassByOne, Formula: "N",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: report + "appendix",
		},
		{
			Quantity: dme.Bypass, Formula: "2(N−1) (links that keep order)",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: report + "appendix",
			FIFO: true,
		},
		{
			Quantity: dme.BypassByOne, Formula: "2 (links that keep order)",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: report + "appendix",
			FIFO: true, Applies: dme.AtLeastTwo,
		},
		{
			Quantity: dme.NumberRange, Formula: "N−1: from x to x+N−1",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: report + "section 6.4",
		},
	}
}
