package stats_test

import (
	"math"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dmebench/report/stats"
)

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
