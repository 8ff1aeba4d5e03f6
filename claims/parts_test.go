package claims

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/runs"
)

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
	e, ok := simulated.Compare(dme.Claim{Kind: dme.UpperBound, Quantity: dme.MessagesPerCS, Predict: at(20)}, 20)
	if !ok || e.Runs != 2 || *e.Min != 10 || *e.Max != 14 || *e.Mean != 12 || *e.Closest != 0.7 || e.Off != -0.3 || e.Nodes != 5 ||
		e.Condition != "serial" || e.Transport != runs.Sim || *e.Lo != 12 || *e.Hi != 12 {
		t.Errorf("a bound on messages: %+v", e.Point)
	}
	simulated.Results = []*runs.Result{run(1), run(1.02)}
	e, _ = simulated.Compare(dme.Claim{Kind: dme.Mean, Quantity: dme.SyncDelay, Predict: at(1)}, 1)
	if *e.Lo >= 1.01 || *e.Hi <= 1.01 || math.Abs(*e.Hi+*e.Lo-2.02) > 1e-9 || !e.Scatters() ||
		!strings.Contains(e.How, "single delays reach 2T") {
		t.Errorf("a delay: %+v", e.Point)
	}
	for name, change := range map[string]func(c *Cell, q *dme.Quantity, predicted *float64){
		"of messages":          func(_ *Cell, q *dme.Quantity, _ *float64) { *q = dme.MessagesPerCS },
		"with varying delays":  func(c *Cell, _ *dme.Quantity, _ *float64) { c.Spec.Set = map[string]string{"delay": "uniform"} },
		"none longer":          func(_ *Cell, _ *dme.Quantity, x *float64) { *x = 2 },
		"over a real network":  func(c *Cell, _ *dme.Quantity, _ *float64) { c.Spec.Transport = "tcp" },
		"longer by rounding":   func(_ *Cell, _ *dme.Quantity, x *float64) { *x = 2 / 1.009 },
		"of responses instead": func(_ *Cell, q *dme.Quantity, _ *float64) { *q = dme.ResponseTime },
	} {
		c, q, predicted := simulated, dme.SyncDelay, 1.0
		change(&c, &q, &predicted)
		e, ok := c.Compare(dme.Claim{Kind: dme.Mean, Quantity: q, Predict: at(predicted)}, predicted)
		if !ok || strings.Contains(e.How, "single") {
			t.Errorf("%s: %q", name, e.How)
		}
	}
	real := simulated
	real.Spec.Transport, real.Setting = "tcp", dme.Setting{Nodes: 5, T: time.Hour, E: time.Hour}
	twoTAndE := dme.Claim{Kind: dme.Mean, Quantity: dme.ResponseTime, Predict: func(s dme.Setting) (float64, bool) {
		return (2*s.T + s.E).Seconds(), s.Nodes == 5
	}}
	if e, ok := real.Compare(twoTAndE, 99); !ok || math.Abs(e.Predicted-0.007) > 1e-12 || !e.Agrees {
		t.Errorf("a response time over a real network: %+v", e.Point)
	}
	if e, ok := simulated.Compare(twoTAndE, 0.007); !ok || e.Predicted != 0.007 {
		t.Errorf("a response time in virtual time: %+v", e.Point)
	}
	if real.Setting.Nodes = 6; true {
		if _, ok := real.Compare(twoTAndE, 99); ok {
			t.Error("a claim is compared where it is not made")
		}
	}
	if _, ok := (&Cell{Results: []*runs.Result{{}}}).Compare(twoTAndE, 1); ok {
		t.Error("a run without a sample tells something")
	}
}

// The mean of every quantity that the steady part tells is its own, and not that of the
// whole run.
func TestMeansOfTheSteadyPart(t *testing.T) {
	delay, a, b, c, d := 2e6, 50.0, 3e6, 4e6, 5e6
	r := &runs.Result{Entries: 1000, T: &delay, Messages: runs.Messages{ByKind: map[string]uint64{"REQUEST": 9, "REPLY": 9}}}
	r.Messages.PerCS, r.Work.MaxOverMean = &d, &a
	r.Steady = &runs.Steady{
		Entries: 10, Messages: 120, Transmissions: 70, ByKind: map[string]uint64{"REQUEST": 80, "REPLY": 40},
		Throughput: &a, Response: &b, Waiting: &c, SyncDelay: &d,
	}
	for _, x := range []struct {
		q    dme.Quantity
		want float64
	}{
		{dme.MessagesPerCS, 12}, {dme.TransmissionsPerCS, 7}, {dme.KindPerCS("REQUEST"), 8}, {dme.KindPerKind("REQUEST", "REPLY"), 2},
		{dme.Throughput, 50}, {dme.ResponseTime, 0.003}, {dme.WaitingTime, 0.004}, {dme.SyncDelay, 2.5},
		{dme.WorkSpread, 50}, // of the whole run
	} {
		if got, ok := Mean(x.q, r); !ok || math.Abs(got-x.want) > 1e-12 {
			t.Errorf("%s: %v %v, want %v", x.q, got, ok, x.want)
		}
	}
	r.T, r.Steady.Response = nil, nil
	for _, q := range []dme.Quantity{dme.SyncDelay, dme.ResponseTime, dme.KindPerKind("REPLY", "INQUIRE")} {
		if got, ok := Mean(q, r); ok {
			t.Errorf("%s: %v without a sample", q, got)
		}
	}
	if _, ok := steadyMean(dme.MessagesPerCS, &runs.Result{}); ok {
		t.Error("a run without a steady part has a mean of it")
	}
}

// Every run counts for whether an algorithm is safe and live, also one that failed.
func TestTally(t *testing.T) {
	ended := func(status runs.Status, violations, pending, unserved uint64) *runs.Result {
		r := &runs.Result{Status: status, Entries: 1000, Unserved: unserved, Error: "of this", Spec: runs.Spec{Nodes: 4, Seed: 7}}
		r.Safety.Violations, r.Liveness.Pending = violations, pending
		return r
	}
	for _, x := range []struct {
		name             string
		runs             []*runs.Result
		known            string
		safe, live       Status
		saysSafe, ofLive string
	}{
		{"none", nil, "", NotRun, NotRun, "there was no run", "there was no run"},
		{"well", []*runs.Result{ended(runs.OK, 0, 0, 0), ended(runs.OK, 0, 0, 0)}, "", Holds, Holds,
			"holds (in 2 runs, 2,000 entries)", "holds (in 2 runs, 2,000 entries)"},
		{"violated", []*runs.Result{ended(runs.OK, 0, 0, 0), ended(runs.Violated, 3, 0, 0)}, "", Fails, Holds,
			"3 violations in 2 runs; serial, N = 4, seed 7: of this", "holds (in 2 runs, 2,000 entries)"},
		{"stalled", []*runs.Result{ended(runs.Stalled, 0, 2, 3)}, "", Holds, Fails,
			"holds", ": 5 requests were not served in 1 runs; serial, N = 4"},
		{"failed", []*runs.Result{ended(runs.Failed, 0, 0, 0), ended(runs.OK, 0, 0, 0)}, "", Undecided, Undecided,
			"1 of 2 runs failed; serial, N = 4, seed 7: of this", "1 of 2 runs failed"},
		{"known, and shown", []*runs.Result{ended(runs.Violated, 3, 0, 0)}, "why", KnownFalse, NotShown,
			"why (shown: 3 violations in 1 runs)", ": why"},
	} {
		var tally Tally
		for _, r := range x.runs {
			tally.Add("serial", r)
		}
		for q, want := range map[dme.Quantity]struct {
			verdict Status
			says    string
		}{dme.Violations: {x.safe, x.saysSafe}, dme.Unserved: {x.live, x.ofLive}} {
			v := asked(dme.Claim{Quantity: q, Load: dme.AnyLoad, Kind: dme.Exact, KnownFalse: x.known}).JudgeAll(tally)
			if v.Verdict != want.verdict || !strings.Contains(v.Text, want.says) || v.Runs != len(x.runs) {
				t.Errorf("%s, %s: %q, want %s … %q", x.name, q, v.Text, want.verdict, want.says)
			}
			if !Everywhere(dme.Claim{Quantity: q, Load: dme.AnyLoad}) || Everywhere(dme.Claim{Quantity: q, Load: dme.Faults}) {
				t.Errorf("%s is not judged by all runs", q)
			}
		}
	}
	if Everywhere(dme.Claim{Quantity: dme.MessagesPerCS}) {
		t.Error("messages are judged by all runs")
	}
}

// The point that is shown is the largest system of the first condition where a claim
// about a mean holds, and else the one that speaks most against it or is closest to it.
func TestShown(t *testing.T) {
	p := func(condition, transport string, nodes int, off float64) Point {
		return Point{Condition: condition, Transport: transport, Nodes: nodes, Off: off}
	}
	points := []Point{
		p("serial", "sim", 4, 0.1), p("serial", "sim", 16, 0.2), p("serial", "sim", 8, 0.3),
		p("burst", "sim", 32, 0.4), p("serial", "tcp", 64, 0.35),
	}
	for _, x := range []struct {
		kind   dme.ClaimKind
		status Status
		want   int
	}{
		{dme.Mean, Holds, 1}, {dme.Exact, Holds, 1}, {dme.Mean, Undecided, 1}, {dme.Mean, Fails, 3}, {dme.Mean, Partly, 3},
		{dme.UpperBound, Holds, 3}, {dme.LowerBound, Holds, 3}, {dme.UpperBound, Undecided, 3},
	} {
		if got := shown(x.kind, x.status, points); got != x.want {
			t.Errorf("%s that %s: point %d, want %d", x.kind, x.status, got, x.want)
		}
	}
	if shown(dme.Mean, Holds, nil) != -1 {
		t.Error("a point where there is none")
	}
}

// In what sense a claim holds follows from its kind and its points.
func TestSense(t *testing.T) {
	well := Point{Condition: "serial", Transport: "sim", Nodes: 4, Runs: 6, Standing: Agrees}
	granted, built := well, well
	granted.Tolerance, built.Runs = 0.1, 0
	for _, x := range []struct {
		kind   dme.ClaimKind
		points []Point
		want   string
	}{
		{dme.Exact, []Point{well, well}, "equal in 12 runs"}, {dme.Exact, []Point{built, built}, "equal at 2 sizes"},
		{dme.Mean, []Point{well}, "in 6 runs, always in the interval"}, {dme.Mean, []Point{granted}, "in 6 runs, never in the interval"},
		{dme.Mean, []Point{well, granted, well}, "in 18 runs, in the interval for 2 of 3 points"}, {dme.Mean, []Point{built}, "at 1 sizes"},
		{dme.UpperBound, []Point{well}, "in 6 runs searched"}, {dme.LowerBound, []Point{well}, "in 6 runs searched"},
		{dme.UpperBound, []Point{built}, "at 1 sizes"},
	} {
		if got := sense(x.kind, x.points); got != x.want {
			t.Errorf("%s: %q, want %q", x.kind, got, x.want)
		}
	}
	for _, x := range []struct {
		yes, no []int
		want    string
	}{
		{[]int{4, 8}, []int{16}, "N ≤ 8"}, {[]int{8, 16}, []int{4}, "N ≥ 8"},
		{[]int{8, 16}, []int{8}, "serial (N = 8 16)"}, {[]int{8}, []int{8, 16}, "serial (N = 8)"},
	} {
		at := func(sizes []int) (all []Point) {
			for _, n := range sizes {
				all = append(all, Point{Condition: "serial", Transport: "sim", Nodes: n})
			}
			return all
		}
		if got := part(at(x.yes), at(x.no)); got != x.want {
			t.Errorf("agrees at %v and not at %v: %q, want %q", x.yes, x.no, got, x.want)
		}
	}
}

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
