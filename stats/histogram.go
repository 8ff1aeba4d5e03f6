// Package stats summarizes what several repetitions of a run measured.
//
// A repetition is the sample: a percentile is taken in each repetition and the
// median of these is reported, percentiles are never averaged. Intervals are
// those of the median by order statistics, which assume nothing about how
// measurements are distributed. The limits of a summary are part of its data.
// Distributions are merged histograms, never averaged ones.
//
// Two samples are compared by the Mann-Whitney U test, which assumes as little.
// How a quantity grows with the number of nodes is fitted by least squares
// ([FitGrowth], [Rank], [FreeExponent]); what that assumes stands at [Fit].
package stats

import (
	"fmt"
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/perf/benchmath"
)

// Merge adds up histograms in HdrHistogram's compressed base64 form. Empty strings are left out;
// the result is nil if nothing is left.
func Merge(encoded []string) (*hdrhistogram.PackedHistogram, error) {
	var all []*hdrhistogram.PackedHistogram
	var highest, digits int64
	for i, e := range encoded {
		if e == "" {
			continue
		}
		h, err := hdrhistogram.DecodePacked([]byte(e))
		if err != nil {
			return nil, fmt.Errorf("stats: histogram %d of %d: %w; is the result file damaged?", i+1, len(encoded), err)
		}
		if h.TotalCount() == 0 {
			continue
		}
		all = append(all, h)
		highest = max(highest, h.HighestTrackableValue())
		digits = max(digits, h.SignificantFigures())
	}
	if len(all) == 0 {
		return nil, nil
	}
	sum := hdrhistogram.NewPacked(1, highest, int(digits))
	for _, h := range all {
		if dropped := sum.Merge(h); dropped > 0 {
			return nil, fmt.Errorf("stats: merging histograms dropped %d values beyond %d ns", dropped, highest)
		}
	}
	return sum, nil
}

// Percentile is a point of a percentile plot.
type Percentile struct {
	Inverse float64 // 1/(1−p): 1 is 0%, 10 is 90%, 100 is 99%
	Value   float64
}

// Percentiles returns the percentile curve of h with perDecade points for each decade of 1/(1−p),
// from 0% to the largest rank that its number of values supports: with n values, nothing is known
// beyond the percentile 1−1/n. It is empty if h is nil.
func Percentiles(h *hdrhistogram.PackedHistogram, perDecade float64) []Percentile {
	if h == nil || h.TotalCount() == 0 {
		return nil
	}
	last := float64(h.TotalCount())
	var ranks []Percentile
	var percents []float64
	for k := 0; ; k++ {
		inverse := min(math.Pow(10, float64(k)/perDecade), last)
		ranks, percents = append(ranks, Percentile{Inverse: inverse}), append(percents, (1-1/inverse)*100)
		if inverse == last {
			break
		}
	}
	for i, ns := range h.ValueAtPercentilesSlice(percents) {
		ranks[i].Value = float64(ns)
	}
	// The quantile 1−1/n is the last value but one for rounding's sake; the
	// curve ends at the largest value there is.
	ranks[len(ranks)-1].Value = float64(h.Max())
	return ranks
}

// Share is a point of a cumulative distribution.
type Share struct {
	Value float64
	Share float64 // of the values that are at most this large, from 0 to 1
}

// Cumulative returns the cumulative distribution of h, from its least value to the share that its
// number of values supports, but no further than 99.9%: one value out of thousands would stretch
// the axis for all. It is empty if h is nil.
func Cumulative(h *hdrhistogram.PackedHistogram) []Share {
	if h == nil || h.TotalCount() == 0 {
		return nil
	}
	const highest = 0.999
	last := min(highest, 1-1/float64(h.TotalCount()))
	all := []Share{{float64(h.Min()), 0}}
	at := func(p float64) { all = append(all, Share{float64(h.ValueAtPercentile(p * 100)), p}) }
	for percent := 1; float64(percent)/100 < last; percent++ {
		at(float64(percent) / 100)
	}
	at(last)
	return all
}

// Confidence is the level of the intervals. By the discreteness of order
// statistics the true level is somewhat higher.
const Confidence = 0.95

// Estimate is the median of a quantity over repetitions.
type Estimate struct {
	N        int     // repetitions that have a value; 0 means that there is no estimate
	Median   float64 // NaN if N is 0
	Lo, Hi   float64 // 95% confidence interval of the median; NaN if N is too small for one
	Min, Max float64 // range of the values; NaN if N is 0
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

// Known returns a pointer to x, or nil if x is no number that JSON can hold.
func Known(x float64) *float64 {
	if !Finite(x) {
		return nil
	}
	return &x
}
