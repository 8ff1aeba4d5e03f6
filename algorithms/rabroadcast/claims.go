package rabroadcast

import "dmebench/algorithms"

func claims() []algorithms.Claim {
	const listed, onMedium = "TR-869, sections 6.2 and 6.2.2", "TR-869, section 6.2.1"
	n := func(n float64) float64 { return n }
	pointToPoint := func(n float64) float64 { return 2 * (n - 1) }
	return []algorithms.Claim{
		{
			Quantity: algorithms.TransmissionsPerCS, Formula: "N",
			Load: algorithms.Light, Kind: algorithms.Exact, Source: listed,
			Predict: of("listed", n),
		},
		{
			// A broadcast REPLY stands for as many as it lists.
			Quantity: algorithms.TransmissionsPerCS, Formula: "N",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: listed,
			Predict: of("listed", n),
		},
		{
			// A request needs N−1 replies, and a REPLY has at most as large an
			// audience: all others, once contention is high.
			Quantity: algorithms.TransmissionsPerCS, Formula: "2: the audience of a REPLY grows with contention",
			Load: algorithms.AnyLoad, Kind: algorithms.LowerBound, Source: listed,
			Predict: of("listed", func(float64) float64 { return 2 }),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "2(N−1), counting receivers",
			Load: algorithms.Light, Kind: algorithms.Exact, Source: "TR-869, section 4",
			Predict: of("listed", pointToPoint),
		},
		{
			Quantity: algorithms.TransmissionsPerCS, Formula: "2",
			Load: algorithms.AnyLoad, Kind: algorithms.Exact, Source: onMedium,
			Predict: of("sequenced", func(float64) float64 { return 2 }),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "2(N−1), counting receivers",
			Load: algorithms.AnyLoad, Kind: algorithms.Exact, Source: onMedium,
			Predict: of("sequenced", pointToPoint),
		},
		{
			Quantity: algorithms.EntryOrder, Formula: "0: entries in the order of numbers, or of the medium",
			Load: algorithms.AnyLoad, Kind: algorithms.Exact, Source: "TR-869, sections 2.4 and 6.2.1",
			Predict: algorithms.Constantly(0),
		},
	}
}

// of is a prediction for one form, where there is somebody to send to.
func of(form string, f func(n float64) float64) func(algorithms.Setting) (float64, bool) {
	return func(s algorithms.Setting) (float64, bool) {
		return f(float64(s.Nodes)), s.Nodes >= 2 && s.Options.Get("form") == form
	}
}
