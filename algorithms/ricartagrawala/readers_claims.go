package ricartagrawala

import (
	"slices"

	"dmebench/dme"
)

// Quantities that there are only where readers share.
var (
	// ReadersInside counts the readers that are in the critical section together.
	ReadersInside = dme.Quantity{ID: "readers-inside", Name: "readers inside together"}
	// ReadersBeforeWriter counts the readers that enter between a writer's
	// request and its entry.
	ReadersBeforeWriter = dme.Quantity{ID: "readers-before-writer", Name: "readers that enter while a writer waits"}
)

func readersClaims() []dme.Claim {
	const source = "TR-869, section 6.6"
	return slices.Concat(dme.SafeAndLive("TR-869, sections 3 and 6.6"), dme.HandOver(1, dme.Mean, "TR-869, section 5.4, case A"), []dme.Claim{
		dme.CostPerPeer(2, dme.AnyLoad, dme.Exact, "TR-869, sections 4 and 6.6"),
		dme.InOrder("0: writers in timestamp order", "TR-869, section 2.4"),
		{
			// Were it so, a writer that waits would see no reader enter.
			Quantity: ReadersBeforeWriter, Formula: "0 readers while a writer waits: writers are given priority",
			Load: dme.Contention, Kind: dme.UpperBound, Source: source,
			Test:       "TestWritersHaveNoPriority",
			Predict:    dme.Constantly(0),
			KnownFalse: "readers and writers go in the order of their numbers: a reader that asked first goes first",
		},
		{
			Quantity: ReadersInside, Formula: "N: a reader never defers another reader's REQUEST",
			Load: dme.Burst, Kind: dme.Exact, Source: source,
			Test:    "TestReadersShare",
			Predict: dme.PerN(func(n float64) float64 { return n }),
		},
	})
}
