package claims

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/runs"
	"dmebench/stats"
)

// What a fit rests on: values by condition and network, in the order of sizes, and
// growths other than the claimed one.
func TestSeriesAndRivals(t *testing.T) {
	five := 5.0
	of := func(condition, transport string, nodes int, values ...float64) Evidence {
		return Evidence{Point{Condition: condition, Transport: transport, Nodes: nodes, Predicted: float64(nodes), Max: &five}, values}
	}
	all := asked(dme.Claim{Load: dme.Light}).seriesOf([]Evidence{
		of("serial", "sim", 9, 3, 1), of("serial", "tcp", 9, 7), of("serial", "sim", 4, 2), of("burst", "sim", 4, 8),
	})
	var got [][]float64
	for _, s := range all {
		got = append(got, s.n, s.y)
	}
	want := [][]float64{{4, 9, 9}, {2, 1, 3}, {9}, {7}, {4}, {8}}
	if !slices.EqualFunc(got, want, slices.Equal[[]float64]) ||
		all[1].transport != "tcp" || all[1].condition != "serial" || all[2].condition != "burst" {
		t.Errorf("series %v, want %v", got, want)
	}
	if s := all[0].sizes(); !slices.Equal(s, []int{4, 9}) || all[0].claimed[9] != 9 || all[0].mean(9) != 2 {
		t.Errorf("sizes %v, f(9) = %v, mean %v", s, all[0].claimed[9], all[0].mean(9))
	}
	for name, claimed := range map[string]struct {
		dme.Growth
		ratio float64 // of what is claimed for N = 64 to that for N = 4
	}{"√N": {dme.Growth{Exponent: 0.5}, 4}, "log N": {dme.Growth{Log: true}, 3}, "N": {dme.Growth{Exponent: 1}, 16}} {
		others := rivals(claimed.Growth)
		kept := len(others)
		for _, g := range others {
			if ratio := g.Of(64) / g.Of(4); math.Abs(ratio-claimed.ratio) < 1e-9 {
				t.Errorf("%s competes with itself, as %s", name, g.Name)
			}
		}
		if total := len(rivals(dme.Growth{Exponent: 77})); kept != total-1 {
			t.Errorf("%s has %d rivals of %d growths", name, kept, total)
		}
	}
	residuals := residualsOf([]float64{4, 9, 9}, []float64{1, 2, 4})
	if !slices.Equal(residuals, []Residual{{4, 1}, {9, 3}}) {
		t.Errorf("residuals %v", residuals)
	}
}

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
		q := asked(dme.Claim{Kind: dme.Asymptotic, Formula: "√N", Load: dme.Light, Growth: dme.Growth{Exponent: 0.5}})
		v := q.Judge(sized(runs.Sim, x.of, math.Sqrt, sizes...))
		if v.Verdict != x.want || !strings.Contains(v.Text, x.says) {
			t.Errorf("%s: %q, want %s … %q", x.name, v.Text, x.want, x.says)
		}
	}
}

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

// A growth is judged by its coefficient and its rivals; what it is granted is named.
func TestEdgesOfAGrowth(t *testing.T) {
	fitted := func(c, lo, hi float64) stats.Fit {
		return stats.Fit{Growth: stats.Growth{Name: "f", Of: func(n float64) float64 { return n }}, C: stats.Interval{Value: c, Lo: lo, Hi: hi}}
	}
	claimed, order := dme.Growth{Exponent: 1}, dme.Growth{Exponent: 1, Order: true}
	for _, x := range []struct {
		name    string
		growth  dme.Growth
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
		{"an order beaten by a faster one", order, 7, 1, 700, 2.01, true, 7, Differs, 0},
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
		claim  dme.Claim
		static bool
	}{{dme.Claim{Load: dme.Static}, true}, {dme.Claim{Load: dme.Light, Measure: measure}, true}, {dme.Claim{Load: dme.Light}, false}} {
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
	q := asked(dme.Claim{Formula: "N", Kind: dme.Asymptotic, Load: dme.Light, Growth: dme.Growth{Exponent: 1}})
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
	known.Claim.KnownFalse, known.Claim.Growth = "why", dme.Growth{Exponent: 0.5}
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

func TestGrowth(t *testing.T) {
	points := func(f func(n float64) float64, claimed func(n float64) float64) (all []Evidence) {
		for _, n := range []int{7, 13, 31, 57, 133, 307, 993} {
			y := f(float64(n))
			all = append(all, Evidence{Point{Nodes: n, Predicted: claimed(float64(n)), Mean: &y, Max: &y}, []float64{y}})
		}
		return all
	}
	root, log := math.Sqrt, math.Log2
	like := func(exponent float64, order bool) dme.Growth {
		return dme.Growth{Exponent: exponent, Log: exponent == 0, Order: order}
	}
	for _, x := range []struct {
		growth     dme.Growth
		f, claimed func(n float64) float64
		want       Status
	}{
		{like(0.5, false), func(n float64) float64 { return 3*root(n) - 1.5 + 0.01*math.Sin(n) },
			func(n float64) float64 { return 3 * root(n) }, Holds},
		{like(0.5, false), func(n float64) float64 { return 4*root(n) - 4 + 0.01*math.Sin(n) },
			func(n float64) float64 { return 3 * root(n) }, Fails},
		{like(0, true), func(n float64) float64 { return 2*log(n) + 0.01*math.Sin(n) }, log, Holds},
		{like(0, true), func(n float64) float64 { return root(n) + 0.01*math.Sin(n) }, log, Fails},
		{like(0.5, true), func(n float64) float64 { return log(n) + 0.01*math.Sin(n) }, root, Holds},
	} {
		q := asked(dme.Claim{Formula: "f(N)", Kind: dme.Asymptotic, Load: dme.Static, Growth: x.growth})
		if v := q.Judge(points(x.f, x.claimed)); v.Verdict != x.want {
			t.Errorf("%+v: %s, want %s", x.growth, v.Text, x.want)
		}
	}
	q := asked(dme.Claim{Formula: "3√N", Kind: dme.Asymptotic, Load: dme.Static, Growth: like(0.5, false)})
	if v := q.Judge(points(root, root)[:4]); v.Verdict != NotRun {
		t.Errorf("four sizes: %s", v.Text)
	}
	// The worst case is the largest value of each size, whatever the condition.
	worst := asked(dme.Claim{Formula: "3√N", Kind: dme.Asymptotic, Load: dme.Worst, Growth: like(0.5, false)})
	below := points(func(n float64) float64 { return root(n) }, func(n float64) float64 { return 3 * root(n) })
	reached := points(func(n float64) float64 { return 3 * root(n) }, func(n float64) float64 { return 3 * root(n) })
	for i := range below {
		below[i].Condition, reached[i].Condition = "burst", "serial"
	}
	if v := worst.Judge(append(below, reached...)); v.Verdict != Holds || len(v.Fits) != 1 || v.Fits[0].Condition != searched {
		t.Errorf("the worst case: %s", v.Text)
	}
}
