package claims

import (
	"math"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/report/stats"
	"dmebench/result"
)

// curve is a growth with these values at 10 and at 100 nodes.
func curve(name string, lo, hi float64) stats.Growth {
	return stats.Growth{Name: name, Of: func(n float64) float64 {
		if n < 50 {
			return lo
		}
		return hi
	}}
}

// At its limits a growth still agrees: where another fits better by 2 in AICc, grows
// faster by 5%, or leaves 5% of the largest system.
func TestLimitsOfAGrowth(t *testing.T) {
	one := stats.Interval{Value: 1, Lo: 1, Hi: 1}
	as := func(c float64) stats.Interval { return stats.Interval{Value: c, Lo: c, Hi: c} }
	claimed, order := dme.Growth{Exponent: 1}, dme.Growth{Exponent: 1, Order: true}
	for _, x := range []struct {
		name       string
		growth     dme.Growth
		a          float64
		c          stats.Interval
		own, rival stats.Growth
		last       float64 // measured at the largest size
		behind     float64
		agrees     bool
		granted    float64
	}{
		{"an order beaten by 2", order, 0, one, curve("f", 10, 100), curve("g", 1, 100), 100, 2, true, 0},
		{"an order beaten by what grows 1.05 times as much", order, 0, one, curve("f", 10, 100), curve("g", 1, 10.5), 100, 9, true, 0},
		{"an order beaten by what grows more", order, 0, one, curve("f", 10, 100), curve("g", 1, 10.6), 100, 9, false, 0},
		{"an order beaten by what is larger, and grows less", order, 0, one, curve("f", 10, 100), curve("g", 1000, 9000), 100, 9, true, 0},
		{"a formula beaten by 2", claimed, 50, one, curve("f", 10, 100), curve("g", 1, 100), 100, 2, true, 0},
		{"beaten, and off by 5% at the end", claimed, 5, one, curve("f", 10, 100), curve("g", 1, 100), 100, 9, true, asClaimed},
		{"beaten, and off by rounding", claimed, 1, one, curve("f", 1, 1e9), curve("g", 1, 100), 1e9, 9, true, 0},
		{"a coefficient off by rounding", claimed, 0, as(1 + 5e-10), curve("f", 10, 100), curve("g", 1, 100), 100, 0, true, 0},
		{"a coefficient off by more", claimed, 0, as(1 + 5e-9), curve("f", 10, 100), curve("g", 1, 100), 100, 0, true, asClaimed},
	} {
		own := stats.Fit{Growth: x.own, A: stats.Interval{Value: x.a}, C: x.c, Delta: x.behind}
		ranking := []stats.Fit{{Growth: x.rival}, own}
		var f Fit
		standing := f.judge(x.growth, &Series{n: []float64{10, 100}, y: []float64{10, x.last}}, own, ranking, 1)
		if standing == Agrees != x.agrees || f.Tolerance != x.granted {
			t.Errorf("%s: %v (%s), granted %v", x.name, standing, f.How, f.Tolerance)
		}
	}
}

// What is estimated without scatter has no interval.
func TestAround(t *testing.T) {
	for want, i := range map[string]stats.Interval{
		"1.5": {Value: 1.5, Lo: 1.5, Hi: 1.5}, "1.5 ± 0.5": {Value: 1.5, Lo: 1, Hi: 2},
	} {
		if got := around(i); got != want {
			t.Errorf("%+v: %q, want %q", i, got, want)
		}
	}
}

// Exponents are estimated where there is growth; a slope of logarithms, where all values
// have one.
func TestExponents(t *testing.T) {
	n := []float64{4, 9, 16, 25, 100}
	values := func(f func(n float64) float64) (y []float64) {
		for _, x := range n {
			y = append(y, f(x))
		}
		return y
	}
	p, slope := exponentOf(n, values(func(n float64) float64 { return 3 * math.Sqrt(n) }))
	if p == nil || math.Abs(p.Value-0.5) > 1e-3 || slope == nil || math.Abs(slope.Value-0.5) > 1e-9 {
		t.Errorf("of 3√N: %v, %v", p, slope)
	}
	p, slope = exponentOf(n, values(func(n float64) float64 { return n - 9 }))
	if p == nil || math.Abs(p.Value-1) > 1e-3 || slope != nil {
		t.Errorf("of N − 9: %v, %v", p, slope)
	}
	if p, slope = exponentOf(n, values(func(float64) float64 { return 7 })); p != nil || slope != nil {
		t.Errorf("of 7: %v, %v", p, slope)
	}
}

// The best growth is named; what cannot be fitted has none.
func TestTheBestGrowthIsNamed(t *testing.T) {
	described := func(f func(n float64) float64, sizes ...int) (x Scaling, ok bool) {
		var s Series
		for _, n := range sizes {
			s.Add(n, f(float64(n)))
		}
		ok = s.Scaling(&x)
		return x, ok
	}
	sizes := []int{4, 9, 16, 25, 40}
	for want, f := range map[string]func(n float64) float64{
		stats.SquareRoot().Name: func(n float64) float64 { return 2 + 3*math.Sqrt(n) },
		stats.Linear().Name:     func(n float64) float64 { return 2 + 3*n },
		stats.Log().Name:        func(n float64) float64 { return 2 + 3*math.Log(n) },
	} {
		x, ok := described(f, sizes...)
		if !ok || x.Best != want || x.Ranking[0].Growth != want || math.Abs(x.A.Value-2) > 1e-6 {
			t.Errorf("%s is described as %s: %v + %v·f", want, x.Best, x.A.Value, x.C.Value)
		}
	}
	for name, sizes := range map[string][]int{"four": {4, 9, 16, 40}, "five that are close": {4, 9, 16, 25, 39}} {
		if x, ok := described(math.Sqrt, sizes...); ok || x.Best != "" {
			t.Errorf("%s sizes are described as %s", name, x.Best)
		}
	}
	if x, ok := described(func(n float64) float64 { return 1 / (n - 9) }, sizes...); ok || x.Best != "" {
		t.Errorf("what is infinite at one size is described as %s", x.Best)
	}
}

// A growth of constructions has no condition, and what cannot be fitted is no evidence.
func TestGrowthsOfConstructions(t *testing.T) {
	q := asked(dme.Claim{
		Quantity: dme.QuorumSize, Kind: dme.Asymptotic, Formula: "2√N", Load: dme.Static, Growth: dme.Growth{Exponent: 0.5},
		Predict: func(s dme.Setting) (float64, bool) { return 2 * math.Sqrt(float64(s.Nodes)), true },
		Measure: func(s dme.Setting) (float64, bool) { return 2*math.Sqrt(float64(s.Nodes)) - 1, true },
	})
	var points []Evidence
	for _, n := range []int{4, 9, 16, 36, 64, 100} {
		e, ok := Construct(q.Claim, dme.Setting{Nodes: n})
		if !ok {
			t.Fatalf("nothing is constructed of %d nodes", n)
		}
		points = append(points, e)
	}
	const want = "holds (a + c·f with c = 1, a = −1; y/f = 0.95 for N = 100, 6 sizes 4…100)"
	if v := q.Judge(points); v.Text != want {
		t.Errorf("%q, want %q", v.Text, want)
	}
	broken := sized(result.Sim, math.Sqrt, func(float64) float64 { return math.Inf(1) }, 4, 9, 16, 36, 64, 100)
	if v := q.Judge(broken); v.Verdict != NotRun || len(v.Fits) != 0 {
		t.Errorf("a formula that gives no number: %s", v.Text)
	}
	if v := q.Judge(sized(result.Sim, math.Sqrt, math.Sqrt, 4, 9, 16, 100)); len(v.Fits) != 0 || !strings.Contains(v.Text, "there are 4") {
		t.Errorf("four sizes: %s", v.Text)
	}
}

// A coefficient that is nearly the claimed one is that of an asymptotic formula only if it
// comes nearer to it in larger systems.
func TestCoefficientsComeNearer(t *testing.T) {
	sizes := []int{7, 13, 31, 57, 133, 307, 757, 1723}
	for _, x := range []struct {
		name string
		of   func(n float64) float64
		want Status
		says string
	}{
		{"1.04√N", func(n float64) float64 { return 1.04 * math.Sqrt(n) }, Undecided, "; c = 1.04 over the larger half"},
		{"√N + 5", func(n float64) float64 { return math.Sqrt(n) + 5 }, Holds, "c = 1 ±"},
		{"√N − 3/√N", func(n float64) float64 { return math.Sqrt(n) - 3/math.Sqrt(n) }, Holds, "over the larger half"},
		{"1.06√N", func(n float64) float64 { return 1.06 * math.Sqrt(n) }, Fails, "c = 1.06"},
	} {
		q := asked(dme.Claim{Kind: dme.Asymptotic, Formula: "√N", Load: dme.Light, Growth: dme.Growth{Exponent: 0.5}})
		v := q.Judge(sized(result.Sim, x.of, math.Sqrt, sizes...))
		if v.Verdict != x.want || !strings.Contains(v.Text, x.says) {
			t.Errorf("%s: %q, want %s … %q", x.name, v.Text, x.want, x.says)
		}
	}
}
