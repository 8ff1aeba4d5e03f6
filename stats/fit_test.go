package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"dmebench/stats"
)

// near compares to so many significant digits.
func near(a, b float64, digits int) bool {
	return a == b || math.Abs(a-b) <= math.Pow(10, float64(-digits))*math.Max(math.Abs(a), math.Abs(b))
}

// Over √N = 1, 2, 3, 4 everything is a fraction: a = 1/2, c = 7/5, residuals
// 1/10, −3/10, 3/10, −1/10, and Student's t with 2 degrees of freedom has the
// closed form (2p−1)/√(2p(1−p)).
func TestFitComputedByHand(t *testing.T) {
	f, err := stats.FitGrowth([]float64{1, 4, 9, 16}, []float64{2, 3, 5, 6}, stats.SquareRoot())
	if err != nil {
		t.Fatal(err)
	}
	t2 := 0.95 / math.Sqrt(2*0.975*0.025)
	halfC, halfA := t2*math.Sqrt(0.1/5), t2*math.Sqrt(0.1*(1.0/4+2.5*2.5/5))
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"a", f.A.Value, 0.5}, {"a low", f.A.Lo, 0.5 - halfA}, {"a high", f.A.Hi, 0.5 + halfA},
		{"c", f.C.Value, 1.4}, {"c low", f.C.Lo, 1.4 - halfC}, {"c high", f.C.Hi, 1.4 + halfC},
		{"SD", f.SD, math.Sqrt(0.1)}, {"R²", f.R2, 0.98}, {"at 25", f.At(25), 7.5},
	} {
		if !near(c.got, c.want, 12) {
			t.Errorf("%s = %.15g, want %.15g", c.what, c.got, c.want)
		}
	}
	for i, want := range []float64{0.1, -0.3, 0.3, -0.1} {
		if math.Abs(f.Residuals[i]-want) > 1e-14 {
			t.Errorf("residuals %v", f.Residuals)
			break
		}
	}
	if f.DF != 2 || f.Sizes != 4 || f.Exact || !math.IsNaN(f.AICc) {
		t.Errorf("DF %d, sizes %d, exact %v, AICc %v; it is not defined for 4 observations", f.DF, f.Sizes, f.Exact, f.AICc)
	}
}

// Over N = 1…5 the line through 1, 3, 2, 5, 4 leaves 18/5 and the mean 10: the
// criterion is 5 ln(18/25) + 30 and 5 ln 2 + 10.
func TestRankComputedByHand(t *testing.T) {
	fits, err := stats.Rank([]float64{1, 2, 3, 4, 5}, []float64{1, 3, 2, 5, 4}, stats.Linear(), stats.Constant())
	if err != nil {
		t.Fatal(err)
	}
	constant, linear := fits[0], fits[1]
	if constant.Growth.Name != "constant" || linear.Growth.Name != "N" {
		t.Fatalf("order %s, %s", constant.Growth.Name, linear.Growth.Name)
	}
	if want := 5*math.Log(2) + 10; !near(constant.AICc, want, 12) || constant.Delta != 0 {
		t.Errorf("constant: AICc %v, want %v; delta %v", constant.AICc, want, constant.Delta)
	}
	if want := 5*math.Log(18.0/25) + 30; !near(linear.AICc, want, 12) || !near(linear.Delta, 20+5*math.Log(9.0/25), 12) {
		t.Errorf("linear: AICc %v, want %v; delta %v", linear.AICc, want, linear.Delta)
	}
	// The mean with its t-interval; 2.7764451052 is the quantile for 4 degrees.
	if half := 2.7764451052 * math.Sqrt(10.0/4/5); constant.A.Value != 3 || !near(constant.A.Hi, 3+half, 9) ||
		!near(constant.A.Lo, 3-half, 8) {
		t.Errorf("constant: a = %+v, want 3 ± %v", constant.A, half)
	}
	if constant.C != (stats.Interval{}) || constant.DF != 4 || constant.R2 != 0 {
		t.Errorf("constant: c = %+v, DF = %d, R² = %v", constant.C, constant.DF, constant.R2)
	}
}

func TestRankFindsTheGrowthThatIsThere(t *testing.T) {
	n := []float64{7, 13, 31, 57, 133, 307}
	for seed, g := range stats.Growths() {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		var sizes, y []float64
		for _, n := range n {
			for range 5 {
				sizes, y = append(sizes, n), append(y, 2+3*g.Of(n)+0.05*rng.NormFloat64())
			}
		}
		fits, err := stats.Rank(sizes, y, stats.Growths()...)
		if err != nil {
			t.Fatal(err)
		}
		if fits[0].Growth.Name != g.Name {
			t.Errorf("%s: ranked %s first", g.Name, fits[0].Growth.Name)
		}
		for i := 1; i < len(fits); i++ {
			if fits[i].AICc < fits[i-1].AICc || !near(fits[i].Delta, fits[i].AICc-fits[0].AICc, 12) {
				t.Errorf("%s: rank %d has AICc %v and delta %v", g.Name, i+1, fits[i].AICc, fits[i].Delta)
			}
		}
	}
}

// Messages of a simulation follow a formula without any noise.
func TestExactFits(t *testing.T) {
	n := []float64{4, 9, 16, 25, 36, 49, 64}
	y := make([]float64, len(n))
	for i := range n {
		y[i] = 3 * (math.Sqrt(n[i]) - 1)
	}
	fits, err := stats.Rank(n, y, stats.Linear(), stats.SquareRoot(), stats.Constant(), stats.Power(0.5))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"N^(1/2)", "N^0.5"} { // as good as each other: in the order given
		f := fits[i]
		if f.Growth.Name != name || !f.Exact || !math.IsInf(f.AICc, -1) || f.Delta != 0 || f.R2 != 1 || f.SD != 0 {
			t.Errorf("rank %d: %+v", i+1, f)
		}
		if !near(f.A.Value, -3, 12) || !near(f.C.Value, 3, 12) || f.A.Lo != f.A.Hi || f.C.Lo != f.C.Hi {
			t.Errorf("rank %d: a = %+v, c = %+v", i+1, f.A, f.C)
		}
	}
	for _, f := range fits[2:] {
		if f.Exact || !math.IsInf(f.Delta, 1) {
			t.Errorf("%s: exact %v, delta %v", f.Growth.Name, f.Exact, f.Delta)
		}
	}

	// Values that no floating-point number holds exactly leave nothing but rounding.
	for i := range n {
		y[i] = 0.1 + 0.3*math.Cbrt(n[i]+0.7)
	}
	shifted := stats.Growth{Name: "shifted", Of: func(n float64) float64 { return math.Cbrt(n + 0.7) }}
	if f, err := stats.FitGrowth(n, y, shifted); err != nil || !f.Exact || f.Residuals[0] != 0 || !near(f.A.Value, 0.1, 12) {
		t.Errorf("%+v, %v", f, err)
	}

	// What does not grow fits every growth with c = 0, and best without one.
	for i := range y {
		y[i] = 0.1
	}
	if fits, err = stats.Rank(n, y, stats.Linear(), stats.Constant(), stats.Log()); err != nil {
		t.Fatal(err)
	}
	if fits[0].Growth.Name != "constant" {
		t.Errorf("%s is first", fits[0].Growth.Name)
	}
	for _, f := range fits {
		if !f.Exact || f.A != (stats.Interval{Value: 0.1, Lo: 0.1, Hi: 0.1}) || f.C != (stats.Interval{}) || !math.IsNaN(f.R2) ||
			f.Delta != 0 || f.At(1e6) != 0.1 {
			t.Errorf("%s: %+v", f.Growth.Name, f)
		}
	}
}

// Noise far above rounding is never taken for an exact fit.
func TestSmallResidualsAreNotExact(t *testing.T) {
	f, err := stats.FitGrowth([]float64{1, 2, 3, 4}, []float64{1, 2, 3, 4 + 1e-12}, stats.Linear())
	if err != nil || f.Exact || !(f.C.Hi > f.C.Lo) {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestFitsRefuse(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		n, y []float64
		free bool // FreeExponent alone refuses
	}{
		{"two sizes", []float64{3, 3, 7, 7, 3, 7}, []float64{1, 2, 3, 4, 5, 6}, false},
		{"nothing", nil, nil, false},
		{"unequal lengths", []float64{3, 7, 13, 21, 31}, []float64{1, 2, 3, 4}, false},
		{"NaN", []float64{3, 7, 13, 21, 31}, []float64{1, 2, nan, 4, 5}, false},
		{"infinite", []float64{3, 7, 13, 21, inf}, []float64{1, 2, 3, 4, 5}, false},
		{"no nodes", []float64{0, 7, 13, 21, 31}, []float64{1, 2, 3, 4, 5}, false},
		{"fewer", []float64{-1, 7, 13, 21, 31}, []float64{1, 2, 3, 4, 5}, false},
		{"three sizes", []float64{3, 7, 13, 3, 7, 13}, []float64{1, 2, 3, 1, 2, 4}, true},
		{"no spread", []float64{3, 7, 13, 21, 31}, []float64{2, 2, 2, 2, 2}, true},
	} {
		if _, err := stats.FreeExponent(c.n, c.y); err == nil {
			t.Errorf("%s: FreeExponent succeeded", c.name)
		}
		_, fitErr := stats.FitGrowth(c.n, c.y, stats.Log())
		_, rankErr := stats.Rank(c.n, c.y, stats.Growths()...)
		if (fitErr == nil) != c.free || (rankErr == nil) != c.free {
			t.Errorf("%s: FitGrowth: %v; Rank: %v", c.name, fitErr, rankErr)
		}
	}
	four := []float64{3, 7, 13, 21}
	if _, err := stats.Rank(four, four, stats.Log()); err == nil {
		t.Error("ranked with 4 observations")
	}
	hole := stats.Growth{Name: "1/(N−7)", Of: func(n float64) float64 { return 1 / (n - 7) }}
	if _, err := stats.FitGrowth(four, four, hole); err == nil {
		t.Error("fitted a growth that is infinite at a size")
	}
}

// The exponent of a power is found: of usual ones, of those next to the logarithm, which is
// what powers with an exponent of less than a millionth are; of those at the ends of the
// axis, and beyond them the next one; and of so many nodes that what counts is how the
// power varies, as N^−2.5 itself is below 10⁻¹².
func TestExponentsOfPowers(t *testing.T) {
	usual, small, many := []float64{4, 9, 16, 25, 36, 49, 64}, []float64{4, 6, 8, 10, 13}, []float64{1e5, 2e5, 3e5, 4e5, 6e5}
	for _, x := range []struct {
		n       []float64
		p, want float64
		growth  string // "" where only the exponent matters
	}{
		{usual, -1, -1, "N^-1"}, {usual, -0.5, -0.5, "N^-0.5"}, {usual, 1. / 3, 1. / 3, "N^0.3333"}, {usual, 0.5, 0.5, "N^0.5"},
		{usual, 1, 1, "N^1"}, {usual, 1.5, 1.5, "N^1.5"}, {usual, 3, 3, "N^3"},
		{usual, 0, 0, "log N"}, {usual, 4e-6, 4e-6, "N^4e-06"}, {usual, -4e-6, -4e-6, "N^-4e-06"},
		{usual, 4e-7, 0, "log N"}, {usual, -4e-7, 0, "log N"},
		{small, -3, -3, ""}, {small, -2.995, -2.995, ""}, {small, -3.4, -3, ""},
		{small, 4, 4, ""}, {small, 3.995, 3.995, ""}, {small, 4.5, 4, ""},
		{many, -2.5, -2.5, "N^-2.5"}, {many, 2.5, 2.5, "N^2.5"},
	} {
		y := make([]float64, len(x.n))
		for i, n := range x.n {
			logs := math.Log(n / x.n[0])
			if y[i] = 1 + 2*logs; x.p != 0 {
				y[i] = 1 + 2*math.Expm1(x.p*logs)/x.p
			}
		}
		e, err := stats.FreeExponent(x.n, y)
		if err != nil || math.Abs(e.P.Value-x.want) > 1e-6 || x.growth != "" && e.Fit.Growth.Name != x.growth {
			t.Errorf("N^%v: %s, %v, %v; want %v", x.p, e.Fit.Growth.Name, e.P.Value, err, x.want)
		}
		within := e.P.Hi-e.P.Lo < 1e-4 && e.P.Contains(e.P.Value) && near(e.Fit.At(x.n[0]), 1, 5) && near(e.Fit.At(x.n[2]), y[2], 5)
		if x.p == x.want && !within {
			t.Errorf("N^%v: %+v with %v + %v·f", x.p, e.P, e.Fit.A.Value, e.Fit.C.Value)
		}
	}
	n := []float64{1e100, 2e100, 3e100, 4e100, 6e100}
	if e, err := stats.FreeExponent(n, []float64{1, 16, 81, 256, 1296}); err == nil {
		t.Errorf("N⁴ of 10¹⁰⁰ nodes is no number, and was fitted: %+v", e)
	}
}

// A logarithm with residuals that no power nearby explains is fitted as one: they are
// orthogonal to 1, ln N and its square. Their squares add up to 180·10⁻⁸; of 6 observations
// 3 degrees of freedom go, and the criterion counts 4 parameters with the variance.
func TestALogarithmWithResiduals(t *testing.T) {
	n := []float64{4, 16, 64, 256, 1024, 4096}
	y := make([]float64, len(n))
	for i, r := range []float64{-5, 7, 4, -4, -7, 5} {
		y[i] = 10 + 2*math.Log(n[i]) + 1e-4*r
	}
	e, err := stats.FreeExponent(n, y)
	if err != nil || e.P.Value != 0 || e.Fit.Growth.Name != "log N" {
		t.Fatalf("%+v, %v", e, err)
	}
	if e.Fit.DF != 3 || !near(e.Fit.SD, math.Sqrt(180e-8/3), 6) || !near(e.Fit.AICc, 6*math.Log(180e-8/6)+8+40, 6) {
		t.Errorf("DF %d, SD %v, AICc %v", e.Fit.DF, e.Fit.SD, e.Fit.AICc)
	}
	if !near(e.Fit.C.Value, 2, 6) || e.P.Lo >= 0 || e.P.Hi <= 0 {
		t.Errorf("%+v", e)
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

// basin has values that fall and rise over sizes whose logarithms are stretched: some low
// exponent explains how they fall, some high one how they rise, and those between neither.
func basin(first, stretch float64) (n, y []float64) {
	values := []float64{first, 13, 12, 7, 5, 6, 13, 20}
	for i, size := range []float64{1, 2, 3, 5, 8, 13, 21, 34} {
		for range 3 {
			n, y = append(n, math.Pow(size, stretch)), append(y, values[i])
		}
	}
	return n, y
}

// The best exponent and its interval are those of a scan of the whole axis, fit by fit: of
// powers, of such as vanish, so that any lower one will do, of noise, and of dips apart from
// one another.
func TestExponentIsThatOfAScan(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	low, high, apart := 0, 0, 0
	for k := range 60 {
		n, y := []float64{4, 9, 16, 25, 49}, make([]float64, 5)
		for i := range y {
			switch k % 5 {
			case 0:
				y[i] = n[i] + 0.4*rng.NormFloat64()
			case 1:
				y[i] = 20*math.Pow(n[i], -2) + 0.02*rng.NormFloat64()
			case 2:
				y[i] = rng.NormFloat64()
			}
		}
		if k%5 > 2 {
			n, y = basin(17+3*rng.Float64(), []float64{-7, -3, 1, 4, 7}[rng.IntN(5)])
		}
		e, err := stats.FreeExponent(n, y)
		if err != nil {
			t.Fatal(err)
		}
		df := float64(len(n) - 3)
		student := distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(0.975)
		limit := df * e.Fit.SD * e.Fit.SD * (1 + student*student/df)
		rss := make([]float64, 701) // from exponent −3 on, by hundredths
		for k := range rss {
			growth := stats.Power(-3 + float64(k)/100)
			if k == 300 {
				growth = stats.Log()
			}
			f, err := stats.FitGrowth(n, y, growth)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range f.Residuals {
				rss[k] += r * r
			}
		}
		inside := func(k int) bool { return rss[k] <= limit }
		first, last := 0, len(rss)-1
		for ; first < last && !inside(first); first++ {
		}
		for ; last > first && !inside(last); last-- {
		}
		least := slices.Index(rss, slices.Min(rss))
		if best := -3 + float64(least)/100; inside(least) && math.Abs(e.P.Value-best) > 0.0101 {
			t.Errorf("%v: the best exponent is %v, want %v", y, e.P.Value, best)
		}
		unbounded := 0
		for _, end := range []struct {
			got   float64
			k     int
			count *int
		}{{e.P.Lo, first, &low}, {e.P.Hi, last, &high}} {
			switch atEnd := end.k == 0 || end.k == len(rss)-1; {
			case atEnd && inside(end.k):
				*end.count++
				unbounded++
				if !math.IsInf(end.got, 0) {
					t.Errorf("%v: the interval ends at %v, within the axis", y, end.got)
				}
			case inside(end.k) && math.Abs(end.got-(-3+float64(end.k)/100)) > 0.0101:
				t.Errorf("%v: the interval ends at %v, want %v", y, end.got, -3+float64(end.k)/100)
			}
		}
		for k := first; k < last; k++ {
			if !inside(k) {
				apart++
				break
			}
		}
		if warned := len(e.Warnings) > 0 && strings.Contains(e.Warnings[0], "do not bound"); warned != (unbounded > 0) {
			t.Errorf("%v: %+v, %q", y, e.P, e.Warnings)
		}
	}
	if low < 5 || high < 5 || low == high || apart < 3 {
		t.Errorf("%d intervals are not bounded below and %d above, %d span dips: the samples are too tame", low, high, apart)
	}
}
