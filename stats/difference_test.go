package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/stats"
)

func TestCompareOfKnownSamples(t *testing.T) {
	six := []float64{1, 2, 3, 4, 5, 6}
	for _, c := range []struct {
		name        string
		a, b        []float64
		p, change   float64
		significant bool
		warnings    int
	}{
		// Of the 924 ways to choose 6 ranks of 12, two are as extreme.
		{"apart", six, []float64{11, 12, 13, 14, 15, 16}, 2.0 / 924, (13.5 - 3.5) / 3.5, true, 0},
		// U = 1 of 9; of the 20 choices of 3 ranks of 6, U ≤ 1 or ≥ 8 in 4.
		{"nearly apart", []float64{1, 2, 4}, []float64{3, 5, 6}, 4.0 / 20, 1.5, false, 2},
		// U = 4, and 12 of the 924 choices have no more: 1 + 1 + 2 + 3 + 5.
		{"mostly apart", []float64{1, 2, 3, 4, 5, 10.5}, []float64{6, 7, 8, 9, 11, 12}, 24.0 / 924, 5.0 / 3.5, true, 0},
		{"all equal", []float64{14, 14, 14, 14, 14, 14}, []float64{14, 14, 14, 14, 14, 14}, 1, 0, false, 0},
		{"two constants", []float64{14, 14, 14, 14, 14, 14}, []float64{7, 7, 7, 7, 7, 7}, 2.0 / 924, -0.5, true, 0},
		{"from nothing", []float64{0, 0, 0, 0, 0, 0}, six, 2.0 / 924, math.NaN(), true, 0},
		{"below zero", []float64{-2, -2, -2, -2, -2, -2}, []float64{-1, -1, -1, -1, -1, -1}, 2.0 / 924, 0.5, true, 0},
		{"one side is empty", nil, six, math.NaN(), math.NaN(), false, 0},
		{"one value each", []float64{1}, []float64{2}, 1, 1, false, 2},
		{"not finite", append([]float64{math.Inf(1)}, six...), six, 1, 0, false, 1},
	} {
		d := stats.Compare(c.a, c.b, 0.05)
		if !near(d.P, c.p, 9) && !same(d.P, c.p) || !near(d.Change, c.change, 9) && !same(d.Change, c.change) ||
			d.Significant != c.significant || len(d.Warnings) != c.warnings {
			t.Errorf("%s: p = %v, change %v, significant %v, warnings %q; want p = %v, change %v, %v and %d",
				c.name, d.P, d.Change, d.Significant, d.Warnings, c.p, c.change, c.significant, c.warnings)
		}
	}
	if d := stats.Compare(six, []float64{11, 12, 13, 14, 15, 16}, 0.001); d.Significant {
		t.Errorf("p = %v is significant at 0.001", d.P)
	}
	if !slices.IsSorted(six) || len(six) != 6 {
		t.Errorf("the values became %v", six)
	}
}

// The p-value is the share of all ways to deal the pooled values to both sides
// that are at least as far from balance, ties included: a dumb twin deals them.
func TestCompareIsItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		a, b := make([]float64, 3+rng.IntN(4)), make([]float64, 3+rng.IntN(4))
		for i := range a {
			a[i] = float64(rng.IntN(8))
		}
		for i := range b {
			b[i] = float64(rng.IntN(8)) + 2
		}
		apart := slices.Clone(b) // so far that no value of a is among them
		for i := range apart {
			apart[i] += 20
		}
		for _, b := range [][]float64{b, apart} {
			if got, want := stats.Compare(a, b, 0.05).P, permutationP(a, b); math.Abs(got-want) > 1e-9 {
				t.Errorf("%v against %v: p = %v, want %v", a, b, got, want)
			}
		}
	}
}

func permutationP(a, b []float64) float64 {
	pool := append(slices.Clone(a), b...)
	u := func(mask int) float64 { // wins of the first side, a tie counts half
		sum := 0.0
		for i, x := range pool {
			for j, y := range pool {
				if mask>>i&1 == 1 && mask>>j&1 == 0 {
					sum += map[bool]float64{true: 1}[x > y]
					sum += map[bool]float64{true: 0.5}[x == y]
				}
			}
		}
		return sum
	}
	balance := float64(len(a)*len(b)) / 2
	observed := math.Abs(u(1<<len(a)-1) - balance)
	all, extreme := 0, 0
	for mask := range 1 << len(pool) {
		ones := 0
		for i := range pool {
			ones += mask >> i & 1
		}
		if ones != len(a) {
			continue
		}
		all++
		if math.Abs(u(mask)-balance) >= observed {
			extreme++
		}
	}
	return float64(extreme) / float64(all)
}

func TestGeometricMean(t *testing.T) {
	if g, err := stats.GeometricMean([]float64{1, 2, 4, 8}); err != nil || !near(g, math.Sqrt(8), 12) {
		t.Errorf("%v, %v", g, err)
	}
	if g, err := stats.GeometricMean([]float64{1e6, 1e6, 1e6, 1e6}); err != nil || g != 1e6 {
		t.Errorf("of equal values: %v, %v", g, err)
	}
	for _, bad := range [][]float64{nil, {1, 0}, {1, -1}, {math.NaN()}, {math.Inf(1)}} {
		if g, err := stats.GeometricMean(bad); err == nil {
			t.Errorf("the mean of %v is %v", bad, g)
		}
	}
}

// R: p.adjust(c(0.01, 0.04, 0.03, 0.005, 0.9), "holm"), with a missing value between.
func TestHolm(t *testing.T) {
	got := stats.Holm([]float64{0.01, 0.04, math.NaN(), 0.03, 0.005, 0.9})
	for i, want := range []float64{0.04, 0.09, math.NaN(), 0.09, 0.025, 0.9} {
		if !near(got[i], want, 12) && !same(got[i], want) {
			t.Errorf("comparison %d: %v, want %v", i, got[i], want)
		}
	}
	if got := stats.Holm([]float64{0.4, 0.5}); got[0] != 0.8 || got[1] != 0.8 {
		t.Errorf("corrected values must not fall: %v", got)
	}
	if got := stats.Holm([]float64{0.7, 0.6}); got[0] != 1 || got[1] != 1 {
		t.Errorf("corrected values are probabilities: %v", got)
	}
}

// What no samples can fall below is what samples that do not overlap have.
func TestLeastP(t *testing.T) {
	for n := 1; n <= 8; n++ {
		for m := 1; m <= 8; m++ {
			var a, b []float64
			for i := range n {
				a = append(a, float64(i))
			}
			for i := range m {
				b = append(b, float64(100+i))
			}
			if got, want := stats.LeastP(n, m), stats.MannWhitney(a, b); !near(got, want, 9) {
				t.Errorf("%d and %d values: %v, and the test has %v", n, m, got, want)
			}
		}
	}
	if p := stats.LeastP(0, 7); p != 1 {
		t.Errorf("nothing against 7 values: %v", p)
	}
	for comparisons, want := range map[int]int{1: 4, 3: 5, 10: 6, 15: 6, 28: 7, 276: 8} {
		if got := stats.EnoughFor(comparisons, 0.05); got != want {
			t.Errorf("%d comparisons need %d repetitions, want %d", comparisons, got, want)
		}
	}
}

// limit is by which factor the residuals of 24 observations may exceed the least: F(1, 21)
// at 95%, from tables, over 21 degrees of freedom.
const limit = 1 + 4.324793741/21

// The curves here have two dips: some low exponent explains how the values fall, some high
// one how they rise, and those between explain neither.

// valley has values that fall as n^low and then rise as n^high, three of each size.
func valley(low, high, weight float64) (n, y []float64) {
	for _, size := range []float64{1, 2, 3, 5, 8, 13, 21, 34} {
		for range 3 {
			n, y = append(n, size), append(y, math.Pow(size, low)+weight*math.Pow(size/34, high))
		}
	}
	return n, y
}

// basin has values that fall and rise over sizes whose logarithms are stretched: the dips
// are nearer to one another.
func basin(first, stretch float64) (n, y []float64) {
	values := []float64{first, 13, 12, 7, 5, 6, 13, 20}
	for i, size := range []float64{1, 2, 3, 5, 8, 13, 21, 34} {
		for range 3 {
			n, y = append(n, math.Pow(size, stretch)), append(y, values[i])
		}
	}
	return n, y
}

// atExponent is the residuals' sum of squares for an exponent, by QR decomposition.
func atExponent(t *testing.T, n, y []float64, p float64) float64 {
	t.Helper()
	sum, middle := 0.0, math.Sqrt(n[0]*n[len(n)-1]) // the unit of N is free
	for _, r := range residuals(t, 2, func(i int) []float64 { return []float64{1, math.Pow(n[i]/middle, p)} }, y) {
		sum += r * r
	}
	return sum
}

// An interval spans a dip apart from the best exponent, however narrow the part of it that
// qualifies. Sizes that are stretched the other way round turn the axis.
func TestIntervalReachesANarrowDip(t *testing.T) {
	for _, side := range []float64{-1, +1} {
		n, y := basin(18.3, -7*side)
		e, err := stats.FreeExponent(n, y)
		if err != nil || math.Abs(e.P.Value+0.62*side) > 0.01 {
			t.Fatalf("best exponent %v, %v; want %v", e.P.Value, err, -0.62*side)
		}
		most := limit * atExponent(t, n, y, e.P.Value)
		for p, inside := range map[float64]bool{0.2: false, 0.3: false, 0.348: true, 0.4: false, 0.5: false} {
			if got := atExponent(t, n, y, side*p) <= most; got != inside {
				t.Fatalf("exponent %v qualifies: %v, want %v", side*p, got, inside)
			}
		}
		bound := e.P.Hi
		if side < 0 {
			bound = e.P.Lo
		}
		if bound*side < 0.348 || bound*side > 0.4 || !near(atExponent(t, n, y, bound), most, 6) {
			t.Errorf("side %v: bound %v, where the residuals are %v; want %v", side, bound, atExponent(t, n, y, bound), most)
		}
	}
}

// What lies beyond the axis does not count: a dip qualifies just behind its end, where the
// end itself does not.
func TestIntervalEndsBeforeADipBeyondTheAxis(t *testing.T) {
	for _, c := range []struct{ low, high, weight, end, best float64 }{
		{-1, 10, 0.9442, 4, -2.33}, {-4, 1, 1.03443, -3, 2.39},
	} {
		n, y := valley(c.low, c.high, c.weight)
		e, err := stats.FreeExponent(n, y)
		if err != nil || math.Abs(e.P.Value-c.best) > 0.01 {
			t.Fatalf("best exponent %v, %v; want %v", e.P.Value, err, c.best)
		}
		most := limit * atExponent(t, n, y, e.P.Value)
		side := math.Copysign(1, c.end)
		for beyond, inside := range map[float64]bool{-1: false, -0.01: false, 0: false, 0.01: true, 1: true} {
			if got := atExponent(t, n, y, c.end+side*beyond) <= most; got != inside {
				t.Fatalf("exponent %v qualifies: %v, want %v", c.end+side*beyond, got, inside)
			}
		}
		bound := e.P.Hi
		if side < 0 {
			bound = e.P.Lo
		}
		if (bound-e.P.Value)*side <= 0 || !(math.Abs(bound) < 2.5) || !near(atExponent(t, n, y, bound), most, 6) {
			t.Errorf("%+v: bound %v, where the residuals are %v; want %v", c, bound, atExponent(t, n, y, bound), most)
		}
	}
}

// Of two dips nearly as deep the deeper one has the best exponent, also where the other one
// lies at a rounder number, or where it is deepest at the end of the axis only.
func TestTheDeeperDip(t *testing.T) {
	for _, c := range []struct{ first, stretch, best, other float64 }{
		{19.8974, 7.5, -0.3390, 0.6}, {19.87913, 1, 4, -2.54},
	} {
		n, y := basin(c.first, c.stretch)
		if least, other := atExponent(t, n, y, c.best), atExponent(t, n, y, c.other); least >= other {
			t.Fatalf("residuals %v at %v and %v at %v", least, c.best, other, c.other)
		}
		if e, err := stats.FreeExponent(n, y); err != nil || math.Abs(e.P.Value-c.best) > 0.001 {
			t.Errorf("best exponent %v, %v; want %v", e.P.Value, err, c.best)
		}
	}
}

// Bounds within the last unit of the axis are found, too.
func TestBoundsNextToTheEnds(t *testing.T) {
	for _, p := range []float64{-2.5, 3.5} {
		var n, y []float64
		for _, size := range []float64{1, 1.5, 2, 3, 4, 5, 6, 8} {
			for _, noise := range []float64{-0.01, 0, 0.01} {
				n, y = append(n, size), append(y, math.Min(math.Pow(size, p), math.Pow(size/8, p))+noise)
			}
		}
		e, err := stats.FreeExponent(n, y)
		if err != nil || math.Abs(e.P.Value-p) > 0.01 {
			t.Fatalf("N^%v: best exponent %v, %v", p, e.P.Value, err)
		}
		bound, end := e.P.Hi, 4.0
		if p < 0 {
			bound, end = e.P.Lo, -3
		}
		between := math.Abs(p) < math.Abs(bound) && math.Abs(bound) < math.Abs(end)
		if most := limit * atExponent(t, n, y, p); !between || !near(atExponent(t, n, y, bound), most, 4) {
			t.Errorf("N^%v: %+v", p, e.P)
		}
	}
}
