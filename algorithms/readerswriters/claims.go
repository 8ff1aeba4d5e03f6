package readerswriters

import (
	"slices"

	"dmebench/algorithms"
)

// Quantities that there are only where readers share.
const (
	// ReadersInside counts the readers that are in the critical section together.
	ReadersInside algorithms.Quantity = "readers inside together"
	// ReadersBeforeWriter counts the readers that enter between a writer's
	// request and its entry.
	ReadersBeforeWriter algorithms.Quantity = "readers that enter while a writer waits"
)

func claims() []algorithms.Claim {
	const source = "TR-869, section 6.6"
	return slices.Concat(algorithms.SafeAndLive("TR-869, sections 3 and 6.6"), algorithms.HandOver(1, algorithms.Mean, "TR-869, section 5.4, case A"), []algorithms.Claim{
		{
			Quantity: algorithms.MessagesPerCS, Formula: "2(N−1)",
			Load: algorithms.AnyLoad, Kind: algorithms.Exact, Source: "TR-869, sections 4 and 6.6",
			Predict: algorithms.PerN(func(n float64) float64 { return 2 * (n - 1) }),
		},
		{
			Quantity: algorithms.EntryOrder, Formula: "0: writers in timestamp order",
			Load: algorithms.AnyLoad, Kind: algorithms.Exact, Source: "TR-869, section 2.4",
			Predict: algorithms.Constantly(0),
		},
		{
			// Were it so, a writer that waits would see no reader enter.
			Quantity: ReadersBeforeWriter, Formula: "0 readers while a writer waits: writers are given priority",
			Load: algorithms.Contention, Kind: algorithms.UpperBound, Source: source,
			Test:       "TestWritersHaveNoPriority",
			Predict:    algorithms.Constantly(0),
			KnownFalse: "readers and writers go in the order of their numbers: a reader that asked first goes first",
		},
		{
			Quantity: ReadersInside, Formula: "N: a reader never defers another reader's REQUEST",
			Load: algorithms.Burst, Kind: algorithms.Exact, Source: source,
			Test:    "TestReadersShare",
			Predict: algorithms.PerN(func(n float64) float64 { return n }),
		},
	})
}
