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
	for alpha, want := range map[float64]bool{0.001: false, 2. / 924: true} { // at its own level it is, too
		if d := stats.Compare(six, []float64{11, 12, 13, 14, 15, 16}, alpha); d.Significant != want {
			t.Errorf("p = %v is significant at %v: %v", d.P, alpha, d.Significant)
		}
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
			if got, want := stats.Compare(a, b, 0.05).P, permutationP(a, b); math.Abs(got-want) > 1e-9 || got > 1 {
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

// R: p.adjust(c(0.01, 0.04, 0.03, 0.005, 0.9), "BH"), with a missing value between.
func TestFalseDiscovery(t *testing.T) {
	got := stats.FalseDiscovery([]float64{0.01, 0.04, math.NaN(), 0.03, 0.005, 0.9})
	for i, want := range []float64{0.025, 0.05, math.NaN(), 0.05, 0.025, 0.9} {
		if !near(got[i], want, 12) && !same(got[i], want) {
			t.Errorf("comparison %d: %v, want %v", i, got[i], want)
		}
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
	// Of 20 ways to deal 3 and 3 values two are as far apart, of 6 for 2 and 2.
	if three, two := stats.EnoughFor(1, 0.1), stats.EnoughFor(1, 1./3); three != 3 || two != 2 {
		t.Errorf("%d repetitions for 1/10, %d for 1/3", three, two)
	}
	for comparisons, want := range map[int]int{1: 4, 3: 5, 10: 6, 15: 6, 28: 7, 276: 8} {
		if got := stats.EnoughFor(comparisons, 0.05); got != want {
			t.Errorf("%d comparisons need %d repetitions, want %d", comparisons, got, want)
		}
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
