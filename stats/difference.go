package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// Difference is what two samples of one quantity say of each other.
type Difference struct {
	A, B Estimate

	// P is the probability of samples at least as different as these, if both come from one
	// distribution: that of the two-sided Mann-Whitney U test, which is exact for small samples.
	// NaN if a sample is empty.
	P float64

	Significant bool    // P ≤ alpha
	Change      float64 // of the medians, (B − A)/A; NaN if A's is 0 or one is missing
	Warnings    []string
}

// Compare tests whether a and b, one value for each repetition, come from the same distribution;
// alpha is the probability of an alarm if they do. Values that are not finite are left out, with a
// warning.
func Compare(a, b []float64, alpha float64) Difference {
	d := Difference{A: Median(a), B: Median(b), P: math.NaN(), Change: math.NaN()}
	for _, w := range append(slices.Clone(d.A.Warnings), d.B.Warnings...) {
		d.warn(w)
	}
	if d.A.N == 0 || d.B.N == 0 {
		return d
	}
	if d.A.Median != 0 || d.B.Median == 0 {
		d.Change = 0
		if d.A.Median != d.B.Median {
			d.Change = (d.B.Median - d.A.Median) / math.Abs(d.A.Median)
		}
	}
	if d.A.Min == d.B.Max && d.A.Max == d.B.Min { // all are equal, which the test refuses
		d.P = 1
		return d
	}
	if p, ok := d.apart(); ok && p <= alpha {
		d.P, d.Significant = p, true
		return d
	}
	thresholds := &benchmath.Thresholds{CompareAlpha: alpha}
	c := benchmath.AssumeNothing.Compare(sample(a, thresholds), sample(b, thresholds))
	// The library doubles one tail. With ties and sizes that differ the tails do
	// too, and the other order of the samples doubles the other one.
	d.P = c.P
	if d.A.N != d.B.N {
		reversed := benchmath.AssumeNothing.Compare(sample(b, thresholds), sample(a, thresholds))
		d.P = (c.P + reversed.P) / 2
	}
	d.P = math.Min(1, d.P)
	d.Significant = d.P <= alpha
	for _, w := range c.Warnings {
		d.warn(w.Error())
	}
	return d
}

// exactTies is up to which size of both samples the library's test is exact if values are equal.
const exactTies = 25

// apart returns the exact p-value of samples of one size that do not overlap, which
// is known without the library's long way to it. Of sizes that differ, equal values
// may lie across the place that parts them the other way round.
func (d *Difference) apart() (p float64, ok bool) {
	if overlap := d.A.Max >= d.B.Min && d.B.Max >= d.A.Min; overlap || d.A.N != d.B.N || d.A.N > exactTies {
		return 0, false
	}
	return LeastP(d.A.N, d.B.N), true
}

// warn notes a warning once.
func (d *Difference) warn(text string) {
	if !slices.Contains(d.Warnings, text) {
		d.Warnings = append(d.Warnings, text)
	}
}

// GeometricMean returns the geometric mean of positive values; it fails where a
// value is not, or there is none.
func GeometricMean(values []float64) (float64, error) {
	if len(values) == 0 {
		return 0, fmt.Errorf("stats: no values have no geometric mean")
	}
	sum := 0.0
	for _, x := range values {
		if !(x > 0) || math.IsInf(x, 0) {
			return 0, fmt.Errorf("stats: %v has no part in a geometric mean: it is not a positive number", x)
		}
		sum += math.Log(x / values[0]) // so that equal values have exactly their mean
	}
	return values[0] * math.Exp(sum/float64(len(values))), nil
}

// sample returns the finite values for benchmath, which sorts them in place.
func sample(values []float64, t *benchmath.Thresholds) *benchmath.Sample {
	return benchmath.NewSample(slices.DeleteFunc(slices.Clone(values), func(x float64) bool { return !Finite(x) }), t)
}

// MannWhitney returns the p-value of [Difference]: of the two-sided test that a and b come from one
// distribution; NaN if one of them is empty.
func MannWhitney(a, b []float64) float64 { return Compare(a, b, Alpha).P }

// Alpha is the probability of naming a difference if there is none, unless another one is asked
// for.
const Alpha = 0.05

// LeastP is the smallest p-value that the Mann-Whitney test of samples of n and m values can have:
// that of samples which do not overlap. It is 1 if one is empty.
func LeastP(n, m int) float64 {
	choices := 1.0 // (n+m)! / (n!·m!), the ways to deal the values to both samples
	for i := 1; i <= n; i++ {
		choices = choices * float64(m+i) / float64(i) // a whole number each time
	}
	return math.Min(1, 2/choices)
}

// EnoughFor is the number of repetitions with which one of that many comparisons of
// equal samples can be significant after Holm's correction.
func EnoughFor(comparisons int, alpha float64) int {
	n := 2
	for LeastP(n, n)*float64(comparisons) > alpha && n < 1000 {
		n++
	}
	return n
}

// Holm corrects the p-values of several comparisons so that the probability of naming any
// difference if there is none is at most alpha, if a difference is named if the corrected value is
// at most alpha (Holm, A simple sequentially rejective multiple test procedure, 1979). It assumes
// nothing about how the comparisons depend on each other. NaN is no comparison, and stays.
func Holm(p []float64) []float64 {
	corrected, least := slices.Clone(p), 0.0
	order := ascending(p)
	for rank, i := range order {
		least = math.Max(least, math.Min(1, p[i]*float64(len(order)-rank)))
		corrected[i] = least
	}
	return corrected
}

// FalseDiscovery corrects the p-values of several comparisons so that of all differences that are
// named, those whose corrected value is at most alpha, at most that part is expected to be none;
// if nothing differs, the probability of naming any is at most alpha (Benjamini and Hochberg,
// Controlling the false discovery rate, 1995). The comparisons must be independent, or depend on
// each other as figures of the same runs do: positively. NaN is no comparison, and stays.
func FalseDiscovery(p []float64) []float64 {
	corrected, most := slices.Clone(p), 1.0
	order := ascending(p)
	for rank, i := range slices.Backward(order) {
		most = math.Min(most, p[i]*float64(len(order))/float64(rank+1))
		corrected[i] = most
	}
	return corrected
}

// ascending returns the indices of the p-values, without NaN, the smallest first.
func ascending(p []float64) (order []int) {
	for i, x := range p {
		if !math.IsNaN(x) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	return order
}
