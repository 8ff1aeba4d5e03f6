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

// The interval between the order statistics l and h covers the median with
// probability P(l ≤ Binomial(n, 1/2) < h), whatever the distribution.
func TestIntervalCoversAtItsLevel(t *testing.T) {
	for n := 6; n <= 40; n++ {
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(i + 1)
		}
		e := stats.Median(values)
		coverage, p := 0.0, math.Pow(0.5, float64(n))
		for k := 0; k < int(e.Hi); k++ {
			if k >= int(e.Lo) {
				coverage += p
			}
			p *= float64(n-k) / float64(k+1)
		}
		if coverage < stats.Confidence {
			t.Errorf("n=%d: [%v, %v] covers with %.4f", n, e.Lo, e.Hi, coverage)
		}
	}
}

func TestMedianLeavesItsInputAlone(t *testing.T) {
	values := []float64{3, 1, 2}
	stats.Median(values)
	if !slices.Equal(values, []float64{3, 1, 2}) {
		t.Errorf("the values became %v", values)
	}
}

func encoded(t *testing.T, h *hdrhistogram.Histogram) string {
	t.Helper()
	b, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
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
		h := hdrhistogram.New(1, geometry.highest, geometry.digits)
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
	ranks := stats.Percentiles(h)
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
	empty := encoded(t, hdrhistogram.New(1, 1e6, 2))
	for _, nothing := range [][]string{nil, {""}, {empty, ""}} {
		h, err := stats.Merge(nothing)
		if h != nil || err != nil {
			t.Errorf("Merge(%q) = %v, %v", nothing, h, err)
		}
	}
	if stats.Percentiles(nil) != nil {
		t.Error("a curve of no histogram")
	}
	for _, bad := range []string{"rubbish", "HISTFAAA", empty[:len(empty)/2]} {
		if _, err := stats.Merge([]string{bad}); err == nil {
			t.Errorf("Merge(%q) succeeded", bad)
		}
	}
}

func TestPercentilesOfOneValue(t *testing.T) {
	h := hdrhistogram.New(1, 1e6, 3)
	if err := h.RecordValue(500); err != nil {
		t.Fatal(err)
	}
	ranks := stats.Percentiles(h)
	if len(ranks) != 1 || ranks[0].Inverse != 1 || ranks[0].Value != 500 {
		t.Errorf("%v", ranks)
	}
}

// Residuals of up to 32 units in the last place of the largest term are rounding, and those
// of 33 are not. All numbers here are multiples of powers of two, so that nothing is rounded,
// and +1, −1, −1, +1 is orthogonal to every line over 1, 2, 3, 4.
func TestWhatIsRounding(t *testing.T) {
	for _, c := range []struct {
		what             string
		a, slope, offset float64 // y = a + slope·(N + offset)
		largest          float64
	}{
		{"the value itself, 4", 4, 0, 0, 4},
		{"the value of 4 nodes, 4 + 4", 4, 1, 0, 8},
		{"the slope times 4 nodes, above what is left by −3", -3, 1, 0, 4},
		{"the value of 1 node, 1 − 9", 0, 1, -9, 8},
		{"small ones as well", 0x1p-20, 0, 0, 0x1p-20},
	} {
		g := stats.Growth{Name: "N, moved", Of: func(n float64) float64 { return n + c.offset }}
		fit := func(units float64) stats.Fit {
			n, y := []float64{1, 2, 3, 4}, make([]float64, 4)
			for i, sign := range []float64{-1, 1, 1, -1} {
				y[i] = c.a + c.slope*(n[i]+c.offset) + sign*units*0x1p-52*c.largest
			}
			f, err := stats.FitGrowth(n, y, g)
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		if f := fit(31); !f.Exact || f.SD != 0 || f.Residuals[0] != 0 {
			t.Errorf("%s: 31 units are no rounding: %+v", c.what, f)
		}
		if f := fit(33); f.Exact || f.SD == 0 || f.Residuals[0] != -33*0x1p-52*c.largest {
			t.Errorf("%s: 33 units are rounding: %+v", c.what, f)
		}
	}
	// With the slope alone the largest term has no residual in it.
	n, y := []float64{1, 2, 3, 4}, []float64{-2 - 0x1p-45, -1 + 0x1p-45, 0x1p-45, 1 - 0x1p-45}
	if f, err := stats.FitGrowth(n, y, stats.Linear()); err != nil || !f.Exact {
		t.Errorf("32 units of 4 are no rounding: %+v, %v", f, err)
	}
}

// With a hundred thousand nodes and more N^−2.5 is below 10⁻¹², and its exponent is found
// all the same: what counts is how it varies.
func TestExponentOfManyNodes(t *testing.T) {
	for _, p := range []float64{-2.5, 2.5} {
		var n, y []float64
		for _, k := range []float64{1, 2, 3, 4, 6} {
			n, y = append(n, 1e5*k), append(y, 2+5*math.Pow(k, p))
		}
		if e, err := stats.FreeExponent(n, y); err != nil || math.Abs(e.P.Value-p) > 1e-9 {
			t.Errorf("N^%v: %v, %v", p, e.P.Value, err)
		}
	}
	n := []float64{1e100, 2e100, 3e100, 4e100, 6e100}
	if e, err := stats.FreeExponent(n, []float64{1, 16, 81, 256, 1296}); err == nil {
		t.Errorf("N⁴ of 10¹⁰⁰ nodes is no number, and was fitted: %+v", e)
	}
}

// An exponent of a few millionths is one; one below a millionth is the logarithm.
func TestExponentsNextToTheLogarithm(t *testing.T) {
	n := []float64{4, 9, 16, 25, 36, 49, 64}
	for p, name := range map[float64]string{4e-6: "N^4e-06", -4e-6: "N^-4e-06", 4e-7: "log N", -4e-7: "log N"} {
		y := make([]float64, len(n))
		for i := range y {
			y[i] = 1 + 2*math.Expm1(p*math.Log(n[i]))/p
		}
		e, err := stats.FreeExponent(n, y)
		if err != nil || e.Fit.Growth.Name != name || math.Abs(e.P.Value-p) > 1e-6 {
			t.Errorf("N^%v: %s, %v, %v", p, e.Fit.Growth.Name, e.P.Value, err)
		}
	}
}

// The exponent of a curve without residuals is a point.
func TestExponentWithoutResiduals(t *testing.T) {
	for _, p := range []float64{-2, -1, 1, 2, 3} {
		var n, y []float64
		for _, size := range []float64{1, 2, 4, 8, 16, 32} {
			n, y = append(n, size), append(y, 5+3*math.Pow(size, p))
		}
		e, err := stats.FreeExponent(n, y)
		if err != nil || !e.Fit.Exact || e.Fit.SD != 0 || e.P.Lo != e.P.Value || e.P.Hi != e.P.Value || !math.IsInf(e.Fit.AICc, -1) {
			t.Errorf("N^%v: %+v, %v", p, e, err)
		}
	}
}

// Values below 1 have logarithms, and 0 has none.
func TestLogLogSlopeOfSmallValues(t *testing.T) {
	n, y := []float64{1, 4, 9, 16, 25}, []float64{0.01, 0.02, 0.03, 0.04, 0.05}
	if e, err := stats.FreeExponent(n, y); err != nil || !near(e.LogLog.Value, 0.5, 9) {
		t.Errorf("√N/100: slope %+v, %v", e.LogLog, err)
	}
	for _, least := range []float64{0, -0.01} {
		y[0] = least
		e, err := stats.FreeExponent(n, y)
		if err != nil || !math.IsNaN(e.LogLog.Value) || !math.IsNaN(e.LogLog.Lo) || !math.IsNaN(e.LogLog.Hi) {
			t.Errorf("from %v on: slope %+v, %v", least, e.LogLog, err)
		}
	}
}

// Medians of 0 do not change; what becomes something of nothing changes by no share.
func TestChangeFromNothing(t *testing.T) {
	zeros := []float64{-1, 0, 0, 1}
	for _, c := range []struct {
		b    []float64
		want float64
	}{
		{[]float64{-2, 0, 0, 2}, 0}, {[]float64{1, 1, 1, 1}, math.NaN()}, {[]float64{-1, -1, -1, -1}, math.NaN()},
	} {
		if d := stats.Compare(zeros, c.b, 0.05); !same(d.Change, c.want) {
			t.Errorf("to %v: %v, want %v", c.b, d.Change, c.want)
		}
	}
}

// Samples in balance are as different as any: the test's value is 1, and not a rounding
// error more.
func TestBalanceIsOne(t *testing.T) {
	for n := 1; n <= 12; n++ {
		var a, b []float64 // a's values lie on the outside
		for i := range 2 * n {
			if (i+1)/2%2 == 0 {
				a = append(a, float64(i))
			} else {
				b = append(b, float64(i))
			}
		}
		if p := stats.MannWhitney(a, b); p > 1 || n%2 == 0 && p != 1 || !near(p, 1, 9) {
			t.Errorf("%v against %v: %v", a, b, p)
		}
	}
}

// A difference is significant at exactly its own level, and not below it.
func TestSignificantAtItsOwnLevel(t *testing.T) {
	for n := 2; n <= 12; n++ {
		choices := 1.0 // ways to deal 2n values; two of them are as far apart
		for i := 1; i <= n; i++ {
			choices = math.Round(choices * float64(n+i) / float64(i))
		}
		a, b := make([]float64, n), make([]float64, n)
		for i := range n {
			a[i], b[i] = float64(i), float64(n+i)
		}
		if d := stats.Compare(a, b, 2/choices); !d.Significant || d.P != 2/choices {
			t.Errorf("%d values apart: %v, significant: %v", n, d.P, d.Significant)
		}
		b[0] = 0.5 // now they overlap
		p := stats.Compare(a, b, 0.05).P
		if !stats.Compare(a, b, p).Significant || stats.Compare(a, b, math.Nextafter(p, 0)).Significant {
			t.Errorf("%d values that overlap: %v is not significant at that level, or is below", n, p)
		}
	}
	// Of 20 ways to deal 3 and 3 values two are as far apart, of 6 for 2 and 2.
	if three, two := stats.EnoughFor(1, 0.1), stats.EnoughFor(1, 1./3); three != 3 || two != 2 {
		t.Errorf("%d repetitions for 1/10, %d for 1/3", three, two)
	}
}

// From 26 values on, equal ones make the test the normal approximation, with Klotz's
// correction for ties: of 2·26 values, two groups of 26 each.
func TestManyEqualValuesApart(t *testing.T) {
	a, b := make([]float64, 26), make([]float64, 26)
	for i := range b {
		b[i] = 1
	}
	variance := 26. * 26 / 12 * (53 - 2*(26.*26*26-26)/(52*51))
	z := (26*26/2 - 0.5) / math.Sqrt(variance)
	if p, want := stats.MannWhitney(a, b), math.Erfc(z/math.Sqrt2); !near(p, want, 4) {
		t.Errorf("%v, want %v", p, want)
	}
}

// Merged values stay apart to the nanosecond where their histograms keep them apart, and
// one that the sum cannot hold is an error.
func TestMergeLosesNothing(t *testing.T) {
	h := recorded(t, 3)
	sum, err := stats.Merge([]string{encoded(t, h), encoded(t, h)})
	if err != nil || sum.Min() != 1 || sum.ValueAtQuantile(50) != 2 || sum.Max() != 3 {
		t.Errorf("1, 2 and 3 twice: %v, %v", sum, err)
	}
	coarse := hdrhistogram.New(1<<20, 1<<22, 3) // in steps of 2²⁰, and so beyond its highest value
	if err := coarse.RecordValue(1 << 30); err != nil {
		t.Fatal(err)
	}
	if sum, err := stats.Merge([]string{encoded(t, coarse)}); err == nil {
		t.Errorf("2³⁰ was merged into what ends at 2²²: %v", sum)
	}
}
