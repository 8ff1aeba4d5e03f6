package claims

import (
	"math"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/runs"
	"dmebench/stats"
)

// At a limit itself a mean is still within it. The numbers are such that nothing is lost
// in rounding.
func TestLimitsThemselves(t *testing.T) {
	granted := func(size float64) Tolerance { return Tolerance{Size: size, Reason: "of this"} }
	for _, x := range []struct {
		name string
		of   estimate // of 1
		t    Tolerance
		want Standing
	}{
		{"an interval of the resolution", estimate{mean: 1, half: resolution + reached, family: 1, known: true}, Tolerance{}, Agrees},
		{"one that is wider", estimate{mean: 1, half: 0.031, family: 1, known: true}, Tolerance{}, Open},
		{"off by the tolerance", estimate{mean: 1.25, known: true}, granted(0.25), Open},
		{"off by the tolerance beyond the interval", estimate{mean: 1.375, half: 0.125, family: 0.125, known: true}, granted(0.25), Open},
		{"off by more", estimate{mean: 1.375 + 1e-8, half: 0.125, family: 0.125, known: true}, granted(0.25), Differs},
		{"a tolerance that ends at the resolution", estimate{mean: 1 + resolution/2, known: true}, granted(resolution / 2), Agrees},
		{"one that is wider", estimate{mean: 1 + resolution/2, known: true}, granted(resolution/2 + 1e-8), Open},
		{"one that is as wide with the interval", estimate{mean: 1.01, half: 0.008, family: 0.008, known: true}, granted(0.01), Agrees},
		{"one that is wider with the interval", estimate{mean: 1.01, half: 0.009, family: 0.009, known: true}, granted(0.012), Open},
		{"at the end of the family's interval", estimate{mean: 1.5, half: 0.25, family: 0.5, known: true}, Tolerance{}, Open},
		{"just outside it", estimate{mean: 1.5 + 1e-8, half: 0.25, family: 0.5, known: true}, Tolerance{}, Differs},
		{"outside by the tolerance", estimate{mean: 1.5, half: 0.25, family: 0.375, known: true}, granted(0.125), Open},
		{"outside by more", estimate{mean: 1.625, half: 0.25, family: 0.375, known: true}, granted(0.125), Differs},
		{"one run that is exactly right, and no tolerance", estimate{mean: 1}, Tolerance{}, Open},
	} {
		p := Point{Predicted: 1, Standing: Differs}
		if p.compareMean(&x.of, x.t); p.Standing != x.want {
			t.Errorf("%s: %s (%s), want %s", x.name, p.Standing, p.How, x.want)
		}
	}
	for _, x := range []struct {
		name   string
		beyond float64 // the bound, which is 1
		of     estimate
		t      Tolerance
		want   Standing
		how    string
	}{
		{"in the interval, which ends at the resolution", 1. / 128, estimate{half: resolution - 1./128, family: 1, known: true}, Tolerance{},
			Agrees, "on average"},
		{"at the end of the interval", 1. / 128, estimate{half: 1. / 128, family: 1, known: true}, Tolerance{}, Agrees, "on average"},
		{"beyond by less than the tolerance", 0.125, estimate{half: 0.0625, family: 0.0625, known: true}, granted(0.25), Open,
			", within a tolerance of 25%"},
		{"beyond by a small tolerance", 0.01, estimate{known: true}, granted(0.01), Agrees, ", within a tolerance of 1%"},
		{"not exact enough for it", 0.125, estimate{half: 0.5, family: 0.5, known: true}, granted(0.25), Open, "which may be chance"},
		{"one run", 0.5, estimate{}, granted(0.25), Open, "which may be chance"},
		{"at the end of the family's interval", 0.5, estimate{half: 0.25, family: 0.5, known: true}, Tolerance{}, Open, "which may be chance"},
		{"outside by the tolerance", 0.5, estimate{half: 0.25, family: 0.375, known: true}, granted(0.125), Open, "which may be chance"},
		{"outside by more", 0.625, estimate{half: 0.25, family: 0.375, known: true}, granted(0.125), Differs, "on average"},
	} {
		for kind, side := range map[dme.ClaimKind]float64{dme.UpperBound: 1, dme.LowerBound: -1} {
			p, e := Point{Predicted: 1, Standing: Differs}, x.of
			e.mean = 1 + side*x.beyond
			p.compareBound(kind, &e, x.t)
			if p.Standing != x.want || !strings.HasPrefix(p.How, "on average at ") || !strings.Contains(p.How, x.how) {
				t.Errorf("%s, %s: %s (%s), want %s (%s)", kind, x.name, p.Standing, p.How, x.want, x.how)
			}
			if within := strings.Contains(p.How, "within"); within != (p.Tolerance > 0) || within != (p.ToleranceFor == "of this") {
				t.Errorf("%s, %s: %q by a tolerance of %v for %q", kind, x.name, p.How, p.Tolerance, p.ToleranceFor)
			}
		}
	}
}

// How far off a prediction is follows from the value that is furthest away, and is
// relative to what was predicted; for a bound, only what is beyond it counts.
func TestHowFarOff(t *testing.T) {
	for _, x := range []struct {
		kind                   dme.ClaimKind
		predicted, least, most float64
		off                    float64
		closest                float64 // NaN for none
	}{
		{dme.Exact, 10, 8, 11, 0.2, math.NaN()}, {dme.Exact, 10, 9, 13, 0.3, math.NaN()}, {dme.Exact, 0, 0, 3, 3e9, math.NaN()},
		{dme.UpperBound, 10, 2, 13, 0.3, math.NaN()}, {dme.UpperBound, 10, 2, 8, -0.2, 0.8},
		{dme.LowerBound, 10, 8, 99, 0.2, math.NaN()}, {dme.LowerBound, 10, 16, 99, -0.6, 0.625},
		// A bound of 0 is reached by 0 alone; one that is kept from the other side of 0 is not near.
		{dme.UpperBound, 5, 0, 0, -1, 0}, {dme.UpperBound, 5, -9, -5, -2, math.NaN()}, {dme.LowerBound, -5, 5, 9, -2, math.NaN()},
		// Reached is what differs by rounding: of large numbers by a part of them, of small ones by little.
		{dme.UpperBound, 1e6, 1, 1e6 - 1e-4, -1e-10, 1}, {dme.UpperBound, 1e6, 1, 1e6 - 0.01, -1e-8, 1 - 1e-8},
		{dme.UpperBound, 0.5, 0, 0.5 - 8e-10, -1.6e-9, 1}, {dme.UpperBound, 1e-9, 0, 0, -1, 1},
	} {
		s := sample{means: []float64{x.least, x.most}, least: x.least, most: x.most}
		p := s.point(x.kind, x.predicted)
		if math.Abs(p.Off-x.off) > 1e-12*max(1, math.Abs(x.off)) {
			t.Errorf("%s of %v, from %v to %v: off by %v, want %v", x.kind, x.predicted, x.least, x.most, p.Off, x.off)
		}
		none := math.IsNaN(x.closest)
		if (p.Closest == nil) != none || !none && (math.Abs(*p.Closest-x.closest) > 1e-12 || (*p.Closest == 1) != (x.closest == 1)) {
			t.Errorf("%s of %v, from %v to %v: close by %v, want %v", x.kind, x.predicted, x.least, x.most, p.Closest, x.closest)
		}
	}
}

// Two entries at the edges of the steady part are granted where all runs are the same,
// and nothing wider is granted already.
func TestToleranceOfEdges(t *testing.T) {
	same, scattered, single := &estimate{mean: 1, known: true}, &estimate{mean: 1, half: 0.1, known: true}, &estimate{mean: 1}
	for _, x := range []struct {
		name    string
		e       *estimate
		entries uint64
		other   float64
		want    float64
		reason  string
	}{
		{"the same runs", same, 100, 0, 0.02, becauseOfEdges}, {"one entry", same, 1, 0, 2, becauseOfEdges},
		{"whole runs", same, 0, 0.01, 0.01, "other"}, {"as much is granted", same, 100, 0.02, 0.02, "other"},
		{"more is granted", same, 100, 0.05, 0.05, "other"}, {"less is granted", same, 100, 0.01, 0.02, becauseOfEdges},
		{"runs that differ", scattered, 100, 0.01, 0.01, "other"}, {"a single run", single, 100, 0.01, 0.01, "other"},
	} {
		s := sample{entries: x.entries, tolerance: Tolerance{Size: x.other, Reason: "other"}}
		if got := s.toleranceOf(x.e); got.Size != x.want || got.Reason != x.reason {
			t.Errorf("%s: %v for %q, want %v for %q", x.name, got.Size, got.Reason, x.want, x.reason)
		}
	}
}

// However few means there are beside it, one is refuted only outside its own interval; of
// a thousand it is so by the interval that all are outside of together.
func TestFewMeansInAFamily(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5, 6}
	for compared, want := range map[int]float64{0: 1, 1: 1, 10: 1, 1000: wider} {
		if e := estimateOf(x, compared); math.Abs(e.family-want*e.half) > 1e-3 {
			t.Errorf("of %d means: refuted outside ± %v, and unknown outside ± %v", compared, e.family, e.half)
		}
	}
	c := Cell{Spec: runs.Spec{Nodes: 4, Requests: 1000, Transport: runs.Sim}, Isolated: true, Results: runsWith(spread(1.02, 0.01), 0)}
	claim := dme.Claim{Kind: dme.Mean, Quantity: dme.MessagesPerCS}
	for compared, want := range map[int]Standing{1: Differs, 1000: Open} {
		c.Compared = compared
		if e, ok := c.Compare(claim, 1); !ok || e.Standing != want {
			t.Errorf("twice as far off as the interval is wide, of %d means: %s (%s), want %s", compared, e.Standing, e.How, want)
		}
	}
}

// One run has no interval; extremes are those of the runs, also below 0; and the points of
// a growth, which are judged together, are granted nothing on their own.
func TestPointsOfACell(t *testing.T) {
	c := Cell{Spec: runs.Spec{Nodes: 4, Requests: 1000, Transport: "tcp"}, Results: runsWith([]float64{1}, 0)}
	e, ok := c.Compare(dme.Claim{Kind: dme.Mean, Quantity: dme.MessagesPerCS}, 1)
	if !ok || e.Lo != nil || e.Hi != nil || *e.Mean != 1 || e.Runs != 1 {
		t.Errorf("of one run: %+v", e.Point)
	}
	own := dme.Quantity{ID: "own"}
	c.Results = []*runs.Result{{Figures: map[string]float64{"own": -3}}, {Figures: map[string]float64{"own": -5}}}
	if e, ok := c.Compare(dme.Claim{Kind: dme.UpperBound, Quantity: own}, 0); !ok || *e.Min != -5 || *e.Max != -3 || e.How != "at most −3" {
		t.Errorf("a figure below 0: %+v", e.Point)
	}
	c.Setting.Nodes, c.Results = 4, runsWith([]float64{1.1, 1.1}, 0)
	for kind, granted := range map[dme.ClaimKind]float64{dme.Mean: ofTimes, dme.Asymptotic: 0} {
		claim := dme.Claim{Kind: kind, Quantity: dme.ResponseTime, Predict: of(1)}
		if e, ok := c.Compare(claim, 1); !ok || e.Tolerance != granted {
			t.Errorf("%s: a time that is off by 10%% is granted %v, want %v", kind, e.Tolerance, granted)
		}
	}
}

// Single delays are told where they are longer than the claim has them on average, by
// more than a hundredth.
func TestSingleDelays(t *testing.T) {
	c := Cell{Spec: runs.Spec{Nodes: 4, Transport: runs.Sim}}
	claim := dme.Claim{Kind: dme.Mean, Quantity: dme.SyncDelay}
	for longest, told := range map[float64]string{0.5: "", 1: "", 1.01: "", 1.011: "; single delays reach 1.011T", 1.09: "reach 1.09T"} {
		c.Results = []*runs.Result{delayed(1, 1, 1, longest), delayed(1, 1, 1, 0.25)}
		e, ok := c.Compare(claim, 1)
		if !ok || !strings.HasSuffix(e.How, told) || told == "" && strings.Contains(e.How, "single") {
			t.Errorf("a single delay of %vT: %q, want %q", longest, e.How, told)
		}
	}
}

// Over a real network T and E are means over the runs that tell both of them; where none
// does, nothing is compared.
func TestRunsThatDoNotTellT(t *testing.T) {
	claim := dme.Claim{Kind: dme.Mean, Quantity: dme.ResponseTime, Predict: func(s dme.Setting) (float64, bool) {
		return (s.T + 10*s.E).Seconds(), true
	}}
	c := Cell{Spec: runs.Spec{Nodes: 4, Transport: "tcp"}}
	without, held := delayed(2, 1, 2, 2), delayed(2, 1, 2, 2)
	without.T, held.CS = nil, nil
	c.Results = []*runs.Result{delayed(2, 1, 2, 2), without, held, delayed(4, 3, 4, 4)}
	want := (3*time.Millisecond + 20*time.Millisecond).Seconds()
	if e, ok := c.Compare(claim, 99); !ok || math.Abs(e.Predicted-want) > 1e-12 || e.Runs != 4 {
		t.Errorf("of four runs, of which two tell T and E: %v, want %v", e.Predicted, want)
	}
	c.Results = []*runs.Result{without, held}
	if e, ok := c.Compare(claim, 99); ok {
		t.Errorf("where no run tells both: %v is predicted", e.Predicted)
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
	broken := sized(runs.Sim, math.Sqrt, func(float64) float64 { return math.Inf(1) }, 4, 9, 16, 36, 64, 100)
	if v := q.Judge(broken); v.Verdict != NotRun || len(v.Fits) != 0 {
		t.Errorf("a formula that gives no number: %s", v.Text)
	}
	if v := q.Judge(sized(runs.Sim, math.Sqrt, math.Sqrt, 4, 9, 16, 100)); len(v.Fits) != 0 || !strings.Contains(v.Text, "there are 4") {
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
