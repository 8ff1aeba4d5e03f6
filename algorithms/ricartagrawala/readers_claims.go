package ricartagrawala

import (
	"slices"

	"dmebench/dme"
)

func readersClaims() []dme.Claim {
	const source = "TR-869, section 6.6"
	return slices.Concat(dme.SafeAndLive("TR-869, sections 3 and 6.6"), dme.HandOver(1, dme.Mean, "TR-869, section 5.4, case A"), []dme.Claim{
		dme.CostPerPeer(2, dme.AnyLoad, dme.Exact, "TR-869, sections 4 and 6.6"),
		dme.InOrder("0: writers in timestamp order", "TR-869, section 2.4"),
		{
			// Were it so, a writer that waits would see no reader enter.
			Quantity: dme.ReadersBeforeWriter, Formula: "0 readers while a writer waits: writers are given priority",
			Load: dme.Contention, Kind: dme.UpperBound, Source: source,
			Predict:    dme.Constantly(0),
			KnownFalse: "readers and writers go in the order of their numbers: a reader that asked first goes first",
		},
		{
			Quantity: dme.ReadersInside, Formula: "N: a reader never defers another reader's REQUEST",
			Load: dme.Burst, Kind: dme.Exact, Source: source,
			Predict: dme.PerN(func(n float64) float64 { return n }),
		},
	})
}
