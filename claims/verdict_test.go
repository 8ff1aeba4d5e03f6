package claims

import (
	"math"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/runs"
)

// A document counts each verdict once, and the exact claims that do not hold.
func TestCountsOfADocument(t *testing.T) {
	var d Document
	d.Counts = Counts{Claims: 99, Holds: 99, ExactFailed: 99} // of an earlier count
	all := []Status{Holds, Partly, Fails, KnownFalse, NotShown, Undecided, NotMeasurable, NotRun}
	for times, status := range all {
		for range times + 1 {
			d.Claims = append(d.Claims, Verdict{Verdict: status, Kind: dme.Mean})
		}
	}
	d.Count()
	want := Counts{Claims: 36, Holds: 1, Partly: 2, Fails: 3, KnownFalse: 4, NotShown: 5, Undecided: 6, NotMeasurable: 7, NotRun: 8}
	if d.Counts != want {
		t.Errorf("%+v, want %+v", d.Counts, want)
	}
	for _, x := range []struct {
		v     Verdict
		fails int
	}{
		{Verdict{Verdict: Fails, Kind: dme.Exact}, 1}, {Verdict{Verdict: Partly, Kind: dme.Exact}, 1},
		{Verdict{Verdict: Holds, Kind: dme.Exact}, 0}, {Verdict{Verdict: Fails, Kind: dme.UpperBound}, 0},
		{Verdict{Verdict: Fails, Kind: dme.Exact, KnownFalse: "why"}, 0},
	} {
		d := Document{Claims: []Verdict{x.v}}
		if d.Count(); d.Counts.ExactFailed != x.fails {
			t.Errorf("%s, %s, known to be false: %q: %d exact claims fail", x.v.Kind, x.v.Verdict, x.v.KnownFalse, d.Counts.ExactFailed)
		}
	}
}

// far makes a point that differs from its prediction by so much.
func far(condition string, nodes, runs int, off float64) Evidence {
	e := point(condition, nodes, Differs)
	e.Off, e.Runs = off, runs
	return e
}

// What speaks against a claim is the point that is furthest off, and of several the
// smallest system; where runs were made it is told with its interval.
func TestTheWorstPointSpeaks(t *testing.T) {
	for _, x := range []struct {
		name   string
		points []Evidence
		says   string
	}{
		{"the furthest", []Evidence{far("serial", 4, 6, 0.1), far("serial", 8, 6, 0.3), far("serial", 16, 6, 0.2)}, "for N = 8 under serial"},
		{"of equals the smallest", []Evidence{far("serial", 16, 6, 0.3), far("serial", 8, 6, 0.3), far("serial", 4, 6, 0.1)},
			"for N = 8 under serial"},
		{"one run", []Evidence{far("serial", 8, 1, 0.3)}, ": 5, not 4, for N = 8 under serial"},
		{"a construction", []Evidence{far("", 8, 0, 0.3)}, ": off by 25%, not 4, for N = 8"},
	} {
		if v := asked(dme.Claim{Kind: dme.Mean}).Judge(x.points); v.Verdict != Fails || !strings.HasSuffix(v.Text, x.says) {
			t.Errorf("%s: %q, want … %q", x.name, v.Text, x.says)
		}
	}
	over := point("serial", 8, Differs)
	over.Transport = "tcp"
	if v := asked(dme.Claim{Kind: dme.Mean}).Judge([]Evidence{over}); !strings.HasSuffix(v.Text, "for N = 8 under serial over tcp") {
		t.Errorf("over a real network: %q", v.Text)
	}
}

// Sizes are listed in their order, each once, by condition and network.
func TestWherePointsAre(t *testing.T) {
	at := func(condition, transport string, nodes int) Point {
		return Point{Condition: condition, Transport: transport, Nodes: nodes}
	}
	for want, points := range map[string][]Point{
		"serial (N = 4 8 16), serial over tcp (N = 2)": {
			at("serial", runs.Sim, 16), at("serial", runs.Sim, 4), at("serial", "tcp", 2), at("serial", runs.Sim, 8),
			at("serial", runs.Sim, 4),
		},
		"N = 2 3": {at("", "", 3), at("", "", 2)},
	} {
		if got := Where(points); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Of systems of the same size the first is shown, and no point where nothing was judged.
func TestWhichPointIsShown(t *testing.T) {
	points := []Point{{Nodes: 4}, {Nodes: 8}, {Nodes: 8}}
	if got := shown(dme.Mean, Holds, points); got != 1 {
		t.Errorf("of two equal systems point %d is shown", got)
	}
	q := asked(dme.Claim{Kind: dme.Mean})
	if v := q.JudgeAll(Tally{Runs: 1}); v.Shown != -1 {
		t.Errorf("of all runs point %d is shown", v.Shown)
	}
	if q.Unanswerable = "why"; q.Judge(nil).Shown != -1 {
		t.Errorf("where nothing tells, point %d is shown", q.Judge(nil).Shown)
	}
}

// A bound says how close it comes where one run was made, too, and also where it does not
// come close at all.
func TestTheClosestOfABound(t *testing.T) {
	near := func(nodes int, closest float64) Evidence {
		e := point("serial", nodes, Agrees)
		e.Runs, e.Closest = 1, &closest
		return e
	}
	for _, x := range []struct {
		points  []Evidence
		closest float64
		says    string
	}{
		{[]Evidence{near(4, 0.5)}, 0.5, "holds (in 1 runs searched; not approached: 50% at most, for serial (N = 4))"},
		{[]Evidence{near(4, 0.25), near(8, 0.5), near(16, 0.125)}, 0.5,
			"holds (in 3 runs searched; not approached: 50% at most, for serial (N = 8))"},
		{[]Evidence{near(4, 0)}, 0, "holds (in 1 runs searched; not approached: 0% at most, for serial (N = 4))"},
	} {
		if v := asked(dme.Claim{Kind: dme.UpperBound}).Judge(x.points); v.Text != x.says || v.Closest == nil || *v.Closest != x.closest {
			t.Errorf("%q, want %q", v.Text, x.says)
		}
	}
}

// What is tried beside leaves of a verdict what it said, and adds to it once.
func TestRetriesAddToAVerdict(t *testing.T) {
	granted := point("serial", 4, Agrees)
	granted.Tolerance, granted.ToleranceFor = 0.2, "this"
	partly := []Evidence{point("serial", 8, Agrees), granted, point("saturate", 4, Differs)}
	const only = "holds only for serial; fails for saturate (N = 4): 5, not 4, for N = 4 under saturate"
	const tolerance = "; with a tolerance of 20%: this (1 of what was compared)"
	for _, x := range []struct {
		tried []Evidence
		says  string
	}{
		{nil, only + tolerance},
		{[]Evidence{point("burst", 4, Agrees)}, only + "; it comes true under burst" + tolerance},
		{[]Evidence{point("burst", 4, Agrees), point("poisson", 4, Agrees)}, only + "; it comes true under burst, poisson" + tolerance},
		{[]Evidence{point("burst", 4, Differs)}, only + "; at no other heavy load tried: burst (5 for 4)" + tolerance},
	} {
		v := asked(dme.Claim{Kind: dme.Mean}).Judge(partly)
		v.Retry(x.tried)
		if v.Verdict != Partly || v.Text != x.says || v.Detail != strings.TrimPrefix(v.Text, string(Partly)) || len(v.Tolerances) != 1 {
			t.Errorf("%q with %v, want %q", v.Text, v.Tolerances, x.says)
		}
	}
	v := asked(dme.Claim{Kind: dme.Mean}).Judge([]Evidence{point("saturate", 4, Differs)})
	before := v.Text
	if v.Retry(nil); v.Text != before || v.Verdict != Fails {
		t.Errorf("where nothing was tried: %q, and %q before", v.Text, before)
	}
}

// Tolerances are summed up by their reasons, of points and of fits; a claim that fails
// rests on none.
func TestTolerancesAreSummedUp(t *testing.T) {
	p := func(size float64, reason string) Point { return Point{Tolerance: size, ToleranceFor: reason} }
	got := tolerancesOf([]Point{p(0.1, "a"), p(0.2, "a"), p(0, ""), p(0.05, "a")}, []Fit{{Tolerance: 0.3, ToleranceFor: "b"}, {}})
	if want := []Tolerance{{0.3, "b", 1}, {0.2, "a", 3}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	linear := func(n float64) float64 { return n }
	points := sized(runs.Sim, linear, math.Sqrt, 4, 9, 16, 36, 64, 100)
	points[0].Tolerance, points[0].ToleranceFor = 0.01, becauseOfEdges
	q := asked(dme.Claim{Kind: dme.Asymptotic, Formula: "√N", Load: dme.Light, Growth: dme.Growth{Exponent: 0.5}})
	if v := q.Judge(points); v.Verdict != Fails || v.Tolerances != nil || strings.Contains(v.Text, "tolerance") {
		t.Errorf("a growth that fails: %q, %v", v.Text, v.Tolerances)
	}
}

// A tally names the first run that did not end well, and the first in which a node
// starved; one of these is enough.
func TestTheFirstProblemIsNamed(t *testing.T) {
	ended := func(seed uint64, status runs.Status) *runs.Result {
		return &runs.Result{Status: status, Error: string(status), Spec: runs.Spec{Nodes: 4, Seed: seed}}
	}
	var tally Tally
	for seed, status := range []runs.Status{runs.OK, runs.Stalled, runs.Failed, runs.OK} {
		tally.Add("burst", ended(uint64(seed), status))
	}
	v := asked(dme.Claim{Quantity: dme.Unserved}).JudgeAll(tally)
	if want := "undecided: 1 of 4 runs failed; burst, N = 4, seed 1: stalled"; v.Text != want {
		t.Errorf("%q, want %q", v.Text, want)
	}
	tally = Tally{}
	tally.Add("burst", ended(5, runs.OK))
	tally.Starved("burst", ended(5, runs.OK), "starving: a node")
	v = asked(dme.Claim{Quantity: dme.Unserved}).JudgeAll(tally)
	if want := "fails: a node starved in 1 of 1 runs; burst, N = 4, seed 5: starving: a node"; v.Text != want {
		t.Errorf("%q, want %q", v.Text, want)
	}
}

// A tolerance keeps a claim from being refuted, and confirms none: where no interval holds
// the prediction, nothing holds.
func TestNothingHoldsByToleranceAlone(t *testing.T) {
	granted := func(nodes int, s Standing) Evidence {
		e := point("serial", nodes, s)
		e.Tolerance, e.ToleranceFor = 0.15, "this"
		return e
	}
	const tolerance = "; with a tolerance of 15%: this (1 of what was compared)"
	for _, x := range []struct {
		points []Evidence
		says   string
	}{
		{[]Evidence{granted(4, Agrees)}, "undecided: in 6 runs, never in the interval" + tolerance},
		{[]Evidence{granted(4, Open)}, "undecided: in 6 runs, never in the interval" + tolerance},
		{[]Evidence{granted(4, Open), point("serial", 8, Open)},
			"undecided: the intervals are too wide; more repetitions would tell" + tolerance},
		{[]Evidence{granted(4, Agrees), point("serial", 8, Differs)}, "fails: 5, not 4, for N = 8 under serial"},
		{[]Evidence{granted(4, Agrees), point("serial", 8, Agrees)}, "holds (in 12 runs, in the interval for 1 of 2 points)" + tolerance},
		{[]Evidence{granted(4, Open), point("serial", 8, Agrees)},
			"holds (in 6 runs, always in the interval); undecided for serial (N = 4)" + tolerance},
		{[]Evidence{granted(4, Open), granted(8, Open), point("serial", 16, Agrees)}, "undecided: in 18 runs, in the interval for 1 of 3 points" +
			strings.Replace(tolerance, "1 of", "2 of", 1)},
	} {
		if v := asked(dme.Claim{Kind: dme.Mean}).Judge(x.points); v.Text != x.says {
			t.Errorf("%q, want %q", v.Text, x.says)
		}
	}
}

// Bounds that were reached, and those that nothing came near, are counted apart.
func TestBoundsAreCounted(t *testing.T) {
	var d Document
	for _, x := range []struct {
		verdict Status
		closest float64
	}{{Holds, 1}, {Holds, 0.999}, {Holds, 2. / 3}, {Holds, 0}, {Fails, 0.5}} {
		d.Claims = append(d.Claims, Verdict{Verdict: x.verdict, Closest: &x.closest})
	}
	d.Claims = append(d.Claims, Verdict{Verdict: Holds})
	if d.Count(); d.Counts.Holds != 5 || d.Counts.Bounds != 4 || d.Counts.BoundsReached != 1 || d.Counts.BoundsNotApproached != 2 {
		t.Errorf("%+v", d.Counts)
	}
}
