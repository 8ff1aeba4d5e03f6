package ricartagrawala

import (
	"math/bits"
	"slices"

	"dmebench/dme"
)

// SmallestModulus is the smallest M that tells all numbers apart which can be
// compared.
var SmallestModulus = dme.Quantity{ID: "smallest-modulus", Name: "smallest modulus"}

func boundedClaims() []dme.Claim {
	const source = "TR-869, section 6.4"
	always := dme.SafeAndLive("TR-869, sections 3 and 6.4: numbers modulo M ≥ 2N−1")
	return slices.Concat(always, dme.HandOver(1, dme.Mean, "TR-869, section 5.4, case A"), []dme.Claim{
		dme.CostPerPeer(2, dme.AnyLoad, dme.Exact, "TR-869, section 4"),
		{
			// In bytes on the wire, where a message has a head of two and a
			// number takes one for each seven bits.
			Quantity: dme.MessageLength, Formula: "log2(2N−1) bits for a number",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: source,
			Predict: func(s dme.Setting) (float64, bool) {
				largest := modulusOf(s.Nodes, s.Options) - 1
				return float64(2 + (bits.Len64(largest)+6)/7), s.Nodes >= 2
			},
		},
		{
			// It follows from the range of numbers, on links without order.
			Quantity: dme.Bypass, Formula: "N(N+1)/2 − 1",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: "TR-869, appendix",
			Predict: dme.PerN(func(n float64) float64 { return n*(n+1)/2 - 1 }),
		},
		{
			Quantity: dme.BypassByOne, Formula: "N",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: "TR-869, appendix",
			Predict: dme.PerN(func(n float64) float64 { return n }),
		},
		{
			Quantity: dme.Bypass, Formula: "2(N−1) (links that keep order)",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: "TR-869, appendix",
			FIFO: true, Predict: dme.PerPeer(2),
		},
		{
			Quantity: dme.BypassByOne, Formula: "2 (links that keep order)",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: "TR-869, appendix",
			FIFO: true, Predict: dme.AtLeastTwo(2),
		},
		{
			Quantity: SmallestModulus, Formula: "2N−1",
			Load: dme.Static, Kind: dme.Exact, Source: source,
			Predict: dme.PerN(func(n float64) float64 { return 2*n - 1 }), Measure: smallestAccepted,
		},
		{
			Name:     "twice-the-nodes",
			Quantity: SmallestModulus, Formula: "2N: at least twice as large as the number of nodes",
			Load: dme.Static, Kind: dme.Exact, Source: "TR-869, section 8",
			Predict:    dme.PerN(func(n float64) float64 { return 2 * n }),
			Measure:    smallestAccepted,
			KnownFalse: "2N−1 is enough, as section 6.4 says itself",
		},
	})
}

// smallestAccepted finds the smallest modulus with which any two numbers that
// can be compared are ordered rightly: those that are at most N−1 apart, which
// is how far apart the numbers of pending requests are.
func smallestAccepted(s dme.Setting) (float64, bool) {
	n := uint64(s.Nodes)
	for m := n; m <= 4*n; m++ {
		if tellsApart(residues{nodes: s.Nodes, modulus: m}) {
			return float64(m), true
		}
	}
	return 0, false
}

func tellsApart(s residues) bool {
	n := uint64(s.nodes)
	for low := range s.modulus {
		for d := uint64(1); d < n; d++ {
			if high := (low + d) % s.modulus; !s.less(low, high) || s.less(high, low) {
				return false
			}
		}
	}
	return true
}
