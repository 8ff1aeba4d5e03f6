package claims

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/runs"
	"dmebench/stats"
)

// runsWith are runs that measured one mean of messages per CS, and as much of response
// time in seconds, in whole runs or in their steady parts of so many entries.
func runsWith(means []float64, steady uint64) (all []*runs.Result) {
	for _, x := range means {
		delay, hold, entries := 1e6, 1e5, uint64(1_000_000)
		r := &runs.Result{Status: runs.OK, Entries: entries, T: &delay, CS: &hold}
		r.ResponseTime = &runs.Quantiles{Count: entries, Mean: 1e9 * x}
		r.Messages.PerCS, r.Work.MaxOverMean = &x, &x
		if steady > 0 {
			response := 1e9 * x
			r.Steady = &runs.Steady{Entries: steady, Response: &response}
		}
		all = append(all, r)
	}
	return all
}

// Each tolerance is as wide as it is said to be: a mean just within it does not differ
// because of it and says so, and one just beyond it differs. What is within a narrow one
// agrees, and within a wide one nothing can be told. Where none is of need there is none.
func TestTolerancesAreAsWideAsTheySay(t *testing.T) {
	const nodes, requests, steady = 10, 2000, 1000
	real, simulated := "tcp", runs.Sim
	for _, x := range []struct {
		name      string
		cell      Cell
		transport string
		quantity  dme.Quantity
		steady    uint64
		size      float64
		reason    string
	}{
		{"times over a real network", Cell{}, real, dme.ResponseTime, 0, 0.20, becauseOfTimes},
		{"ends of a real run", Cell{}, real, dme.MessagesPerCS, 0, 3.0 * nodes / requests, becauseOfEnds},
		{"ends of a simulation without a steady part", Cell{}, simulated, dme.MessagesPerCS, 0, 3.0 * nodes / requests, becauseOfEnds},
		{"first requests of nodes that learn", Cell{Isolated: true, Dynamic: true}, real, dme.MessagesPerCS, 0,
			1.0 * nodes / requests, becauseOfFirst},
		{"the busiest node", Cell{Isolated: true}, simulated, dme.WorkSpread, 0, 0.05, becauseOfBusiest},
		{"equal runs", Cell{}, simulated, dme.ResponseTime, steady, 2.0 / steady, becauseOfEdges},
		{"equal runs of isolated requests", Cell{Isolated: true}, simulated, dme.MessagesPerCS, 0, 0, ""},
	} {
		c := x.cell
		c.Spec = runs.Spec{Nodes: nodes, Requests: requests, Transport: x.transport}
		claim := dme.Claim{Kind: dme.Mean, Quantity: x.quantity, Predict: func(dme.Setting) (float64, bool) { return 100, true }}
		within := Agrees
		if 2*x.size > resolution {
			within = Open
		}
		for _, side := range []float64{-1, 1} {
			for _, y := range []struct {
				off       float64
				want      Standing
				tolerance float64
			}{
				{0, Agrees, 0}, {max(0, x.size*0.999), within, x.size}, {x.size*1.001 + 1e-8, Differs, 0},
			} {
				mean := 100 * (1 + side*y.off)
				c.Results = runsWith([]float64{mean, mean, mean}, x.steady)
				e, ok := c.Compare(claim, 100)
				if !ok || e.Standing != y.want || math.Abs(e.Tolerance-y.tolerance) > 1e-12 || e.Tolerance > 0 && e.ToleranceFor != x.reason {
					t.Errorf("%s, off by %v%%: %s (%s), tolerance %v for %q; want %s with %v", x.name, 100*side*y.off, e.Standing, e.How,
						e.Tolerance, e.ToleranceFor, y.want, y.tolerance)
				}
			}
		}
	}
}

// Of two tolerances that apply the wider one does, and each is finite.
func TestTheWiderTolerance(t *testing.T) {
	for requests, want := range map[int]Tolerance{
		100: {Size: 0.3, Reason: becauseOfEnds}, 10_000: {Size: 0.05, Reason: becauseOfBusiest}, 0: {Size: 30, Reason: becauseOfEnds},
	} {
		c := Cell{Spec: runs.Spec{Nodes: 10, Requests: requests, Transport: runs.Sim}, Results: runsWith([]float64{1}, 0)}
		if got := c.tolerance(dme.WorkSpread); math.Abs(got.Size-want.Size) > 1e-12 || got.Reason != want.Reason {
			t.Errorf("%d requests: %v, want %v", requests, got, want)
		}
	}
}

// spread returns six values with this mean and half width of their interval.
func spread(mean, half float64) []float64 {
	unit := []float64{-1, -1, -1, 1, 1, 1}
	e := estimateOf(unit, 1)
	x := make([]float64, len(unit))
	for i, u := range unit {
		x[i] = mean + u*half/e.half
	}
	return x
}

// A mean agrees only where its interval holds the prediction and nothing that is 3%
// away; else it is open until the interval of the family excludes the prediction.
func TestEdgesOfAnInterval(t *testing.T) {
	for _, x := range []struct {
		off, half float64 // relative to the prediction
		want      Standing
	}{
		{0, 0.0299, Agrees}, {0, 0.0301, Open},
		{0.01, 0.0199, Agrees}, {0.01, 0.0201, Open}, {-0.01, 0.0199, Agrees}, {-0.01, 0.0201, Open},
		{0.00999, 0.01, Agrees}, {0.01001, 0.01, Open}, {-0.01001, 0.01, Open},
		{0.01 * 0.999 * wider, 0.01, Open}, {0.01 * 1.001 * wider, 0.01, Differs}, {-0.01 * 1.001 * wider, 0.01, Differs},
		{1e-10, 0, Agrees}, {1e-8, 0, Differs},
	} {
		s := sample{means: spread(50*(1+x.off), 50*x.half), compared: 1000}
		if p := s.point(dme.Mean, 50); p.Standing != x.want {
			t.Errorf("off by %v with a half width of %v: %s (%s), want %s", x.off, x.half, p.Standing, p.How, x.want)
		}
	}
	for _, x := range []struct {
		beyond, half float64
		want         Standing
	}{
		{0, 0.5, Agrees}, {1e-8, 0, Differs}, {0.0149, 0.015, Agrees}, {0.0151, 0.015, Open}, {0.0149, 0.0152, Open},
		{0.015 * 0.999 * wider, 0.015, Open}, {0.015 * 1.001 * wider, 0.015, Differs},
	} {
		for kind, side := range map[dme.ClaimKind]float64{dme.UpperBound: 1, dme.LowerBound: -1} {
			s := sample{means: spread(50*(1+side*x.beyond), 50*x.half), timed: true, compared: 1000}
			if p := s.point(kind, 50); p.Standing != x.want {
				t.Errorf("%s, beyond it by %v with a half width of %v: %s (%s), want %s", kind, x.beyond, x.half, p.Standing, p.How, x.want)
			}
		}
	}
}

// wider is by how much the interval of one of a thousand means is wider, with five
// degrees of freedom: Student's quantiles for 10⁻⁵ and 10⁻³ outside are 17.8966 and
// 6.8688 (both sides).
const wider = 17.8966 / 6.8688

// Where all means are as predicted, one is called wrong in so few validations as is
// declared; a mean that is wrong by 3% is never called right.
func TestHowOftenTheJudgeErrs(t *testing.T) {
	const (
		families, means, runs = 300, 40, 6
		scatter               = 0.01 // of the mean of a run
	)
	rng := rand.New(rand.NewPCG(1, 2))
	// Means of runs are nearly normal; those of few skewed times are less so.
	draws := map[string]func(mean float64) float64{
		"normal": func(mean float64) float64 { return mean * (1 + scatter*rng.NormFloat64()) },
		"skewed": func(mean float64) float64 {
			sum := 0.0
			for range 20 {
				sum += rng.ExpFloat64()
			}
			return mean * sum / 20
		},
	}
	for name, draw := range draws {
		alarms, missed, outside := 0, 0, 0
		for range families {
			alarm := false
			for range means {
				x := make([]float64, runs)
				for i := range x {
					x[i] = draw(1)
				}
				s := sample{means: x, compared: means}
				p := s.point(dme.Mean, 1)
				alarm = alarm || p.Standing == Differs
				if p.Standing != Agrees && strings.Contains(p.How, "chance") {
					outside++
				}
				if p := s.point(dme.Mean, 1/1.03); p.Standing == Agrees {
					missed++
				}
			}
			if alarm {
				alarms++
			}
		}
		// Declared is 1% of the families, with as much again of what chance allows.
		if most := int(FamilyError*families + 3*math.Sqrt(FamilyError*families)); name == "normal" && alarms > most || alarms > 3*most {
			t.Errorf("%s: %d of %d validations of nothing but true claims refute one; at most %d are to be expected", name, alarms, families, most)
		}
		if tries := float64(families * means); float64(missed) > (1-Confidence)/2*tries+3*math.Sqrt(tries*(1-Confidence)/2) {
			t.Errorf("%s: a mean that is wrong by 3%% was called right in %d of %v cases", name, missed, tries)
		}
		if name == "normal" && (outside < 4 || outside > 25) { // of 12,000, one in a thousand
			t.Errorf("%d true means of %d outside an interval of 99.9%%", outside, families*means)
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

// A verdict that rests on a tolerance names it, with its size and its reason; one that
// does not names none.
func TestAVerdictNamesItsTolerances(t *testing.T) {
	granted := func(n int, size float64, reason string) Evidence {
		e := point("serial", n, Agrees)
		e.Tolerance, e.ToleranceFor = size, reason
		return e
	}
	closed := dme.Claim{Kind: dme.Mean}
	for _, x := range []struct {
		name   string
		points []Evidence
		want   []Tolerance
	}{
		{"none", []Evidence{point("serial", 4, Agrees)}, nil},
		{"one", []Evidence{point("serial", 4, Agrees), granted(8, 0.2, "a")}, []Tolerance{{0.2, "a", 1}}},
		{"two", []Evidence{granted(4, 0.01, "b"), granted(8, 0.2, "a"), granted(16, 0.1, "a")}, []Tolerance{{0.2, "a", 2}, {0.01, "b", 1}}},
		{"in part", []Evidence{point("serial", 2, Agrees), granted(4, 0.01, "b"), point("serial", 8, Differs)}, []Tolerance{{0.01, "b", 1}}},
	} {
		v := asked(closed).Judge(x.points)
		v.Retry(nil)
		if !slices.Equal(v.Tolerances, x.want) {
			t.Errorf("%s: %v, want %v", x.name, v.Tolerances, x.want)
		}
		if n := strings.Count(v.Text, "with a tolerance of"); n != len(x.want) {
			t.Errorf("%s: %q names %d tolerances, want %d", x.name, v.Text, n, len(x.want))
		}
		for _, w := range x.want {
			if !strings.Contains(v.Text, percent(w.Size)) || !strings.Contains(v.Text, w.Reason) || v.Text != string(v.Verdict)+v.Detail {
				t.Errorf("%s: %q does not name %v for %q", x.name, v.Text, w.Size, w.Reason)
			}
		}
	}
	v := asked(closed).Judge([]Evidence{point("saturate", 4, Differs)})
	if v.Retry([]Evidence{granted(4, 0.3, "c")}); len(v.Tolerances) != 1 || strings.Count(v.Text, "tolerance") != 1 {
		t.Errorf("what comes true elsewhere by a tolerance: %v, %q", v.Tolerances, v.Text)
	}
}

// A bound that holds says how close the worst that was found comes to it.
func TestHowCloseABoundComes(t *testing.T) {
	for _, x := range []struct {
		kind        dme.ClaimKind
		bound       float64
		least, most float64
		want        float64
		says        string
	}{
		{dme.UpperBound, 50, 1, 5, 0.1, "not approached: 10% at most, for serial (N = 4)"},
		{dme.UpperBound, 3, 1, 2, 2. / 3, "not approached: 66.67% at most, for serial (N = 4)"}, // 3(N−1) in place of 2(N−1)
		{dme.UpperBound, 50, 1, 45, Approached, "closest 90%, for serial (N = 4)"},
		{dme.UpperBound, 50, 1, 50, 1, "reached for serial (N = 4)"},
		{dme.UpperBound, 50, 1, 49.99, 0.9998, "closest 99.98%"},
		{dme.UpperBound, 0, 0, 0, 1, "reached"},
		{dme.LowerBound, 5, 50, 60, 0.1, "not approached: 10% at most"},
		{dme.LowerBound, 5, 5, 60, 1, "reached"},
	} {
		s := sample{means: []float64{x.least, x.most}, least: x.least, most: x.most}
		p := s.point(x.kind, x.bound)
		p.Condition, p.Transport, p.Nodes = "serial", runs.Sim, 4
		v := asked(dme.Claim{Kind: x.kind}).Judge([]Evidence{{Point: p}})
		if v.Verdict != Holds || v.Closest == nil || math.Abs(*v.Closest-x.want) > 1e-12 || !strings.Contains(v.Text, x.says) {
			t.Errorf("%s %v: %v %q, want %v %q", x.kind, x.bound, v.Closest, v.Text, x.want, x.says)
		}
	}
	times := sample{means: []float64{0.999, 1.001, 1, 1.0005}, timed: true} // whose mean is beyond, by chance
	if p := times.point(dme.UpperBound, 1); !p.Agrees || *p.Closest != 1 {
		t.Errorf("a bound on times that some exceed: %+v", p)
	}
	s := sample{means: []float64{60}, least: 60, most: 60}
	if p := s.point(dme.UpperBound, 50); p.Closest != nil {
		t.Errorf("a bound that is exceeded comes as close as %v", *p.Closest)
	}
}

// What a search of schedules has found is evidence for a bound, beside that of runs.
func TestSearchedWorstCases(t *testing.T) {
	bound := dme.Claim{Kind: dme.UpperBound, Load: dme.Worst, Predict: func(s dme.Setting) (float64, bool) {
		return float64(2 * s.Nodes), s.Nodes > 1
	}}
	s := dme.Setting{Nodes: 3}
	for _, x := range []struct {
		worst    float64
		complete bool
		want     Status
		says     string
	}{
		{6, true, Holds, "reached for all schedules (N = 3)"}, {3, false, Holds, "not approached: 50% at most, for some schedules (N = 3)"},
		{7, false, Fails, "up to 7, not 6, for N = 3 under some schedules"},
	} {
		e, ok := Searched(bound, s, x.worst, x.complete)
		v := asked(bound).Judge([]Evidence{e})
		p := e.Point
		if *p.Mean != x.worst || *p.Min != x.worst || *p.Max != x.worst || p.Agrees != (x.want == Holds) || p.Predicted != 6 {
			t.Errorf("the worst is %v: %+v", x.worst, p)
		}
		if !ok || e.Source != Search || v.Verdict != x.want || !strings.Contains(v.Text, x.says) {
			t.Errorf("the worst is %v: %q, want %s … %q", x.worst, v.Text, x.want, x.says)
		}
	}
	for _, kind := range []dme.ClaimKind{dme.Mean, dme.Exact, dme.Asymptotic} {
		if _, ok := Searched(dme.Claim{Kind: kind, Predict: bound.Predict}, s, 6, true); ok {
			t.Errorf("a search is evidence for a claim that is %s", kind)
		}
	}
	if _, ok := Searched(bound, dme.Setting{Nodes: 1}, 6, true); ok {
		t.Error("a search is evidence where nothing is claimed")
	}
}
