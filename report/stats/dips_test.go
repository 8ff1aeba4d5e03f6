package stats_test

import (
	"math"
	"testing"

	"dmebench/report/stats"
)

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
