package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dmebench/stats"
)

func TestMedianOfKnownSamples(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name           string
		values         []float64
		n              int
		median, lo, hi float64 // lo NaN: no interval
		warnings       int
	}{
		// With six values the interval is the whole range: its level is
		// 1 − 2·2⁻⁶ = 0.969. With five no interval reaches 0.95.
		{"six", []float64{6, -10, 2, 5, 3, 4}, 6, 3.5, -10, 6, 0},
		{"five", []float64{1, 2, 3, 4, 5}, 5, 3, math.NaN(), math.NaN(), 1},
		{"one", []float64{7}, 1, 7, math.NaN(), math.NaN(), 1},
		{"all equal", []float64{14, 14, 14, 14, 14, 14}, 6, 14, 14, 14, 0},
		// With ten, ranks 2 to 9: 1 − 2·(1+10)/2¹⁰ = 0.979.
		{"ten", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 10, 5.5, 2, 9, 0},
		{"not finite", []float64{1, inf, 2, math.NaN(), 3, 4, 5, 6}, 6, 3.5, 1, 6, 1},
		{"none", nil, 0, math.NaN(), math.NaN(), math.NaN(), 0},
	} {
		e := stats.Median(c.values)
		if e.N != c.n || !same(e.Median, c.median) || !same(e.Lo, c.lo) || !same(e.Hi, c.hi) || len(e.Warnings) != c.warnings {
			t.Errorf("%s: %+v, want n=%d median %v [%v, %v] and %d warnings", c.name, e, c.n, c.median, c.lo, c.hi, c.warnings)
		}
		if e.Bounded() == math.IsNaN(c.lo) {
			t.Errorf("%s: Bounded() = %v", c.name, e.Bounded())
		}
	}
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

func encoded(t *testing.T, h *hdrhistogram.PackedHistogram) string {
	t.Helper()
	b, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Merged percentiles are those of all values together: a dumb twin sorts them.
func TestMergeIsTheHistogramOfAllValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var all []float64
	var parts []string
	for i, geometry := range []struct {
		highest int64
		digits  int
	}{{60e9, 2}, {60e9, 3}, {1e9, 2}} {
		h := hdrhistogram.NewPacked(1, geometry.highest, geometry.digits)
		for range 3000 {
			x := int64(rng.ExpFloat64()*1e6) + 1000*int64(i) + 1
			if err := h.RecordValue(x); err != nil {
				t.Fatal(err)
			}
			all = append(all, float64(x))
		}
		parts = append(parts, encoded(t, h), "")
	}
	h, err := stats.Merge(parts)
	if err != nil {
		t.Fatal(err)
	}
	if h.TotalCount() != int64(len(all)) {
		t.Fatalf("merged %d of %d values", h.TotalCount(), len(all))
	}
	slices.Sort(all)
	ranks := stats.Percentiles(h, 24)
	for i, r := range ranks {
		p := 1 - 1/r.Inverse
		want := all[min(len(all)-1, max(0, int(math.Round(p*float64(len(all))))-1))]
		if i == len(ranks)-1 {
			want = all[len(all)-1] // the curve ends at the maximum
		}
		if math.Abs(r.Value-want) > 0.025*want+1 {
			t.Errorf("at %.3f%%: %v, want %v within 2.5%%", 100*p, r.Value, want)
		}
		if i > 0 && (r.Value < ranks[i-1].Value || r.Inverse <= ranks[i-1].Inverse) {
			t.Errorf("the curve turns back at %v", r)
		}
	}
	if last := ranks[len(ranks)-1]; last.Inverse != float64(len(all)) {
		t.Errorf("the curve ends at 1/(1−p) = %v, with %d values", last.Inverse, len(all))
	}
}

func TestMergeOfNothingAndOfRubbish(t *testing.T) {
	empty := encoded(t, hdrhistogram.NewPacked(1, 1e6, 2))
	for _, nothing := range [][]string{nil, {""}, {empty, ""}} {
		h, err := stats.Merge(nothing)
		if h != nil || err != nil {
			t.Errorf("Merge(%q) = %v, %v", nothing, h, err)
		}
	}
	if stats.Percentiles(nil, 24) != nil {
		t.Error("a curve of no histogram")
	}
	for _, bad := range []string{"rubbish", "HISTFAAA", empty[:len(empty)/2]} {
		if _, err := stats.Merge([]string{bad}); err == nil {
			t.Errorf("Merge(%q) succeeded", bad)
		}
	}
}

func recorded(t *testing.T, n int64) *hdrhistogram.PackedHistogram {
	t.Helper()
	h := hdrhistogram.NewPacked(1, 1<<40, 3)
	for v := int64(1); v <= n; v++ {
		if err := h.RecordValue(v); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// A cumulative distribution begins at the least value with nothing, has a point for each
// percent, and ends where its values can tell no more, at 99.9% at the latest.
func TestCumulative(t *testing.T) {
	if c := stats.Cumulative(nil); c != nil {
		t.Errorf("of no histogram: %v", c)
	}
	if c := stats.Cumulative(hdrhistogram.NewPacked(1, 1000, 3)); c != nil {
		t.Errorf("of nothing: %v", c)
	}
	for n, want := range map[int64]struct {
		points int
		last   float64
	}{1: {2, 0}, 2: {51, 0.5}, 10: {91, 0.9}, 100: {100, 0.99}, 1000: {101, 0.999}, 5000: {101, 0.999}} {
		c := stats.Cumulative(recorded(t, n))
		if len(c) != want.points || c[0] != (stats.Share{Value: 1, Share: 0}) || !near(c[len(c)-1].Share, want.last, 12) {
			t.Errorf("of %d values: %d points, first %+v, last %+v; want %d, to %v", n, len(c), c[0], c[len(c)-1], want.points, want.last)
			continue
		}
		for k, x := range c[1 : len(c)-1] {
			if !near(x.Share, float64(k+1)/100, 12) || math.Abs(x.Value-x.Share*float64(n)) > 1+0.001*float64(n) {
				t.Errorf("of %d values: point %d is %+v", n, k+1, x)
			}
		}
	}
}
