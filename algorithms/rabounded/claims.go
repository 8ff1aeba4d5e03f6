package rabounded

import (
	"math/bits"

	"dmebench/algorithms"
)

func claims() []algorithms.Claim {
	const source = "TR-869, section 6.4"
	return []algorithms.Claim{
		{
			Quantity: algorithms.MessagesPerCS, Formula: "2(N−1)",
			Load: algorithms.AnyLoad, Kind: algorithms.Exact, Source: "TR-869, section 4",
			Predict: algorithms.PerN(func(n float64) float64 { return 2 * (n - 1) }),
		},
		{
			// In bytes on the wire, where a message has a head of two and a
			// number takes one for each seven bits.
			Quantity: algorithms.MessageLength, Formula: "log2(2N−1) bits for a number",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: source,
			Predict: func(s algorithms.Setting) (float64, bool) {
				largest := modulusOf(s.Nodes, s.Options) - 1
				return float64(2 + (bits.Len64(largest)+6)/7), s.Nodes >= 2
			},
		},
		{
			Quantity: algorithms.SyncDelay, Formula: "T",
			Load: algorithms.Saturated, Kind: algorithms.Mean, Source: "TR-869, section 5.4, case A",
			Predict: func(s algorithms.Setting) (float64, bool) { return 1, s.Nodes >= 2 },
		},
		{
			// It follows from the range of numbers, on links without order.
			Quantity: algorithms.Bypass, Formula: "N(N+1)/2 − 1",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: "TR-869, appendix",
			Predict: algorithms.PerN(func(n float64) float64 { return n*(n+1)/2 - 1 }),
		},
	}
}
