package claims

import (
	"math"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/runs"
)

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
		q    claim.Quantity
		want float64
	}{
		{claim.MessagesPerCS, 12}, {claim.TransmissionsPerCS, 7}, {claim.KindPerCS("REQUEST"), 8}, {claim.KindPerKind("REQUEST", "REPLY"), 2},
		{claim.Throughput, 50}, {claim.ResponseTime, 0.003}, {claim.WaitingTime, 0.004}, {claim.SyncDelay, 2.5},
		{claim.WorkSpread, 50}, // of the whole run
	} {
		if got, ok := Mean(x.q, r); !ok || math.Abs(got-x.want) > 1e-12 {
			t.Errorf("%s: %v %v, want %v", x.q, got, ok, x.want)
		}
	}
	r.T, r.Steady.Response = nil, nil
	for _, q := range []claim.Quantity{claim.SyncDelay, claim.ResponseTime, claim.KindPerKind("REPLY", "INQUIRE")} {
		if got, ok := Mean(q, r); ok {
			t.Errorf("%s: %v without a sample", q, got)
		}
	}
	if _, ok := steadyMean(claim.MessagesPerCS, &runs.Result{}); ok {
		t.Error("a run without a steady part has a mean of it")
	}
}

func TestReadings(t *testing.T) {
	ten := 10.0
	r := &runs.Result{Entries: 4, Messages: runs.Messages{
		PerCS: &ten, PerEntry: map[string]uint64{"8": 2, "12": 2}, ByKind: map[string]uint64{"REQUEST": 20, "REPLY": 8},
	}, Work: runs.Work{LongestQueue: 3}, ResponseTime: &runs.Quantiles{Count: 4, Mean: 2e9}}
	for _, x := range []struct {
		q    claim.Quantity
		want Reading
	}{
		{claim.MessagesPerCS, Reading{10, 8, 12}}, {claim.KindPerCS("REQUEST"), Reading{5, 5, 5}},
		{claim.KindPerKind("REQUEST", "REPLY"), Reading{2.5, 2.5, 2.5}}, {claim.QueueLength, Reading{3, 3, 3}},
		{claim.ResponseTime, Reading{2, 2, 2}}, // claims count seconds
	} {
		if got, ok := Read(x.q, r); !ok || got != x.want {
			t.Errorf("%s: %v %v, want %v", x.q, got, ok, x.want)
		}
	}
	for _, q := range []claim.Quantity{claim.KindPerKind("REQUEST", "INQUIRE"), claim.SyncDelay} {
		if got, ok := Read(q, r); !ok || !math.IsNaN(got.Mean) {
			t.Errorf("%s: %v %v without a sample", q, got, ok)
		}
	}
	a := &dme.Algorithm{Gauges: []dme.Gauge{{Quantity: claim.WorkSpread.ID}, {Quantity: "own"}}}
	if Told(a, claim.QuorumSize) || !Told(a, claim.Throughput) || !Told(a, claim.NumberRange) || !Told(a, claim.Quantity{ID: "own"}) {
		t.Error("what a run's result tells")
	}
}

// What a result tells in whole numbers, and what a gauge of the algorithm measured.
func TestCountsAreRead(t *testing.T) {
	r := &runs.Result{Unserved: 4, Figures: map[string]float64{"own": -2.5}}
	r.Work.LongestBytes, r.Safety.Violations, r.Liveness.Pending = 5, 6, 3
	for q, want := range map[claim.Quantity]float64{
		claim.MessageLength: 5, claim.Violations: 6, claim.Unserved: 7, {ID: "own"}: -2.5,
	} {
		if got, ok := Read(q, r); !ok || got != (Reading{want, want, want}) {
			t.Errorf("%s %s: %v %v, want %v", q.ID, q, got, ok, want)
		}
	}
	if got, ok := Read(claim.Quantity{ID: "unknown"}, r); ok || !math.IsNaN(got.Mean) || !math.IsNaN(got.Least) || !math.IsNaN(got.Most) {
		t.Errorf("what nothing tells: %v %v", got, ok)
	}
}

// The extremes of messages per critical section are those of single entries, where these
// are told apart, whatever the mean of all is; else they are the mean.
func TestExtremesOfEntries(t *testing.T) {
	ten := 10.
	for _, x := range []struct {
		entries     map[string]uint64
		least, most float64
	}{
		{nil, 10, 10}, {map[string]uint64{"12": 4}, 12, 12}, {map[string]uint64{"8": 4}, 8, 8}, {map[string]uint64{"0": 1, "12": 9}, 0, 12},
		{map[string]uint64{"8": 2, "12": 1, "others": 1}, 8, 12},
	} {
		r := &runs.Result{Entries: 4, Messages: runs.Messages{PerCS: &ten, PerEntry: x.entries}}
		if got, ok := Read(claim.MessagesPerCS, r); !ok || got != (Reading{10, x.least, x.most}) {
			t.Errorf("%v: %v %v, want %v to %v", x.entries, got, ok, x.least, x.most)
		}
	}
}

func TestUnfair(t *testing.T) {
	bound := claim.Claim{
		Quantity: claim.Bypass, Formula: "2(N−1)", Load: claim.AnyLoad, Kind: claim.UpperBound, Source: "a paper",
		FIFO: true,
	}
	wrong := bound
	wrong.KnownFalse = "it is not so"
	for _, c := range []struct {
		name     string
		claims   claim.List
		bypass   uint64
		jain     float64
		workload string
		ordered  bool
		faults   []string
		want     string // "" for nothing
	}{
		{"within the bound", claim.List{bound}, 8, 1, "saturate", true, nil, ""},
		{"beyond the bound", claim.List{bound}, 9, 1, "saturate", true, nil,
			"9 entries of others before its own; at most 2(N−1) = 8 are claimed by a paper"},
		{"the bound is of other links", claim.List{bound}, 50, 1, "saturate", false, nil, ""},
		{"no bound, little", nil, 60, 1, "saturate", true, nil, ""},
		{"no bound, much", nil, 61, 1, "poisson", true, nil, "starving: a node that had asked saw 61 entries"},
		{"a false bound is none", claim.List{wrong}, 60, 1, "saturate", true, nil, ""},
		{"even", nil, 0, 0.9, "saturate", true, nil, ""},
		{"uneven", nil, 0, 0.89, "saturate", true, nil, "uneven: all nodes ask all the time, and node 2 entered 70 times, node 4 3 times"},
		{"not asked evenly", nil, 0, 0.5, "hotspot", true, nil, ""},
		{"with faults", nil, 999, 0.1, "saturate", true, []string{"kill 3 @1s"}, ""},
	} {
		delay := 1e6
		spec := runs.Spec{Nodes: 5, Transport: runs.Sim, Workload: c.workload, Faults: c.faults}
		r := &runs.Result{Spec: spec, Entries: 91, T: &delay, CS: &delay}
		r.Fairness.MaxBypass, r.Fairness.Jain = c.bypass, &c.jain
		r.Work.EntriesByNode = []uint64{10, 70, 5, 3, 3}
		got := Of(spec, c.ordered, false).Unfair(c.claims, dme.Setting{Nodes: 5}, r)
		if text := strings.Join(got, "\n"); !strings.Contains(text, c.want) || (c.want == "") != (len(got) == 0) {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
	for _, entries := range [][]uint64{nil, {7}, {20, 20, 20}} {
		if said := shares(entries); strings.Contains(said, "times") {
			t.Errorf("of nodes that entered %v times: %s", entries, said)
		}
	}
}

// A document counts each verdict once, and the exact claims that do not hold.
func TestCountsOfADocument(t *testing.T) {
	var d Document
	d.Counts = Counts{Claims: 99, Holds: 99, ExactFailed: 99} // of an earlier count
	all := []Status{Holds, Partly, Fails, KnownFalse, NotShown, Undecided, NotMeasurable, NotRun}
	for times, status := range all {
		for range times + 1 {
			d.Claims = append(d.Claims, Verdict{Verdict: status, Kind: claim.Mean})
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
		{Verdict{Verdict: Fails, Kind: claim.Exact}, 1}, {Verdict{Verdict: Partly, Kind: claim.Exact}, 1},
		{Verdict{Verdict: Holds, Kind: claim.Exact}, 0}, {Verdict{Verdict: Fails, Kind: claim.UpperBound}, 0},
		{Verdict{Verdict: Fails, Kind: claim.Exact, KnownFalse: "why"}, 0},
	} {
		d := Document{Claims: []Verdict{x.v}}
		if d.Count(); d.Counts.ExactFailed != x.fails {
			t.Errorf("%s, %s, known to be false: %q: %d exact claims fail", x.v.Kind, x.v.Verdict, x.v.KnownFalse, d.Counts.ExactFailed)
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

// Safety and liveness are claimed of every run, but under faults.
func TestEverywhere(t *testing.T) {
	for _, x := range []struct {
		c    claim.Claim
		want bool
	}{
		{claim.Claim{Quantity: claim.Violations, Load: claim.AnyLoad}, true}, {claim.Claim{Quantity: claim.Unserved, Load: claim.Light}, true},
		{claim.Claim{Quantity: claim.Violations, Load: claim.Faults}, false}, {claim.Claim{Quantity: claim.Bypass, Load: claim.AnyLoad}, false},
	} {
		if got := Everywhere(x.c); got != x.want {
			t.Errorf("%s under %s: %v", x.c.Quantity, x.c.Load, got)
		}
	}
}

// A claim is about runs under what it names, and transmissions about media that broadcast.
func TestCovers(t *testing.T) {
	spec := runs.Spec{Workload: "saturate", Set: map[string]string{"jitter": "1ms"}} // whose delays differ
	per := func(q claim.Quantity, l claim.Load) claim.Claim { return claim.Claim{Quantity: q, Load: l} }
	plain, sent := per(claim.MessagesPerCS, claim.AnyLoad), per(claim.TransmissionsPerCS, claim.AnyLoad)
	fifo, equal := plain.OnFIFO(), plain.OnEqualDelays()
	for _, x := range []struct {
		says                string
		c                   claim.Claim
		ordered, broadcasts bool
		want                bool
	}{
		{"any run", plain, false, false, true}, {"another load", per(claim.MessagesPerCS, claim.Light), true, true, false},
		{"ordered links", fifo, true, false, true}, {"ordered links, and others", fifo, false, true, false},
		{"equal delays, and others", equal, true, true, false},
		{"a medium", sent, false, true, true}, {"a medium, and links", sent, true, false, false},
	} {
		if got := Of(spec, x.ordered, x.broadcasts).Covers(x.c); got != x.want {
			t.Errorf("%s: %v", x.says, got)
		}
	}
}

// Only one request at a time is isolated for certain.
func TestRefutes(t *testing.T) {
	for _, x := range []struct {
		workload string
		load     claim.Load
		want     bool
	}{
		{"serial", claim.Light, true}, {"poisson", claim.Light, false}, {"hotspot", claim.HotSpot, false},
		{"poisson", claim.AnyLoad, true}, {"saturate", claim.Saturated, true},
	} {
		if got := Of(runs.Spec{Workload: x.workload}, true, true).Refutes(claim.Claim{Load: x.load}); got != x.want {
			t.Errorf("%s load under %s: %v", x.load, x.workload, got)
		}
	}
}

func TestSharpestClaimsFirst(t *testing.T) {
	says := func(formula string, kind claim.Kind, knownFalse string) claim.Claim {
		return claim.Claim{Quantity: claim.MessagesPerCS, Load: claim.AnyLoad, Formula: formula, Kind: kind, KnownFalse: knownFalse}
	}
	all := claim.List{
		says("false", claim.Exact, "why"), says("lower", claim.LowerBound, ""),
		{Quantity: claim.MessagesPerCS, Load: claim.Worst, Formula: "worst", Kind: claim.UpperBound},
		says("upper", claim.UpperBound, ""), says("like", claim.Asymptotic, ""), says("mean", claim.Mean, ""),
		says("exact", claim.Exact, ""), says("exact too", claim.Exact, ""),
		{Quantity: claim.SyncDelay, Load: claim.AnyLoad},
		{Quantity: claim.MessagesPerCS, Load: claim.Burst},
	}
	var order []string
	for _, c := range Of(runs.Spec{Workload: "serial"}, true, false).About(claim.MessagesPerCS, all) {
		order = append(order, c.Formula)
	}
	if want := []string{"exact", "exact too", "mean", "like", "upper", "worst", "lower", "false"}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
}
