package claims

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence is that of the interval of one mean.
const Confidence = 0.999

// FamilyError is the probability, at most, that a validation calls any mean wrong
// that is right. With a thousand means, of which each has an interval of 99.9%, one is
// outside by chance: a mean is refuted only where it is outside an interval so wide
// that all true ones are inside theirs, but for this probability (Bonferroni).
const FamilyError = 0.01

// estimate is a mean over repetitions, with half the width of Student's interval.
type estimate struct {
	mean   float64
	half   float64 // at Confidence
	family float64 // at that with which a family of so many means errs in FamilyError of all cases
	known  bool    // false with fewer than two values, which have no interval
}

// estimateOf estimates the mean of x, one of so many that are compared; of a family of
// none or of few the interval is as wide as that of one mean.
func estimateOf(x []float64, compared int) (e estimate) {
	n := float64(len(x))
	if n == 0 {
		return estimate{mean: math.NaN()}
	}
	for _, v := range x {
		e.mean += v / n
	}
	if n < 2 {
		return e
	}
	e.known = true
	deviation := math.Sqrt(stat.MomentAbout(2, x, e.mean, nil) * n / (n - 1))
	if deviation <= rounding*math.Abs(e.mean) {
		return e
	}
	scale := deviation / math.Sqrt(n)
	e.half = scale * quantile(n-1, 1-Confidence)
	e.family = scale * quantile(n-1, min(1-Confidence, FamilyError/float64(compared)))
	return e
}

// rounding is the relative error of a mean that arithmetic makes.
const rounding = 1e-12

// quantile is Student's: a variable with so many degrees of freedom is further from 0
// with the probability outside.
func quantile(freedom, outside float64) float64 {
	return -distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile(outside / 2)
}

// interval returns the mean of x and its Student's t interval; ok is false with
// fewer than two values, which have no interval.
func interval(x []float64) (mean, lo, hi float64, ok bool) {
	e := estimateOf(x, 1)
	return e.mean, e.mean - e.half, e.mean + e.half, e.known
}
