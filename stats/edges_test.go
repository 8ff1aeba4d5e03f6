package stats_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dmebench/stats"
)

func recorded(t *testing.T, n int64) *hdrhistogram.Histogram {
	t.Helper()
	h := hdrhistogram.New(1, 1<<40, 3)
	for v := int64(1); v <= n; v++ {
		if err := h.RecordValue(v); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// A percentile curve has 24 points a decade, from the least value on, and ends at the
// largest with the rank that so many values can tell.
func TestPercentilesOfMany(t *testing.T) {
	if p := stats.Percentiles(hdrhistogram.New(1, 1000, 3)); p != nil {
		t.Errorf("of nothing: %v", p)
	}
	for _, n := range []int64{2, 10, 1000, 1500} {
		h := recorded(t, n)
		p := stats.Percentiles(h)
		if want := int(math.Ceil(24*math.Log10(float64(n))-1e-9)) + 1; len(p) != want {
			t.Fatalf("of %d values: %d points, want %d", n, len(p), want)
		}
		for k, x := range p[:len(p)-1] {
			if want := math.Pow(10, float64(k)/24); !near(x.Inverse, want, 9) {
				t.Errorf("of %d values: point %d is at %v, want %v", n, k, x.Inverse, want)
			}
			if rank := (1 - 1/x.Inverse) * float64(n); math.Abs(x.Value-rank) > 1.5+0.001*rank {
				t.Errorf("of %d values: at %v lies %v, want %v", n, x.Inverse, x.Value, rank)
			}
		}
		if last := p[len(p)-1]; last.Inverse != float64(n) || last.Value != float64(h.Max()) {
			t.Errorf("of %d values: the curve ends with %+v", n, last)
		}
	}
}

// A cumulative distribution begins at the least value with nothing, has a point for each
// percent, and ends where its values can tell no more, at 99.9% at the latest.
func TestCumulative(t *testing.T) {
	if c := stats.Cumulative(nil); c != nil {
		t.Errorf("of no histogram: %v", c)
	}
	if c := stats.Cumulative(hdrhistogram.New(1, 1000, 3)); c != nil {
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

// The interval of the exponent spans all that fit well enough: a scan of the whole axis,
// fit by fit, finds the same ends.
func TestExponentIntervalIsThatOfAScan(t *testing.T) {
	const student95 = 4.302652729749 // with 2 degrees of freedom
	n := []float64{4, 9, 16, 25, 49}
	rng := rand.New(rand.NewPCG(61, 62))
	low, high := 0, 0
	for k := range 60 {
		y := make([]float64, len(n))
		for i := range y {
			switch k % 4 {
			case 0: // a power, well visible
				y[i] = n[i] + 0.4*rng.NormFloat64()
			case 1: // one that vanishes, for which any lower exponent will do
				y[i] = 20*math.Pow(n[i], -2) + 0.02*rng.NormFloat64()
			default:
				y[i] = rng.NormFloat64()
			}
		}
		e, err := stats.FreeExponent(n, y)
		if err != nil {
			t.Fatal(err)
		}
		limit := 2 * e.Fit.SD * e.Fit.SD * (1 + student95*student95/2)
		var inside []bool
		first, last := math.NaN(), math.NaN()
		for k := range 701 {
			p := -3 + float64(k)/100
			f, err := stats.FitGrowth(n, y, stats.Power(p))
			if k == 300 {
				f, err = stats.FitGrowth(n, y, stats.Log())
			}
			if err != nil {
				t.Fatal(err)
			}
			rss := 0.0
			for _, r := range f.Residuals {
				rss += r * r
			}
			fits := rss <= limit
			if fits && math.IsNaN(first) {
				first = p
			}
			if fits {
				last = p
			}
			inside = append(inside, fits)
		}
		bounds := 0
		switch {
		case inside[0]:
			low++
			if !math.IsInf(e.P.Lo, -1) {
				t.Errorf("%v: the interval begins at %v and not before the axis does", y, e.P.Lo)
			}
		case !math.IsNaN(first) && math.Abs(e.P.Lo-first) > 0.0101:
			t.Errorf("%v: the interval begins at %v, want %v", y, e.P.Lo, first)
		default:
			bounds++
		}
		switch {
		case inside[700]:
			high++
			if !math.IsInf(e.P.Hi, +1) {
				t.Errorf("%v: the interval ends at %v and not behind the axis", y, e.P.Hi)
			}
		case !math.IsNaN(last) && math.Abs(e.P.Hi-last) > 0.0101:
			t.Errorf("%v: the interval ends at %v, want %v", y, e.P.Hi, last)
		default:
			bounds++
		}
		unbounded := 0
		for _, w := range e.Warnings {
			if strings.Contains(w, "do not bound") {
				unbounded++
			}
		}
		if (bounds == 2) != (unbounded == 0) {
			t.Errorf("%v: %+v, %q", y, e.P, e.Warnings)
		}
	}
	if low < 5 || high < 5 || low == high {
		t.Errorf("%d intervals are not bounded below and %d above: the samples are too tame", low, high)
	}
}

// Exponents at the ends of the axis are found, and those beyond are as near as can be.
func TestExponentsAtTheEnds(t *testing.T) {
	n := []float64{4, 6, 8, 10, 13}
	for p, want := range map[float64]float64{-3: -3, -2.995: -2.995, -3.4: -3, 4: 4, 3.995: 3.995, 4.5: 4} {
		y := make([]float64, len(n))
		for i := range y {
			y[i] = 2 + 5*math.Pow(n[i]/4, p)
		}
		if e, err := stats.FreeExponent(n, y); err != nil || math.Abs(e.P.Value-want) > 1e-6 {
			t.Errorf("N^%v: %v, %v; want %v", p, e.P.Value, err, want)
		}
	}
}

// A logarithm with residuals that no power nearby explains is fitted as one: they are
// orthogonal to 1, ln N and its square.
func TestALogarithmWithResiduals(t *testing.T) {
	n := []float64{4, 16, 64, 256, 1024}
	y := make([]float64, len(n))
	for i, r := range []float64{-1, 2, 0, -2, 1} {
		y[i] = 10 + 2*math.Log(n[i]) + 1e-4*r
	}
	e, err := stats.FreeExponent(n, y)
	if err != nil || e.P.Value != 0 || e.Fit.Growth.Name != "log N" {
		t.Fatalf("%+v, %v", e, err)
	}
	// The residuals' squares add up to 10·10⁻⁸; of 5 observations 3 degrees of freedom go.
	if !near(e.Fit.SD, math.Sqrt(10e-8/2), 3) || !near(e.Fit.C.Value, 2, 6) || e.P.Lo >= 0 || e.P.Hi <= 0 {
		t.Errorf("%+v", e)
	}
}

// The mean of what does not grow has Student's interval, and no part of it comes from a
// slope that is not there.
func TestConstantWithResiduals(t *testing.T) {
	f, err := stats.FitGrowth([]float64{2, 4, 8, 16}, []float64{1, 2, 3, 4}, stats.Constant())
	if err != nil {
		t.Fatal(err)
	}
	half := 3.182446305284 * math.Sqrt(5./3) / 2 // t(3)·s/√4
	if f.A.Value != 2.5 || !(math.Abs(f.A.Lo-2.5+half) < 1e-9) || !(math.Abs(f.A.Hi-2.5-half) < 1e-9) || f.C.Lo != 0 || f.C.Hi != 0 {
		t.Errorf("%+v", f)
	}
}

func TestValuesOfAFit(t *testing.T) {
	at := func(a, c float64, g stats.Growth) float64 {
		return stats.Fit{Growth: g, A: stats.Interval{Value: a}, C: stats.Interval{Value: c}}.At(3)
	}
	if x, y := at(2, 1, stats.Linear()), at(2, -1, stats.Linear()); x != 5 || y != -1 {
		t.Errorf("2 + 3 is %v, 2 − 3 is %v", x, y)
	}
	endless := stats.Growth{Name: "endless", Of: func(float64) float64 { return math.Inf(1) }}
	if x := at(2, 0, endless); x != 2 {
		t.Errorf("what does not grow is %v at 3", x)
	}
}

func TestNothingToCompare(t *testing.T) {
	six := []float64{1, 2, 3, 4, 5, 6}
	if d := stats.Compare(six, nil, 0.05); !math.IsNaN(d.P) || !math.IsNaN(d.Change) || d.Significant {
		t.Errorf("%+v", d)
	}
	if e := stats.Median([]float64{math.Inf(-1), math.NaN()}); e.N != 0 || !math.IsNaN(e.Min) || !math.IsNaN(e.Max) || len(e.Warnings) != 1 {
		t.Errorf("%+v", e)
	}
	// The samples touch: of 20 ways to deal 3 and 3 values, as in any sample with one tie
	// across, more than 2 are as extreme.
	touch := stats.Compare([]float64{1, 2, 3}, []float64{3, 4, 5}, 0.9)
	if want := permutationP([]float64{1, 2, 3}, []float64{3, 4, 5}); !near(touch.P, want, 9) {
		t.Errorf("samples that touch: p = %v, want %v", touch.P, want)
	}
	touch = stats.Compare([]float64{3, 4, 5}, []float64{1, 2, 3}, 0.9)
	if want := permutationP([]float64{3, 4, 5}, []float64{1, 2, 3}); !near(touch.P, want, 9) {
		t.Errorf("samples that touch: p = %v, want %v", touch.P, want)
	}
	if n := stats.EnoughFor(1, 0.5); n != 2 {
		t.Errorf("%d repetitions for p = 1/3", n)
	}
}

// Sizes below 1 are none.
func TestSizesThatAreNone(t *testing.T) {
	for _, n := range [][]float64{{0, 2, 3, 4}, {-1, 2, 3, 4}, {1, 2, math.NaN(), 4}, {1, 2, math.Inf(1), 4}} {
		if f, err := stats.FitGrowth(n, []float64{1, 2, 4, 8}, stats.Linear()); err == nil {
			t.Errorf("sizes %v: %+v", n, f)
		}
	}
}

// What is left of a logarithm's digits by rounding is nothing, also where the logarithm is
// 0 itself.
func TestAnExactLogarithmFromOneOn(t *testing.T) {
	n := []float64{1, 2, 3, 5, 7, 11}
	for _, c := range []float64{0.1, 0.3, 1. / 7} {
		y := make([]float64, len(n))
		for i := range y {
			y[i] = c * math.Log(n[i])
		}
		if f, err := stats.FitGrowth(n, y, stats.Log()); err != nil || !f.Exact || f.SD != 0 {
			t.Errorf("%v log N: %+v, %v", c, f, err)
		}
	}
}

// A merged histogram has the digits of the most precise part, and no more.
func TestMergeKeepsDigits(t *testing.T) {
	for _, digits := range []int{1, 2, 3} {
		h := hdrhistogram.New(1, 1000, digits)
		if err := h.RecordValue(7); err != nil {
			t.Fatal(err)
		}
		sum, err := stats.Merge([]string{encoded(t, h), encoded(t, h)})
		if err != nil || sum.SignificantFigures() != int64(digits) || sum.TotalCount() != 2 {
			t.Errorf("%d digits became %d: %v", digits, sum.SignificantFigures(), err)
		}
	}
}

// Four sizes are enough for an exponent, and three are not.
func TestSizesForAnExponent(t *testing.T) {
	n, y := []float64{2, 4, 8, 16}, []float64{1, 2, 4, 8.1}
	if _, err := stats.FreeExponent(n, y); err != nil {
		t.Errorf("four sizes: %v", err)
	}
	if e, err := stats.FreeExponent(n[:3], y[:3]); err == nil {
		t.Errorf("three sizes: %+v", e)
	}
}
