package claims

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/runs"
	"dmebench/stats"
)

// The growth of messages is described as measured, whatever is claimed of it.
func TestScaling(t *testing.T) {
	var s Series
	for _, n := range []int{400, 4, 9, 100, 25} {
		s.Add(n, 2+3*math.Sqrt(float64(n)))
	}
	var x Scaling
	if !s.Scaling(&x) || x.Best == "" ||
		math.Abs(x.C.Value-3) > 1e-6 || math.Abs(x.A.Value-2) > 1e-6 || math.Abs(x.Exponent.Value-0.5) > 1e-2 {
		t.Errorf("2 + 3√N is described as %s: %v + %v·f, exponent %v", x.Best, x.A.Value, x.C.Value, x.Exponent)
	}
	if few := (&Series{n: []float64{4, 400}, y: []float64{1, 2}}); few.Scaling(&x) {
		t.Error("two sizes are described")
	}
	p := ScalingPointOf(64, []float64{47, 49}, 8)
	if p.Nodes != 64 || p.Runs != 2 || p.PerCS != 48 || p.PerSqrtN != 6 ||
		math.Abs(p.PerCubeRoot-12) > 1e-9 || p.PerLogN != 8 || *p.PerMember != 6 {
		t.Errorf("%+v", p)
	}
	if p := ScalingPointOf(64, []float64{48}, math.NaN()); p.PerMember != nil {
		t.Errorf("without request sets, %v per member", *p.PerMember)
	}
}

// A growth of constructions has no condition, and what cannot be fitted is no evidence.
func TestGrowthsOfConstructions(t *testing.T) {
	q := asked(claim.Claim{
		Quantity: claim.QuorumSize, Kind: claim.Asymptotic, Formula: "2√N", Load: claim.Static, Growth: claim.Growth{Exponent: 0.5},
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
	broken := sized(runs.Sim, math.Sqrt, func(float64) float64 { return math.Inf(1) }, 4, 9, 16, 36, 64, 100)
	if v := q.Judge(broken); v.Verdict != NotRun || len(v.Fits) != 0 {
		t.Errorf("a formula that gives no number: %s", v.Text)
	}
	if v := q.Judge(sized(runs.Sim, math.Sqrt, math.Sqrt, 4, 9, 16, 100)); len(v.Fits) != 0 || !strings.Contains(v.Text, "there are only 4") {
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
		q := asked(claim.Claim{Kind: claim.Asymptotic, Formula: "√N", Load: claim.Light, Growth: claim.Growth{Exponent: 0.5}})
		v := q.Judge(sized(runs.Sim, x.of, math.Sqrt, sizes...))
		if v.Verdict != x.want || !strings.Contains(v.Text, x.says) {
			t.Errorf("%s: %q, want %s … %q", x.name, v.Text, x.want, x.says)
		}
	}
}

// A growth is judged by its coefficient and its rivals; what it is granted is named.
func TestEdgesOfAGrowth(t *testing.T) {
	fitted := func(c, lo, hi float64) stats.Fit {
		return stats.Fit{Growth: stats.Growth{Name: "f", Of: func(n float64) float64 { return n }}, C: stats.Interval{Value: c, Lo: lo, Hi: hi}}
	}
	claimed, order := claim.Growth{Exponent: 1}, claim.Growth{Exponent: 1, Order: true}
	for _, x := range []struct {
		name    string
		growth  claim.Growth
		c, half float64
		last    float64 // measured at the largest size, where the fit has 100c
		behind  float64 // of a rival, by AICc
		faster  bool
		larger  float64 // c over the larger half of the systems
		want    Standing
		granted float64
	}{
		{"as claimed", claimed, 1, 0, 100, 0, false, 7, Agrees, 0},
		{"in the interval", claimed, 1.2, 0.21, 120, 0, false, 7, Agrees, 0},
		{"just within the tolerance", claimed, 1.0499, 0.01, 105, 0, false, 1.0249, Agrees, 0.05},
		{"within it, and as far off at the largest", claimed, 1.0499, 0.01, 105, 0, false, 1.026, Open, 0.05},
		{"just beyond it", claimed, 1.0501, 0.01, 105, 0, false, 7, Differs, 0},
		{"just within it below", claimed, 0.9501, 0.01, 95, 0, false, 0.976, Agrees, 0.05},
		{"just beyond it below", claimed, 0.9499, 0.01, 95, 0, false, 7, Differs, 0},
		{"beaten, but hardly", claimed, 1, 0, 50, 1.99, false, 7, Agrees, 0},
		{"beaten, and yet close to the largest", claimed, 1, 0, 100 / 1.0499, 2.01, false, 7, Agrees, 0.05},
		{"beaten, and not close", claimed, 1, 0, 100 / 1.0501, 2.01, false, 7, Differs, 0},
		{"an order that nothing beats", order, 7, 1, 700, 0, false, 7, Agrees, 0},
		{"an order beaten by a slower one", order, 7, 1, 700, 9, false, 7, Agrees, 0},
		{"an order hardly beaten by a faster one", order, 7, 1, 700, 1.99, true, 7, Agrees, 0},
		{"an order beaten by a faster one, but not refuted", order, 7, 1, 700, 2.01, true, 7, Open, 0},
		{"an order just not refuted by a faster one", order, 7, 1, 700, 9.99, true, 7, Open, 0},
		{"an order refuted by a faster one", order, 7, 1, 700, 10.01, true, 7, Differs, 0},
	} {
		own := fitted(x.c, x.c-x.half, x.c+x.half)
		own.Delta = x.behind
		rival := stats.Fit{Growth: stats.Growth{Name: "rival", Of: math.Sqrt}}
		if x.faster {
			rival.Growth.Of = func(n float64) float64 { return n * n }
		}
		ranking := []stats.Fit{own, rival}
		if x.behind > 0 {
			ranking = []stats.Fit{rival, own}
		}
		f := Fit{}
		f.Standing = f.judge(x.growth, &Series{n: []float64{10, 100}, y: []float64{10 * x.c, x.last}}, own, ranking, x.larger)
		if f.Standing != x.want || f.Tolerance != x.granted || (f.ToleranceFor != "") != (x.granted > 0) {
			t.Errorf("%s: %v (%s), granted %v for %q", x.name, f.Standing, f.How, f.Tolerance, f.ToleranceFor)
		}
	}
	series := func(sizes ...float64) *Series { return &Series{n: sizes, y: sizes} }
	for _, x := range []struct {
		s    *Series
		want bool
	}{
		{series(10, 20, 30, 50, 100), true}, {series(10, 30, 50, 100), false}, {series(10, 20, 30, 50, 99), false},
	} {
		if got := x.s.enough(); got != x.want {
			t.Errorf("%v are enough sizes: %v", x.s.n, got)
		}
	}
}

// Whether a construction or runs answer follows from the claim, and a growth that was
// not measured over a real network says so.
func TestWhatAnswers(t *testing.T) {
	measure := func(dme.Setting) (float64, bool) { return 0, true }
	for _, x := range []struct {
		claim  claim.Claim
		static bool
	}{
		{claim.Claim{Load: claim.Static}, true}, {claim.Claim{Load: claim.Light, Measure: measure}, true},
		{claim.Claim{Load: claim.Light}, false},
	} {
		if got := asked(x.claim).Static(); got != x.static {
			t.Errorf("%+v is static: %v", x.claim, got)
		}
	}
	if got := RareRate(8, time.Millisecond, time.Millisecond); math.Abs(got-1/0.11) > 1e-9 {
		t.Errorf("requests are rare at %v per second", got)
	}
	if got := BusyRate(time.Millisecond, time.Millisecond); math.Abs(got-0.5/0.003) > 1e-9 {
		t.Errorf("several wait at %v per second", got)
	}
	q := asked(claim.Claim{Formula: "N", Kind: claim.Asymptotic, Load: claim.Light, Growth: claim.Growth{Exponent: 1}})
	q.Network = "tcp"
	var points []Evidence
	for _, n := range []int{10, 20, 40, 80, 160} {
		y := float64(n)
		points = append(points, Evidence{Point{Condition: "serial", Transport: "sim", Nodes: n, Predicted: y, Mean: &y, Max: &y}, []float64{y}})
	}
	if v := q.Judge(points); v.Verdict != Holds || !strings.Contains(v.Text, "over tcp not run (--quick)") {
		t.Errorf("a growth that was not measured over tcp: %s", v.Text)
	}
	known := *q
	known.Claim.KnownFalse, known.Claim.Growth = "why", claim.Growth{Exponent: 0.5}
	bent := slices.Clone(points)
	for i := range bent {
		bent[i].Predicted = math.Sqrt(float64(bent[i].Nodes))
	}
	if v := known.Judge(bent); v.Verdict != KnownFalse || !strings.Contains(v.Text, ": why (shown: fails") {
		t.Errorf("a growth that is known to be false: %s", v.Text)
	}
	if v := known.Judge(points); v.Verdict != NotShown || v.Detail != ": why" {
		t.Errorf("a growth that is known to be false, and is not shown to be: %s", v.Text)
	}
	for i := range points {
		points = append(points, points[i])
		points[len(points)-1].Transport = "tcp"
	}
	if v := q.Judge(points); v.Verdict != Holds || strings.Contains(v.Text, "not run") || len(v.Fits) != 2 {
		t.Errorf("a growth that was: %s", v.Text)
	}
	if q.Network = ""; strings.Contains(q.Judge(points[:5]).Text, "not run") {
		t.Error("where no network is asked for, one is missing")
	}
}

// The worst case is the largest value of each size, whatever the condition.
func TestGrowthOfTheWorstCase(t *testing.T) {
	root := func(c float64) func(float64) float64 { return func(n float64) float64 { return c * math.Sqrt(n) } }
	sizes := []int{7, 13, 31, 57, 133, 307, 993}
	q := asked(claim.Claim{Formula: "3√N", Kind: claim.Asymptotic, Load: claim.Worst, Growth: claim.Growth{Exponent: 0.5}})
	claimed := root(3 * 1.005) // of the values at a size the largest is so much above what they are about
	below, reached := sized(runs.Sim, root(1), claimed, sizes...), sized(runs.Sim, root(3), claimed, sizes...)
	for i := range below {
		below[i].Condition = "burst"
	}
	v := q.Judge(append(below, reached...))
	if v.Verdict != Holds || len(v.Fits) != 1 || v.Fits[0].Condition != searched {
		t.Errorf("the worst case: %s", v.Text)
	}
}
