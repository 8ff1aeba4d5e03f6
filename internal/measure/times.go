package measure

import (
	"math"
	"slices"
	"time"

	"dmebench/result"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// quantiles summarizes times in nanoseconds; nil where there are none. The
// times are all at hand, so that the quantiles are exact: the q-quantile is the
// smallest time that at least the part q of all do not exceed (nearest rank).
// It sorts x.
func quantiles(x []int64) *result.Quantiles {
	if len(x) == 0 {
		return nil
	}
	slices.Sort(x)
	rank := func(perMille int) int64 {
		return x[(len(x)*perMille+999)/1000-1]
	}
	return &result.Quantiles{
		Count: uint64(len(x)), Mean: mean(x), Max: x[len(x)-1],
		P50: rank(500), P90: rank(900), P99: rank(990), P999: rank(999),
	}
}

// mean returns the mean of x, NaN where it is empty. It adds as floats: a sum of
// nanoseconds over millions of entries may pass the range of an int64.
func mean(x []int64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v)
	}
	return sum / float64(len(x))
}

// Range and precision of the histograms in a result.
const (
	histogramDigits = 3
	histogramHigh   = int64(time.Hour)
)

// histogram returns the distribution of sorted times in HdrHistogram's
// compressed form (V2, base64), from 1 ns to an hour or, where that is not
// enough, to the largest time. Negative times have no place in it and are left
// out. Empty where there is nothing to show.
func histogram(sorted []int64) string {
	first, _ := slices.BinarySearch(sorted, 0)
	sorted = sorted[first:]
	if len(sorted) == 0 {
		return ""
	}
	// Bucket limits are reckoned in int64: the last factor of two stays free.
	high := min(max(histogramHigh, sorted[len(sorted)-1]), math.MaxInt64/2)
	h := hdrhistogram.New(1, high, histogramDigits)
	for _, v := range sorted {
		if err := h.RecordValue(min(v, high)); err != nil {
			return ""
		}
	}
	text, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return ""
	}
	return string(text)
}

// number returns a pointer to x, or nil where x is no number that JSON can
// hold.
func number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// ratio returns a/b, or nil where that is no number, as where b is 0.
func ratio(a, b float64) *float64 { return number(a / b) }
