package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func TestQuantiles(t *testing.T) {
	if quantiles(nil) != nil {
		t.Error("quantiles of nothing")
	}
	upTo := func(n int64) []int64 {
		x := make([]int64, n)
		for i := range x {
			x[i] = n - int64(i)
		}
		return x
	}
	for _, n := range []int64{1, 2, 9, 10, 11, 999, 1000, 1001} {
		q := quantiles(upTo(n))
		rank := func(p float64) int64 { return int64(math.Ceil(p*float64(n) - 1e-9)) }
		if q.P50 != rank(.5) || q.P90 != rank(.9) || q.P99 != rank(.99) || q.P999 != rank(.999) || q.Max != n ||
			q.Count != uint64(n) || q.Mean != float64(n+1)/2 {
			t.Errorf("of 1 to %d: %+v", n, q)
		}
	}
	if q := quantiles([]int64{5, -3}); q.P50 != -3 || q.Mean != 1 || q.Max != 5 {
		t.Errorf("negative times are times: %+v", q)
	}
	if got := mean([]int64{math.MaxInt64, math.MaxInt64}); got != math.MaxInt64 {
		t.Errorf("mean of the largest times: %v", got)
	}
}

func TestHistogram(t *testing.T) {
	if histogram(nil) != "" || histogram([]int64{-2, -1}) != "" {
		t.Error("a histogram of nothing")
	}
	rng := rand.New(rand.NewPCG(31, 32))
	for _, largest := range []int64{1, 1000, int64(time.Second), int64(time.Hour), 50 * int64(time.Hour), math.MaxInt64} {
		x := []int64{-7, largest}
		for range 1000 {
			x = append(x, rng.Int64N(largest))
		}
		slices.Sort(x)
		h, err := hdrhistogram.Decode([]byte(histogram(x)))
		if err != nil {
			t.Fatalf("up to %d: %v", largest, err)
		}
		if h.TotalCount() != 1001 {
			t.Errorf("up to %d: %d times, want 1001", largest, h.TotalCount())
		}
		want := float64(x[1:][500])
		if largest == math.MaxInt64 {
			want = min(want, math.MaxInt64/2)
		}
		if got := float64(h.ValueAtQuantile(50)); math.Abs(got-want) > 0.001*want+1 {
			t.Errorf("up to %d: median %v, want %v to three digits", largest, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if number(x) != nil {
			t.Errorf("%v passes for a number", x)
		}
	}
	if ratio(1, 0) != nil || ratio(math.MaxFloat64, 1e-300) != nil || *ratio(1, 4) != 0.25 {
		t.Error("ratio")
	}
}
