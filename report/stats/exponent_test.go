package stats_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dmebench/report/stats"
)

func TestFreeExponentOfExactPowers(t *testing.T) {
	n := []float64{4, 9, 16, 25, 36, 49, 64}
	for _, p := range []float64{-1, -0.5, 1.0 / 3, 0.5, 2.0 / 3, 1, 1.5, 2, 3} {
		y := make([]float64, len(n))
		for i := range n {
			y[i] = -3 + 3*math.Pow(n[i], p)
		}
		e, err := stats.FreeExponent(n, y)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(e.P.Value-p) > 1e-6 || !near(e.Fit.A.Value, -3, 5) || !near(e.Fit.C.Value, 3, 5) {
			t.Errorf("p = %v: found %v + %v·N^%v", p, e.Fit.A.Value, e.Fit.C.Value, e.P)
		}
		if e.P.Hi-e.P.Lo > 1e-4 || !e.P.Contains(e.P.Value) {
			t.Errorf("p = %v: interval %+v of an exact power", p, e.P)
		}
	}
	// Between the powers below and above 0 lies the logarithm.
	y := make([]float64, len(n))
	for i := range n {
		y[i] = 1 + 2*math.Log(n[i])
	}
	e, err := stats.FreeExponent(n, y)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(e.P.Value) > 1e-5 || !near(e.Fit.At(100), 1+2*math.Log(100), 5) {
		t.Errorf("a logarithm: p = %+v, %v at 100", e.P, e.Fit.At(100))
	}
}

// The log-log slope takes an intercept for growth: 0.69 for 3(√N − 1).
func TestLogLogSlopeIsDistortedByAnIntercept(t *testing.T) {
	var n, with, without, negative []float64
	for _, q := range []float64{2, 3, 4, 5, 6, 7, 8} {
		n = append(n, q*q)
		with, without, negative = append(with, 3*(q-1)), append(without, 3*q), append(negative, q-4)
	}
	e, err := stats.FreeExponent(n, with)
	if err != nil || math.Abs(e.LogLog.Value-0.69) > 0.005 || math.Abs(e.P.Value-0.5) > 1e-6 {
		t.Errorf("3(√N − 1): slope %v, p %v, %v", e.LogLog, e.P, err)
	}
	if e, err = stats.FreeExponent(n, without); err != nil || !near(e.LogLog.Value, 0.5, 12) {
		t.Errorf("3√N: slope %v, %v", e.LogLog, err)
	}
	if e, err = stats.FreeExponent(n, negative); err != nil || !math.IsNaN(e.LogLog.Value) || len(e.Warnings) == 0 {
		t.Errorf("values below 0: slope %v, warnings %q, %v", e.LogLog, e.Warnings, err)
	}
}

// Deviations that are orthogonal to the curve and to its derivative by a, c and
// p leave the least-squares estimate where it was; the bounds of p are where a
// fit by another method has the residuals that the F distribution says.
func TestProfileIsThatOfTheModel(t *testing.T) {
	n := []float64{4, 9, 16, 25, 36, 49, 64, 100}
	const p0 = 0.5
	deviations := []float64{1, -2, 2, -1, 3, -2, -1, 1}
	tangent := func(i int) []float64 {
		g := math.Pow(n[i], p0)
		return []float64{1, g, g * math.Log(n[i])}
	}
	rest := residuals(t, 3, tangent, deviations)
	y := make([]float64, len(n))
	rss := 0.0
	for i := range n {
		y[i] = 1 + 2*math.Sqrt(n[i]) + 0.01*rest[i]
		rss += 1e-4 * rest[i] * rest[i]
	}
	e, err := stats.FreeExponent(n, y)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(e.P.Value-p0) > 1e-6 || !near(e.Fit.A.Value, 1, 4) || !near(e.Fit.C.Value, 2, 4) {
		t.Errorf("found %v + %v·N^%v", e.Fit.A.Value, e.Fit.C.Value, e.P.Value)
	}
	if e.Fit.DF != 5 || !near(e.Fit.SD, math.Sqrt(rss/5), 8) {
		t.Errorf("DF %d, SD %v, want 5 and %v", e.Fit.DF, e.Fit.SD, math.Sqrt(rss/5))
	}
	// Four parameters with the variance, eight observations.
	if want := 8*math.Log(rss/8) + 8 + 40.0/3; !near(e.Fit.AICc, want, 8) {
		t.Errorf("AICc %v, want %v", e.Fit.AICc, want)
	}
	// F(1, 5) at 95%, from tables.
	limit := rss * (1 + 6.607890974/5)
	for _, bound := range []float64{e.P.Lo, e.P.Hi} {
		got := 0.0
		for _, r := range residuals(t, 2, func(i int) []float64 { return []float64{1, math.Pow(n[i], bound)} }, y) {
			got += r * r
		}
		if !near(got, limit, 6) {
			t.Errorf("at %v the residuals are %v, want %v", bound, got, limit)
		}
	}
	if !(e.P.Lo < p0 && p0 < e.P.Hi) {
		t.Errorf("interval %+v", e.P)
	}
}

// residuals is least squares by QR decomposition, with no line in it.
func residuals(t *testing.T, columns int, row func(i int) []float64, y []float64) []float64 {
	t.Helper()
	design := mat.NewDense(len(y), columns, nil)
	for i := range y {
		design.SetRow(i, row(i))
	}
	var solution, fitted mat.VecDense
	observed := mat.NewVecDense(len(y), y)
	if err := solution.SolveVec(design, observed); err != nil {
		t.Fatal(err)
	}
	fitted.MulVec(design, &solution)
	rest := make([]float64, len(y))
	for i := range y {
		rest[i] = y[i] - fitted.AtVec(i)
	}
	return rest
}

// Where noise hides the growth no bound is invented.
func TestExponentThatIsNotBounded(t *testing.T) {
	e, err := stats.FreeExponent([]float64{3, 7, 13, 21, 31}, []float64{5, 4, 6, 5, 5.5})
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsInf(e.P.Lo, -1) || !math.IsInf(e.P.Hi, 1) || len(e.Warnings) != 1 {
		t.Errorf("%+v, warnings %q", e.P, e.Warnings)
	}
	// A growth beyond the search ends at its edge, and is said to be unbounded.
	var n, y []float64
	for _, x := range []float64{2, 3, 4, 5, 6, 7} {
		n, y = append(n, x), append(y, math.Pow(x, 6))
	}
	if e, err = stats.FreeExponent(n, y); err != nil || e.P.Value < 3.99 || !math.IsInf(e.P.Hi, 1) {
		t.Errorf("N⁶: %+v, %v", e.P, err)
	}
}
