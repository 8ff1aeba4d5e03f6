package measure

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dmebench/internal/record"
	"dmebench/stats"
)

// mserTwin evaluates the definition for every cut.
func mserTwin(z []float64) (best, half int) {
	m := len(z)
	low, lowHalf := math.Inf(1), math.Inf(1)
	for d := 0; m-d >= 6 && m-d >= m/4; d++ {
		mean, sum := 0.0, 0.0
		for _, x := range z[d:] {
			mean += x / float64(m-d)
		}
		for _, x := range z[d:] {
			sum += (x - mean) * (x - mean)
		}
		s := sum / float64((m-d)*(m-d))
		if s < low {
			best, low = d, s
		}
		if d <= m/2 && s < lowHalf {
			half, lowHalf = d, s
		}
	}
	return best, half
}

func TestMSER5(t *testing.T) {
	batches := func(means ...int64) (values []int64) {
		for _, m := range means {
			values = append(values, m, m, m, m, m)
		}
		return values
	}
	step := func(low, high int) []int64 {
		return slices.Concat(make([]int64, low), slices.Repeat([]int64{1000}, high))
	}
	series := func(n int, f func(i int) int64) []int64 {
		x := make([]int64, n)
		for i := range x {
			x[i] = f(i)
		}
		return x
	}
	for _, x := range []struct {
		name      string
		values    []int64
		cut       int
		converged bool
	}{
		{"nothing", nil, 0, true},
		{"too short to tell", series(59, func(i int) int64 { return int64(i) }), 0, true},
		{"constant", series(600, func(int) int64 { return 1e15 + 7 }), 0, true},
		{"a transient of 23", step(23, 577), 25, true},
		{"it never settles", series(600, func(i int) int64 { return int64(i) }), 300, false},
		{"it settles in the second half", series(600, func(i int) int64 { return max(0, 400-int64(i)) }), 300, false},
		{"it settles within the first half", series(600, func(i int) int64 { return max(0, 200-int64(i)) }), 200, true},
		{"twelve batches, one of a transient", step(5, 55), 5, true},
		{"eleven", step(5, 54), 0, true},
		{"a transient of less than half", step(250, 350), 250, true},
		{"of half", step(300, 300), 300, true},
		// Of 14 batches the last six agree. Eight before them that are all higher have a
		// p-value of 2/3003; where one of these is lower, it is some hundredths.
		{"all batches before are higher", batches(200, 290, 210, 280, 220, 270, 230, 260, 50, 51, 52, 53, 54, 55), 0, false},
		{"all but one", batches(200, 290, 210, 0, 220, 270, 230, 260, 50, 51, 52, 53, 54, 55), 0, true},
	} {
		if cut, converged := MSER5(x.values); cut != x.cut || converged != x.converged {
			t.Errorf("%s: cut %d, converged %v; want %d, %v", x.name, cut, converged, x.cut, x.converged)
		}
	}
}

func TestMSER5IsItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	cuts := 0
	for range 300 {
		means := make([]float64, 12+rng.IntN(80))
		transient, height := rng.Float64()*80, rng.Float64()*5e6
		for i := range means {
			means[i] = 1e6 + rng.NormFloat64()*5e4 + height*math.Exp(-float64(i)/(transient+1))
		}
		best, half := leastError(means)
		if wantBest, wantHalf := mserTwin(means); best != wantBest || half != wantHalf {
			t.Fatalf("%d, and %d of one half; want %d and %d", best, half, wantBest, wantHalf)
		}
		if half > len(means)/2 {
			t.Fatalf("%d of %d are left out", half, len(means))
		}
		if half > 0 {
			cuts++
		}
	}
	if cuts < 100 {
		t.Errorf("only %d of 300 series were cut", cuts)
	}
}

// Delays on a shared machine: most alike, some many times as long, wherever they fall.
// Only a trend is a reason to warn.
func TestOutliersAreNoTrend(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	const series = 500
	for _, x := range []struct {
		name        string
		drift       float64 // over the whole series, in units of the noise
		least, most int     // that have not settled
	}{
		{"no trend", 0, 0, series / 50},
		{"a trend", 40, series * 7 / 10, series},
	} {
		unsettled := 0
		for range series {
			values := make([]int64, 100+rng.IntN(500))
			for i := range values {
				v := 1e5 + 1e4*(rng.NormFloat64()-x.drift*float64(i)/float64(len(values)))
				if rng.IntN(100) == 0 {
					v += 1e6 * rng.ExpFloat64()
				}
				values[i] = int64(v)
			}
			if _, converged := MSER5(values); !converged {
				unsettled++
			}
		}
		if unsettled < x.least || unsettled > x.most {
			t.Errorf("%s: %d of %d series are said not to have settled", x.name, unsettled, series)
		}
	}
}

func TestSeries(t *testing.T) {
	const ms = 1_000_000
	entry := func(intended, entered, exited int64) record.Entry {
		at := func(t int64) int64 { return 1000 + t*ms }
		return record.Entry{Node: 1, Intended: at(intended), Requested: at(intended), Entered: at(entered), Exited: at(exited)}
	}
	entries := []record.Entry{
		entry(0, 0, 1),
		entry(2, 12, 14),     // waits 10 ms
		entry(3, 14, 15),     // waits 11 ms
		entry(15, 999, 1000), // waits through the whole rest
	}
	s := newTimeline(entries, nil, false).series(1000)
	if s.IntervalNS != 5*ms || len(s.Entries) != 200 {
		t.Fatalf("%d intervals of %d ns", len(s.Entries), s.IntervalNS)
	}
	if got, want := s.Entries[:4], []uint64{1, 0, 1, 1}; !reflect.DeepEqual(got, want) || s.Entries[199] != 1 {
		t.Errorf("entries %v … %d", got, s.Entries[199])
	}
	if got, want := s.Waiting[:5], []int64{2, 2, 0, 1, 1}; !reflect.DeepEqual(got, want) {
		t.Errorf("waiting %v; want %v", got, want)
	}
	if s.Waiting[198] != 1 || s.Waiting[199] != 0 {
		t.Errorf("waiting at the end %v", s.Waiting[198:])
	}
	if p := s.P50NS[2]; p == nil || *p != 10*ms || *s.P99NS[2] != 11*ms || s.P50NS[1] != nil {
		t.Errorf("waiting times of the third interval: %v, %v; of the second %v", p, s.P99NS[2], s.P50NS[1])
	}
	if s := newTimeline(nil, nil, false).series(0); s != nil {
		t.Errorf("a run without entries has a course: %+v", s)
	}
	// Times may be equal, or far apart.
	for _, length := range []int64{1, 199, 200, 201, 1 << 62} {
		if d := interval(length); (length+d-1)/d > mostIntervals || d > 1 && length/(d/2) < mostIntervals/5 {
			t.Errorf("a run of %d ns in intervals of %d", length, d)
		}
	}
}

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

// A histogram is to the byte the one that the library makes of the same times.
func TestHistogram(t *testing.T) {
	if histogram(nil) != "" || histogram([]int64{-2, -1}) != "" {
		t.Error("a histogram of nothing")
	}
	rng := rand.New(rand.NewPCG(31, 32))
	for _, largest := range []int64{1, 1000, int64(time.Second), int64(time.Hour), 50 * int64(time.Hour), math.MaxInt64} {
		for _, many := range []int{0, 1, 30, 1000, 100_000} {
			x := []int64{-7, largest}
			for range many {
				x = append(x, rng.Int64N(1+rng.Int64N(largest)))
			}
			slices.Sort(x)
			high := min(max(histogramHigh, largest), math.MaxInt64/2)
			h := hdrhistogram.New(1, high, histogramDigits)
			for _, ns := range x[1:] {
				if err := h.RecordValue(min(ns, high)); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase); err != nil || histogram(x) != string(want) {
				t.Errorf("%d times up to %d: %q, want %q: %v", many, largest, histogram(x), want, err)
			}
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if stats.Known(x) != nil {
			t.Errorf("%v passes for a number", x)
		}
	}
	if ratio(1, 0) != nil || ratio(math.MaxFloat64, 1e-300) != nil || *ratio(1, 4) != 0.25 {
		t.Error("ratio")
	}
}
