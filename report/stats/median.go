// Package stats summarizes what several repetitions of a run measured.
//
// A repetition is the sample: a percentile is taken in each repetition and the
// median of these is reported, percentiles are never averaged. Intervals are
// those of the median by order statistics, which assume nothing about how
// measurements are distributed. What limits a summary travels with it as data.
// Distributions are merged histograms, never averaged ones.
//
// Two samples are compared by the Mann-Whitney U test, which assumes as little.
// How a quantity grows with the number of nodes is fitted by least squares
// ([FitGrowth], [Rank], [FreeExponent]); what that assumes stands at [Fit].
package stats

import (
	"math"

	"golang.org/x/perf/benchmath"
)

// Confidence is the level of the intervals. By the discreteness of order
// statistics the true level is somewhat higher.
const Confidence = 0.95

// Estimate is the median of a quantity over repetitions.
type Estimate struct {
	N        int     // repetitions that have a value; 0 means that there is no estimate
	Median   float64 // NaN where N is 0
	Lo, Hi   float64 // 95% confidence interval of the median; NaN where N is too small for one
	Min, Max float64 // range of the values; NaN where N is 0
	Warnings []string
}

// Median summarizes one value per repetition. Values that are not finite are
// left out, with a warning.
func Median(values []float64) Estimate {
	sample := sample(values, &benchmath.DefaultThresholds)
	nan := math.NaN()
	e := Estimate{N: len(sample.Values), Median: nan, Lo: nan, Hi: nan, Min: nan, Max: nan}
	if e.N < len(values) {
		e.Warnings = append(e.Warnings, "values that are not finite were left out")
	}
	if e.N == 0 {
		return e
	}
	s := benchmath.AssumeNothing.Summary(sample, Confidence)
	e.Median, e.Min, e.Max = s.Center, sample.Values[0], sample.Values[e.N-1]
	if !math.IsInf(s.Lo, 0) && !math.IsInf(s.Hi, 0) {
		e.Lo, e.Hi = s.Lo, s.Hi
	}
	for _, w := range append(sample.Warnings, s.Warnings...) {
		e.Warnings = append(e.Warnings, w.Error())
	}
	return e
}

// Bounded reports whether there were enough repetitions for an interval.
func (e Estimate) Bounded() bool { return !math.IsNaN(e.Lo) }
