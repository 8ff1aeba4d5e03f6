package ricartagrawala

import (
	"slices"

	"dmebench/dme"
)

func broadcastClaims() []dme.Claim {
	const listed, onMedium = "TR-869, sections 6.2 and 6.2.2", "TR-869, section 6.2.1"
	n := func(n float64) float64 { return n }
	pointToPoint := func(n float64) float64 { return 2 * (n - 1) }
	medium := map[string]string{"form": "sequenced"}
	return slices.Concat(dme.SafeAndLive("TR-869, sections 3 and 6.2"), dme.HandOver(1, dme.Mean, "TR-869, section 5.4, case A"), []dme.Claim{
		{
			Quantity: dme.TransmissionsPerCS, Formula: "N",
			Load: dme.Light, Kind: dme.Exact, Source: listed,
			Predict: of("listed", n),
		},
		{
			// A broadcast REPLY stands for as many as it lists.
			Quantity: dme.TransmissionsPerCS, Formula: "N",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: listed,
			Predict: of("listed", n),
		},
		{
			// A request needs N−1 replies, and a REPLY has at most as large an
			// audience: all others, once contention is high.
			Quantity: dme.TransmissionsPerCS, Formula: "2: the audience of a REPLY grows with contention",
			Load: dme.AnyLoad, Kind: dme.LowerBound, Source: listed,
			Predict: of("listed", func(float64) float64 { return 2 }),
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "2(N−1), counting receivers",
			Load: dme.Light, Kind: dme.Exact, Source: "TR-869, section 4",
			Predict: of("listed", pointToPoint),
		},
		{
			Quantity: dme.TransmissionsPerCS, Formula: "2",
			Load: dme.AnyLoad, Kind: dme.Exact, Source: onMedium,
			Set:     medium,
			Predict: of("sequenced", func(float64) float64 { return 2 }),
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "2(N−1), counting receivers",
			Load: dme.AnyLoad, Kind: dme.Exact, Source: onMedium,
			Set:     medium,
			Predict: of("sequenced", pointToPoint),
		},
		dme.InOrder("0: entries in the order of numbers, or of the medium", "TR-869, sections 2.4 and 6.2.1"),
		{
			// Of two nodes that ask at about the same time the one that must
			// wait replies at once; the other's replies share one transmission,
			// on leaving. The last to leave owes none.
			Quantity: dme.TransmissionsPerCS, Formula: "1 + (N−1)/2 + (N−1)/N",
			Load: dme.Burst, Kind: dme.LowerBound, Source: listed,
			Predict: of("listed", inBurst),
		},
		{
			Quantity: dme.TransmissionsPerCS, Formula: "fewer than in a burst, 1 + (N−1)/2 + (N−1)/N: the audience grows with contention",
			Load: dme.Saturated, Kind: dme.UpperBound, Source: listed,
			Predict: of("listed", inBurst),
		},
		{
			Quantity: dme.Violations, Formula: "0: mutual exclusion (form=sequenced)",
			Load: dme.AnyLoad, Kind: dme.Exact, Source: onMedium,
			Set:     medium,
			Predict: of("sequenced", func(float64) float64 { return 0 }),
		},
		{
			Quantity: dme.SyncDelay, Formula: "T (form=sequenced)",
			Load: dme.Saturated, Kind: dme.Mean, Source: onMedium,
			Set:     medium,
			Predict: of("sequenced", func(float64) float64 { return 1 }),
		},
	})
}

func inBurst(n float64) float64 { return 1 + (n-1)/2 + (n-1)/n }

// of is a prediction for one form, where there is somebody to send to.
func of(form string, f func(n float64) float64) func(dme.Setting) (float64, bool) {
	return func(s dme.Setting) (float64, bool) {
		return f(float64(s.Nodes)), s.Nodes >= 2 && s.Options.Get("form") == form
	}
}
