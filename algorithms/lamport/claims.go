package lamport

import (
	"slices"

	"dmebench/dme"
)

const source = "textbook, section 9.3"

// claims lists what is said of both forms.
func claims() []dme.Claim {
	return slices.Concat(dme.SafeAndLive(source+", theorems 9.1 and 9.2"), []dme.Claim{
		dme.InOrder("0: entries in timestamp order", source+", theorem 9.2, and Exercise 9.7"),
		{
			// The request waits for the slowest of N−1 round trips, which is
			// 2T only where all links have the same delay.
			Quantity: dme.ResponseTime, Formula: "2T + E (links of equal delay)",
			Load: dme.Light, Kind: dme.Mean, Source: "textbook, section 9.2.3",
			EqualDelays: true,
		},
		{
			Quantity: dme.QuorumSize, Formula: "N: REQUEST to all other sites",
			Load: dme.Static, Kind: dme.Exact, Source: source,
			Measure: dme.AskedByAll,
		},
	}, exercises(), dme.HandOver(1, dme.Mean, source))
}

// exactly is the cost of the algorithm as it stands.
func exactly() []dme.Claim {
	cost := dme.Claim{
		Quantity: dme.MessagesPerCS, Formula: "3(N−1)",
		Load: dme.AnyLoad, Kind: dme.Exact,
		Source: source + "; TR-869, section 1; Chaudhuri and Karaata 1998, section 1",
	}
	each := dme.Claim{
		Formula: "N−1", Load: dme.AnyLoad, Kind: dme.Exact, Source: source,
	}
	return append([]dme.Claim{cost, equalWork()}, dme.KindsPerCS(each, "REQUEST", "REPLY", "RELEASE")...)
}

// equalWork says that everybody sends and answers as many messages for each
// entry.
func equalWork() dme.Claim {
	return dme.Claim{
		Quantity: dme.WorkSpread, Formula: "1: a symmetric algorithm",
		Load: dme.Burst, Kind: dme.Exact, Source: "TR-869, section 4.1", Applies: dme.AtLeastTwo,
	}
}

// between is the cost of the optimized form.
func between() []dme.Claim {
	const optimization = source + ", an optimization, and Exercise 9.4"
	each := dme.Claim{
		Formula: "N−1", Load: dme.AnyLoad, Kind: dme.Exact, Source: optimization,
	}
	return append(dme.KindsPerCS(each, "REQUEST", "RELEASE"), []dme.Claim{
		dme.CostPerPeer(3, dme.AnyLoad, dme.UpperBound, optimization),
		dme.CostPerPeer(2, dme.AnyLoad, dme.LowerBound, optimization),
		// Nobody has a request of its own that could stand for a REPLY.
		dme.CostPerPeer(3, dme.Light, dme.Exact, optimization),
		{
			// Of two sites that ask at about the same time, the one with the
			// smaller timestamp needs no REPLY of the other.
			Quantity: dme.KindPerCS("REPLY"), Formula: "(N−1)/2: one for each two sites",
			Load: dme.Burst, Kind: dme.LowerBound, Source: optimization,
		},
	}...)
}
