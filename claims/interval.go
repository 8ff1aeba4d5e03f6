package claims

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence is that of the interval of one mean. It is so high because there
// are many: of a thousand true claims one would be missed by chance, and the
// tolerance makes it fewer.
const Confidence = 0.999

// interval returns the mean of x and its Student's t interval; ok is false with
// fewer than two values, which have no interval.
func interval(x []float64) (mean, lo, hi float64, ok bool) {
	n := float64(len(x))
	if n == 0 {
		return math.NaN(), math.NaN(), math.NaN(), false
	}
	for _, v := range x {
		mean += v / n
	}
	if n < 2 {
		return mean, mean, mean, false
	}
	deviation := math.Sqrt(stat.MomentAbout(2, x, mean, nil) * n / (n - 1))
	if deviation <= 1e-12*math.Abs(mean) { // rounding
		return mean, mean, mean, true
	}
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile((1+Confidence)/2) * deviation / math.Sqrt(n)
	return mean, mean - half, mean + half, true
}
