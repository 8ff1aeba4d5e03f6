package claims

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/dme/claim"
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

func TestInterval(t *testing.T) {
	interval := func(x []float64) (mean, lo, hi float64, ok bool) {
		e := estimateOf(x, 1)
		return e.mean, e.mean - e.half, e.mean + e.half, e.known
	}
	// Student's quantile for 99.9% is 6.8688 with 5 degrees of freedom, and the
	// standard error of these six is 1.8708/√6.
	mean, lo, hi, ok := interval([]float64{1, 2, 3, 4, 5, 6})
	if half := 6.8688 * 1.870829 / math.Sqrt(6); !ok || mean != 3.5 || math.Abs(lo-(3.5-half)) > 1e-3 || math.Abs(hi-(3.5+half)) > 1e-3 {
		t.Errorf("%v [%v, %v], want 3.5 ± %v", mean, lo, hi, half)
	}
	if mean, lo, hi, ok = interval([]float64{7, 7, 7}); !ok || mean != 7 || lo != 7 || hi != 7 {
		t.Errorf("of equal values: %v [%v, %v]", mean, lo, hi)
	}
	for off, wide := range map[float64]bool{1.2e-12: false, 4e-12: true} { // of two values the deviation is 1/√2 of that
		if _, lo, hi, _ := interval([]float64{7, 7 * (1 + off)}); lo < hi != wide {
			t.Errorf("of values that differ by %v of themselves: [%v, %v]", off, lo, hi)
		}
	}
	if mean, _, _, ok = interval([]float64{7}); ok || mean != 7 {
		t.Errorf("of one value: %v, with an interval: %v", mean, ok)
	}
	if _, _, _, ok = interval(nil); ok {
		t.Error("of nothing: an interval")
	}
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
		quantity  claim.Quantity
		steady    uint64
		size      float64
		reason    string
	}{
		{"times over a real network", Cell{}, real, claim.ResponseTime, 0, 0.20, becauseOfTimes},
		{"ends of a real run", Cell{}, real, claim.MessagesPerCS, 0, 3.0 * nodes / requests, becauseOfEnds},
		{"ends of a simulation without a steady part", Cell{}, simulated, claim.MessagesPerCS, 0, 3.0 * nodes / requests, becauseOfEnds},
		{"first requests of nodes that learn", Cell{Isolated: true, Dynamic: true}, real, claim.MessagesPerCS, 0,
			1.0 * nodes / requests, becauseOfFirst},
		{"the busiest node", Cell{Isolated: true}, simulated, claim.WorkSpread, 0, 0.05, becauseOfBusiest},
		{"equal runs", Cell{}, simulated, claim.ResponseTime, steady, 2.0 / steady, becauseOfEdges},
		{"equal runs of isolated requests", Cell{Isolated: true}, simulated, claim.MessagesPerCS, 0, 0, ""},
	} {
		c := x.cell
		c.Spec = runs.Spec{Nodes: nodes, Requests: requests, Transport: x.transport}
		k := claim.Claim{Kind: claim.Mean, Quantity: x.quantity, Predict: func(dme.Setting) (float64, bool) { return 100, true }}
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
				want, tolerance, reason := y.want, y.tolerance, x.reason
				if reason == becauseOfTimes && side > 0 && want == Differs {
					want, tolerance, reason = Open, y.off, becauseOfMachines
				}
				c.Results = runsWith([]float64{mean, mean, mean}, x.steady)
				e, ok := c.Compare(k, 100)
				if !ok || e.Standing != want || math.Abs(e.Tolerance-tolerance) > 1e-12 || e.Tolerance > 0 && e.ToleranceFor != reason {
					t.Errorf("%s, off by %v%%: %s (%s), tolerance %v for %q; want %s with %v", x.name, 100*side*y.off, e.Standing, e.How,
						e.Tolerance, e.ToleranceFor, want, tolerance)
				}
			}
		}
	}
}

// What the entries at the ends of a real run may have does not refute that there is nothing on average.
func TestNothingOnAverage(t *testing.T) {
	for _, x := range []struct {
		transport string
		isolated  bool
		mean      float64
		want      Standing
	}{
		{"tcp", false, 0, Agrees}, {"tcp", false, 0.029, Open}, {"tcp", false, 0.031, Differs},
		{"tcp", true, 0.001, Differs}, {runs.Sim, true, 0.001, Differs},
	} {
		c := Cell{Spec: runs.Spec{Nodes: 10, Requests: 1000, Transport: x.transport}, Isolated: x.isolated}
		c.Results = runsWith([]float64{x.mean, x.mean, x.mean}, 0)
		e, ok := c.Compare(claim.Claim{Kind: claim.Mean, Quantity: claim.MessagesPerCS}, 0)
		if !ok || e.Standing != x.want || x.want == Open && e.ToleranceFor != becauseOfEnds {
			t.Errorf("%v over %s: %s (%s) for %q, want %s", x.mean, x.transport, e.Standing, e.How, e.ToleranceFor, x.want)
		}
	}
}

// What takes five times as long over a real network as predicted tells of its machines: no claim about
// times is refuted by it, and however few the runs are, more would not tell. What takes a fifth is no machine's
// doing, nor is anything in simulations.
func TestBusyMachinesRefuteNothing(t *testing.T) {
	for _, quantity := range []claim.Quantity{claim.ResponseTime, claim.Throughput} {
		for _, kind := range []claim.Kind{claim.Mean, claim.Exact, claim.UpperBound, claim.LowerBound} {
			for _, transport := range []string{"tcp", "udp", "nats", runs.Sim} {
				for _, times := range []float64{5, 0.2} {
					value, atMost := times, kind == claim.UpperBound
					if quantity == claim.Throughput {
						value, atMost = 1/times, kind == claim.LowerBound
					}
					want, slow := Differs, times > 1
					switch {
					case kind != claim.Mean && kind != claim.Exact && atMost != slow:
						want = Agrees // what a bound allows
					case slow && transport != runs.Sim:
						want = Open
					}
					for _, scatter := range [][]float64{{0.99, 1, 1.01}, {0.6, 1.4}, {1}} {
						c := Cell{Spec: runs.Spec{Nodes: 4, Requests: 1000, Transport: transport}, Setting: dme.Setting{Nodes: 4}}
						for _, noise := range scatter {
							r := delayed(2, 1, 2, 2)
							r.ResponseTime, r.Throughput = &runs.Quantiles{Count: 9, Mean: 1e9 * value * noise}, stats.Known(value*noise)
							c.Results = append(c.Results, r)
						}
						if few := len(scatter) < 3; few && want != Open {
							continue // an interval that is wide tells nothing
						}
						e, ok := c.Compare(claim.Claim{Kind: kind, Quantity: quantity, Predict: of(1)}, 1)
						if !ok || e.Standing != want || want == Open && e.ToleranceFor != becauseOfMachines {
							t.Errorf("%s, %s, over %s %v times as long, %d runs: %s (%s) for %q, want %s",
								quantity.Name, kind, transport, times, len(scatter), e.Standing, e.How, e.ToleranceFor, want)
						}
					}
				}
			}
		}
	}
}

// A token that never rests makes messages before the first request and after the last: if they are counted
// with the run, more than predicted refute nothing, and fewer do.
func TestATokenThatNeverRests(t *testing.T) {
	for _, x := range []struct {
		perpetual bool
		steady    uint64
		mean      float64
		want      Standing
	}{
		{true, 0, 4.5, Open}, {true, 0, 0.5, Differs}, {false, 0, 4.5, Differs}, {true, 1000, 4.5, Differs},
	} {
		c := Cell{Spec: runs.Spec{Nodes: 4, Requests: 1000, Transport: "tcp"}, Perpetual: x.perpetual}
		c.Results = runsWith([]float64{x.mean, x.mean, x.mean * 1.001}, 0)
		for _, r := range c.Results {
			if x.steady > 0 {
				r.Steady = &runs.Steady{Entries: x.steady, Messages: uint64(x.mean * float64(x.steady))}
			}
		}
		if e, ok := c.Compare(claim.Claim{Kind: claim.Mean, Quantity: claim.MessagesPerCS}, 1); !ok || e.Standing != x.want {
			t.Errorf("%+v: %s (%s)", x, e.Standing, e.How)
		}
	}
}

// Of two tolerances that apply the wider one does, and each is finite.
func TestTheWiderTolerance(t *testing.T) {
	for requests, want := range map[int]Tolerance{
		100: {Size: 0.3, Reason: becauseOfEnds}, 10_000: {Size: 0.05, Reason: becauseOfBusiest}, 0: {Size: 30, Reason: becauseOfEnds},
	} {
		c := Cell{Spec: runs.Spec{Nodes: 10, Requests: requests, Transport: runs.Sim}, Results: runsWith([]float64{1}, 0)}
		if got := c.tolerance(claim.WorkSpread); math.Abs(got.Size-want.Size) > 1e-12 || got.Reason != want.Reason {
			t.Errorf("%d requests: %v, want %v", requests, got, want)
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
				p := s.point(claim.Mean, 1)
				alarm = alarm || p.Standing == Differs
				if p.Standing != Agrees && strings.Contains(p.How, "chance") {
					outside++
				}
				if p := s.point(claim.Mean, 1/1.03); p.Standing == Agrees {
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
	k := claim.Claim{Kind: claim.Mean, Quantity: claim.MessagesPerCS}
	for compared, want := range map[int]Standing{1: Differs, 1000: Open} {
		c.Compared = compared
		if e, ok := c.Compare(k, 1); !ok || e.Standing != want {
			t.Errorf("twice as far off as the interval is wide, of %d means: %s (%s), want %s", compared, e.Standing, e.How, want)
		}
	}
}

// One run has no interval; extremes are those of the runs, also below 0; and the points of
// a growth, which are judged together, are granted nothing on their own.
func TestPointsOfACell(t *testing.T) {
	c := Cell{Spec: runs.Spec{Nodes: 4, Requests: 1000, Transport: "tcp"}, Results: runsWith([]float64{1}, 0)}
	e, ok := c.Compare(claim.Claim{Kind: claim.Mean, Quantity: claim.MessagesPerCS}, 1)
	if !ok || e.Lo != nil || e.Hi != nil || *e.Mean != 1 || e.Runs != 1 {
		t.Errorf("of one run: %+v", e.Point)
	}
	own := claim.Quantity{ID: "own"}
	c.Results = []*runs.Result{{Figures: map[string]float64{"own": -3}}, {Figures: map[string]float64{"own": -5}}}
	atMost := claim.Claim{Kind: claim.UpperBound, Quantity: own}
	if e, ok := c.Compare(atMost, 0); !ok || *e.Min != -5 || *e.Max != -3 || e.How != "at most −3" {
		t.Errorf("a figure below 0: %+v", e.Point)
	}
	c.Setting.Nodes, c.Results = 4, runsWith([]float64{1.1, 1.1}, 0)
	for kind, granted := range map[claim.Kind]float64{claim.Mean: ofTimes, claim.Asymptotic: 0} {
		k := claim.Claim{Kind: kind, Quantity: claim.ResponseTime, Predict: of(1)}
		if e, ok := c.Compare(k, 1); !ok || e.Tolerance != granted {
			t.Errorf("%s: a time that is off by 10%% is granted %v, want %v", kind, e.Tolerance, granted)
		}
	}
}

// Over a real network T and E are means over the runs that tell both of them; where none
// does, nothing is compared.
func TestRunsThatDoNotTellT(t *testing.T) {
	k := claim.Claim{Kind: claim.Mean, Quantity: claim.ResponseTime, Predict: func(s dme.Setting) (float64, bool) {
		return (s.T + 10*s.E).Seconds(), true
	}}
	c := Cell{Spec: runs.Spec{Nodes: 4, Transport: "tcp"}}
	without, held := delayed(2, 1, 2, 2), delayed(2, 1, 2, 2)
	without.T, held.CS = nil, nil
	c.Results = []*runs.Result{delayed(2, 1, 2, 2), without, held, delayed(4, 3, 4, 4)}
	want := (3*time.Millisecond + 20*time.Millisecond).Seconds()
	if e, ok := c.Compare(k, 99); !ok || math.Abs(e.Predicted-want) > 1e-12 || e.Runs != 4 {
		t.Errorf("of four runs, of which two tell T and E: %v, want %v", e.Predicted, want)
	}
	c.Results = []*runs.Result{without, held}
	if e, ok := c.Compare(k, 99); ok {
		t.Errorf("where no run tells both: %v is predicted", e.Predicted)
	}
}

// A cell has the sample of its runs: means of the steady part, extremes of the whole run,
// and over a real network T and E as they were measured.
func TestACellAndItsRuns(t *testing.T) {
	delay, hold, perCS := 2e6, 3e6, 12.0
	run := func(sd float64) *runs.Result {
		r := &runs.Result{Entries: 100, T: &delay, CS: &hold, SyncDelayOverT: &sd}
		r.SyncDelay = &runs.Quantiles{Count: 9, Max: 4e6}
		r.Messages.PerCS, r.Messages.PerEntry = &perCS, map[string]uint64{"10": 50, "14": 50}
		r.ResponseTime = &runs.Quantiles{Count: 100, Mean: 7e6}
		return r
	}
	at := func(x float64) func(dme.Setting) (float64, bool) {
		return func(dme.Setting) (float64, bool) { return x, true }
	}
	simulated := Cell{Condition: "serial", Spec: runs.Spec{Transport: runs.Sim, Nodes: 5, Requests: 100}}
	simulated.Results = []*runs.Result{run(1), run(1), {}}
	e, ok := simulated.Compare(claim.Claim{Kind: claim.UpperBound, Quantity: claim.MessagesPerCS, Predict: at(20)}, 20)
	if !ok || e.Runs != 2 || *e.Min != 10 || *e.Max != 14 || *e.Mean != 12 || *e.Closest != 0.7 || e.Off != -0.3 || e.Nodes != 5 ||
		e.Condition != "serial" || e.Transport != runs.Sim || *e.Lo != 12 || *e.Hi != 12 {
		t.Errorf("a bound on messages: %+v", e.Point)
	}
	simulated.Results = []*runs.Result{run(1), run(1.02)}
	e, _ = simulated.Compare(claim.Claim{Kind: claim.Mean, Quantity: claim.SyncDelay, Predict: at(1)}, 1)
	if *e.Lo >= 1.01 || *e.Hi <= 1.01 || math.Abs(*e.Hi+*e.Lo-2.02) > 1e-9 || !e.Scatters() ||
		!strings.Contains(e.How, "single delays reach 2T") {
		t.Errorf("a delay: %+v", e.Point)
	}
	for name, change := range map[string]func(c *Cell, q *claim.Quantity, predicted *float64){
		"of messages":          func(_ *Cell, q *claim.Quantity, _ *float64) { *q = claim.MessagesPerCS },
		"with varying delays":  func(c *Cell, _ *claim.Quantity, _ *float64) { c.Spec.Set = map[string]string{"delay": "uniform"} },
		"none longer":          func(_ *Cell, _ *claim.Quantity, x *float64) { *x = 2 },
		"over a real network":  func(c *Cell, _ *claim.Quantity, _ *float64) { c.Spec.Transport = "tcp" },
		"longer by rounding":   func(_ *Cell, _ *claim.Quantity, x *float64) { *x = 2 / 1.009 },
		"of responses instead": func(_ *Cell, q *claim.Quantity, _ *float64) { *q = claim.ResponseTime },
	} {
		c, q, predicted := simulated, claim.SyncDelay, 1.0
		change(&c, &q, &predicted)
		e, ok := c.Compare(claim.Claim{Kind: claim.Mean, Quantity: q, Predict: at(predicted)}, predicted)
		if !ok || strings.Contains(e.How, "single") {
			t.Errorf("%s: %q", name, e.How)
		}
	}
	if e, ok := simulated.Compare(claim.Claim{Kind: claim.Mean, Quantity: claim.ResponseTime, Predict: at(99)}, 0.007); !ok || !e.Agrees {
		t.Errorf("a response time in virtual time: %+v", e.Point)
	}
}

// What a search of schedules has found is evidence for a bound, beside that of runs.
func TestSearchedWorstCases(t *testing.T) {
	bound := claim.Claim{Kind: claim.UpperBound, Load: claim.Worst, Predict: func(s dme.Setting) (float64, bool) {
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
	for _, kind := range []claim.Kind{claim.Mean, claim.Exact, claim.Asymptotic} {
		if _, ok := Searched(claim.Claim{Kind: kind, Predict: bound.Predict}, s, 6, true); ok {
			t.Errorf("a search is evidence for a claim that is %s", kind)
		}
	}
	if _, ok := Searched(bound, dme.Setting{Nodes: 1}, 6, true); ok {
		t.Error("a search is evidence where nothing is claimed")
	}
}
