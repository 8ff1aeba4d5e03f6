package raring

import "dmebench/algorithms"

func claims() []algorithms.Claim {
	const source = "TR-869, section 6.3"
	n := func(n float64) float64 { return n }
	return []algorithms.Claim{
		{
			Quantity: algorithms.MessagesPerCS, Formula: "N",
			Load: algorithms.AnyLoad, Kind: algorithms.Exact, Source: source + "; section 4.2",
			Predict: of("echo", n),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "N with little contention",
			Load: algorithms.Light, Kind: algorithms.Exact, Source: source,
			Predict: of("notes", n),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "N",
			Load: algorithms.AnyLoad, Kind: algorithms.LowerBound, Source: "TR-869, section 4.2",
			Predict: of("notes", n),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "2N−1: N and a REPLY for each note",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: source,
			Predict: of("notes", func(n float64) float64 { return 2*n - 1 }),
		},
		{
			// The REQUEST passes through all nodes, one after the other.
			Quantity: algorithms.ResponseTime, Formula: "N·T + E",
			Load: algorithms.Light, Kind: algorithms.Mean, Source: "TR-869, sections 4.2 and 6.3",
			Predict: func(s algorithms.Setting) (float64, bool) {
				return float64(s.Nodes)*s.T.Seconds() + s.E.Seconds(), s.Nodes >= 2 && s.T > 0
			},
		},
		{
			Quantity: algorithms.EntryOrder, Formula: "0: entries in timestamp order",
			Load: algorithms.AnyLoad, Kind: algorithms.Exact, Source: "TR-869, section 2.4",
			Predict: algorithms.Constantly(0),
		},
	}
}

// of is a prediction for one form, where there is a ring.
func of(form string, f func(n float64) float64) func(algorithms.Setting) (float64, bool) {
	return func(s algorithms.Setting) (float64, bool) {
		return f(float64(s.Nodes)), s.Nodes >= 2 && s.Options.Get("form") == form
	}
}
