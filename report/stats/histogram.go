package stats

import (
	"fmt"
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Merge adds up histograms in HdrHistogram's compressed base64 form. Empty
// strings are left out; the result is nil where nothing is left.
func Merge(encoded []string) (*hdrhistogram.Histogram, error) {
	var all []*hdrhistogram.Histogram
	var highest, digits int64
	for i, e := range encoded {
		if e == "" {
			continue
		}
		h, err := hdrhistogram.Decode([]byte(e))
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
	sum := hdrhistogram.New(1, highest, int(digits))
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

// stepsPerDecade is how finely a percentile curve is drawn.
const stepsPerDecade = 24

// Percentiles returns the percentile curve of h from 0% to the largest rank
// that its number of values can tell: with n values, nothing is known beyond
// the percentile 1−1/n. It is empty where h is nil.
func Percentiles(h *hdrhistogram.Histogram) []Percentile {
	if h == nil || h.TotalCount() == 0 {
		return nil
	}
	last := float64(h.TotalCount())
	var ranks []Percentile
	at := func(inverse float64) {
		p := 1 - 1/inverse
		ranks = append(ranks, Percentile{inverse, float64(h.ValueAtQuantile(p * 100))})
	}
	for k := 0; ; k++ {
		inverse := math.Pow(10, float64(k)/stepsPerDecade)
		if inverse >= last {
			break
		}
		at(inverse)
	}
	at(last)
	// The quantile 1−1/n is the last value but one for rounding's sake; the
	// curve ends at the largest value there is.
	ranks[len(ranks)-1].Value = float64(h.Max())
	return ranks
}

// Share is a point of a cumulative distribution.
type Share struct {
	Value float64
	Share float64 // of the values that are at most so large, from 0 to 1
}

// Cumulative returns the cumulative distribution of h, from its least value to the
// share that its number of values can tell, but no further than 99.9%: one value out
// of thousands would stretch the axis for all. It is empty where h is nil.
func Cumulative(h *hdrhistogram.Histogram) []Share {
	if h == nil || h.TotalCount() == 0 {
		return nil
	}
	const highest = 0.999
	last := min(highest, 1-1/float64(h.TotalCount()))
	all := []Share{{float64(h.Min()), 0}}
	at := func(p float64) { all = append(all, Share{float64(h.ValueAtQuantile(p * 100)), p}) }
	for percent := 1; float64(percent)/100 < last; percent++ {
		at(float64(percent) / 100)
	}
	at(last)
	return all
}
