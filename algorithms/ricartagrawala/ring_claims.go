package ricartagrawala

import (
	"slices"

	"dmebench/dme"
)

func ringClaims() []dme.Claim {
	const source = "TR-869, section 6.3"
	n := func(n float64) float64 { return n }
	notes := map[string]string{"form": "notes"}
	return slices.Concat(dme.SafeAndLive("TR-869, sections 3 and 6.3"), dme.HandOver(1, dme.Mean, "TR-869, section 5.4, case A"), []dme.Claim{
		{
			Quantity: dme.MessagesPerCS, Formula: "N",
			Load: dme.AnyLoad, Kind: dme.Exact, Source: source + "; section 4.2",
			Predict: of("echo", n),
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "N with little contention",
			Load: dme.Light, Kind: dme.Exact, Source: source,
			Set:     notes,
			Predict: of("notes", n),
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "N",
			Load: dme.AnyLoad, Kind: dme.LowerBound, Source: "TR-869, section 4.2",
			Set:     notes,
			Predict: of("notes", n),
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "2N−1: N and a REPLY for each note",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: source,
			Set:     notes,
			Predict: of("notes", func(n float64) float64 { return 2*n - 1 }),
		},
		{
			// The REQUEST passes through all nodes, one after the other.
			Quantity: dme.ResponseTime, Formula: "N·T + E",
			Load: dme.Light, Kind: dme.Mean, Source: "TR-869, sections 4.2 and 6.3",
			Predict: func(s dme.Setting) (float64, bool) {
				return float64(s.Nodes)*s.T.Seconds() + s.E.Seconds(), s.Nodes >= 2 && s.T > 0
			},
		},
		{
			Quantity: LastLap, Formula: "N−1 (form=echo): the REQUEST goes on from the stop at which it was deferred",
			Load: dme.Static, Kind: dme.Exact, Source: source,
			Predict: of("echo", func(n float64) float64 { return n - 1 }), Measure: lastLap,
		},
		{
			Quantity: LastLap, Formula: "1 (form=notes): without the cumulative delays at each stop",
			Load: dme.Static, Kind: dme.Exact, Source: source,
			Set:     notes,
			Predict: of("notes", func(float64) float64 { return 1 }), Measure: lastLap,
		},
		dme.InOrder("0: entries in timestamp order", "TR-869, section 2.4"),
		{
			Quantity: dme.MessagesPerCS, Formula: "N: the minimum for serial processing",
			Load: dme.AnyLoad, Kind: dme.LowerBound, Source: "TR-869, sections 4.2 and 6.3",
			Predict: of("echo", n),
		},
		{
			Quantity: dme.WorkSpread, Formula: "1: a message into and one out of each node",
			Load: dme.AnyLoad, Kind: dme.Exact, Source: "TR-869, section 4.2",
			Predict: of("echo", func(float64) float64 { return 1 }),
		},
	})
}
