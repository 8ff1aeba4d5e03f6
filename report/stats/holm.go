package stats

import (
	"cmp"
	"math"
	"slices"
)

// MannWhitney returns the p-value of [Difference]: of the two-sided test that a and
// b come from one distribution; NaN where one of them is empty.
func MannWhitney(a, b []float64) float64 { return Compare(a, b, Alpha).P }

// Alpha is the probability of naming a difference where there is none, unless
// another one is asked for.
const Alpha = 0.05

// LeastP is the smallest p-value that the Mann-Whitney test of samples of n and m
// values can have: that of samples which do not overlap. It is 1 where one is empty.
func LeastP(n, m int) float64 {
	choices := 1.0 // (n+m)! / (n!·m!), the ways to deal the values to both samples
	for i := 1; i <= n; i++ {
		choices = choices * float64(m+i) / float64(i) // a whole number each time
	}
	return math.Min(1, 2/choices)
}

// EnoughFor is the number of repetitions with which one of so many comparisons of
// equal samples can be significant after Holm's correction.
func EnoughFor(comparisons int, alpha float64) int {
	n := 2
	for LeastP(n, n)*float64(comparisons) > alpha && n < 1000 {
		n++
	}
	return n
}

// Holm corrects the p-values of several comparisons so that the probability of
// naming any difference where there is none is at most alpha, if a difference is
// named where the corrected value is at most alpha (Holm, A simple sequentially
// rejective multiple test procedure, 1979). It assumes nothing about how the
// comparisons depend on each other. NaN is no comparison, and stays.
func Holm(p []float64) []float64 {
	var order []int
	for i, x := range p {
		if !math.IsNaN(x) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	corrected, least := slices.Clone(p), 0.0
	for rank, i := range order {
		least = math.Max(least, math.Min(1, p[i]*float64(len(order)-rank)))
		corrected[i] = least
	}
	return corrected
}
