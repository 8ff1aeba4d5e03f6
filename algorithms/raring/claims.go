package raring

import (
	"slices"

	"dmebench/algorithms"
)

func claims() []algorithms.Claim {
	const source = "TR-869, section 6.3"
	n := func(n float64) float64 { return n }
	notes := map[string]string{"form": "notes"}
	return slices.Concat(algorithms.SafeAndLive("TR-869, sections 3 and 6.3"), algorithms.HandOver(1, algorithms.Mean, "TR-869, section 5.4, case A"), []algorithms.Claim{
		{
			Quantity: algorithms.MessagesPerCS, Formula: "N",
			Load: algorithms.AnyLoad, Kind: algorithms.Exact, Source: source + "; section 4.2",
			Predict: of("echo", n),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "N with little contention",
			Load: algorithms.Light, Kind: algorithms.Exact, Source: source,
			Set:     notes,
			Predict: of("notes", n),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "N",
			Load: algorithms.AnyLoad, Kind: algorithms.LowerBound, Source: "TR-869, section 4.2",
			Set:     notes,
			Predict: of("notes", n),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "2N−1: N and a REPLY for each note",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: source,
			Set:     notes,
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
		{
			Quantity: algorithms.MessagesPerCS, Formula: "N: the minimum for serial processing",
			Load: algorithms.AnyLoad, Kind: algorithms.LowerBound, Source: "TR-869, sections 4.2 and 6.3",
			Predict: of("echo", n),
		},
		{
			Quantity: algorithms.WorkSpread, Formula: "1: a message into and one out of each node",
			Load: algorithms.AnyLoad, Kind: algorithms.Exact, Source: "TR-869, section 4.2",
			Predict: of("echo", func(float64) float64 { return 1 }),
		},
	})
}

// of is a prediction for one form, where there is a ring.
func of(form string, f func(n float64) float64) func(algorithms.Setting) (float64, bool) {
	return func(s algorithms.Setting) (float64, bool) {
		return f(float64(s.Nodes)), s.Nodes >= 2 && s.Options.Get("form") == form
	}
}
