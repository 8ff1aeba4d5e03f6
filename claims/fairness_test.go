package claims

import (
	"math"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/runs"
)

func TestUnfair(t *testing.T) {
	bound := dme.Claim{
		Quantity: dme.Bypass, Formula: "2(N−1)", Load: dme.AnyLoad, Kind: dme.UpperBound, Source: "a paper",
		FIFO: true,
	}
	wrong := bound
	wrong.KnownFalse = "it is not so"
	for _, c := range []struct {
		name     string
		claims   []dme.Claim
		bypass   uint64
		jain     float64
		workload string
		ordered  bool
		faults   []string
		want     string // "" for nothing
	}{
		{"within the bound", []dme.Claim{bound}, 8, 1, "saturate", true, nil, ""},
		{"beyond the bound", []dme.Claim{bound}, 9, 1, "saturate", true, nil,
			"9 entries of others before its own, where at most 2(N−1) = 8 are claimed by a paper"},
		{"the bound is of other links", []dme.Claim{bound}, 50, 1, "saturate", false, nil, ""},
		{"no bound, little", nil, 60, 1, "saturate", true, nil, ""},
		{"no bound, much", nil, 61, 1, "poisson", true, nil, "starving: a node that had asked saw 61 entries"},
		{"a false bound is none", []dme.Claim{wrong}, 60, 1, "saturate", true, nil, ""},
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
		got := Of(spec, c.ordered).Unfair(c.claims, dme.Setting{Nodes: 5}, r)
		if text := strings.Join(got, "\n"); !strings.Contains(text, c.want) || (c.want == "") != (len(got) == 0) {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
	if said := shares([]uint64{20, 20, 20}); strings.Contains(said, "times") {
		t.Errorf("nodes that entered equally often differ: %s", said)
	}
}

// A run is uneven where its alarm says so, and only there.
func TestUneven(t *testing.T) {
	for _, x := range []struct {
		workload string
		jain     float64
		entries  uint64
		faults   []string
		want     bool
	}{
		{"saturate", 0.89, 50, nil, true}, {"saturate", 0.9, 50, nil, false}, {"poisson", 0.5, 50, nil, false},
		{"saturate", 0.5, 50, []string{"kill 3 @1s"}, false}, {"saturate", 0.5, 49, nil, false},
	} {
		r := &runs.Result{Entries: x.entries, Spec: runs.Spec{Nodes: 5, Workload: x.workload, Faults: x.faults}}
		r.Fairness.Jain = &x.jain
		if got := Uneven(r); got != x.want {
			t.Errorf("%+v: %v", x, got)
		}
	}
	if Uneven(&runs.Result{Spec: runs.Spec{Workload: "saturate"}}) {
		t.Error("a run without an index is uneven")
	}
}

// How often a node may be overtaken depends on how many critical sections fit into the
// delay of a message: of 8 nodes, 10 turns of others and the trip for each.
func TestStarved(t *testing.T) {
	const nodes = 8
	claimed := dme.OvertakingBound([]dme.Claim{{
		Quantity: dme.Bypass, Formula: "N", Load: dme.AnyLoad, Kind: dme.UpperBound, Source: "a paper",
	}}, dme.Setting{Nodes: nodes}, true)
	free := dme.Overtaking{Nodes: nodes}
	for _, x := range []struct {
		name   string
		bound  dme.Overtaking
		set    map[string]string
		net    string
		cs     float64 // of T
		change func(*runs.Result)
		most   int // that is not starving; -1 where nothing is
		often  int // that is not often either
	}{
		{"E = T", free, nil, "sim", 1, nil, nodes * 12, nodes * 12},
		{"E = T/10", free, nil, "sim", 0.1, nil, nodes * 21, nodes * 21},
		{"never more than the entries", free, nil, "sim", 1e-6, nil, nodes * 2010, nodes * 2010},
		{"constant", free, map[string]string{"delay": "constant", "jitter": "0s"}, "sim", 1, nil, nodes * 12, nodes * 12},
		{"a number", free, map[string]string{"delay": "3ms"}, "sim", 1, nil, nodes * 12, nodes * 12},
		{"uniform", free, map[string]string{"delay": "uniform"}, "sim", 1, nil, nodes * 13, nodes * 13},
		{"exponential", free, map[string]string{"delay": "exponential"}, "sim", 1, nil, nodes * 31, nodes * 31},
		{"exponential, of a link", free, map[string]string{"delay": "exp:1ms"}, "sim", 1, nil, nodes * 31, nodes * 31},
		{"without a mean that is kept", free, map[string]string{"delay": "pareto:1.5"}, "sim", 1, nil, -1, -1},
		{"lossy", free, map[string]string{"loss": "0.1"}, "sim", 1, nil, -1, -1},
		{"no readers", free, map[string]string{"readers": "0"}, "sim", 1, nil, nodes * 12, nodes * 12},
		{"readers", free, map[string]string{"readers": "0.5"}, "sim", 1, nil, -1, -1},
		{"of a real network a hiccup", free, nil, "tcp", 1, nil, nodes * 111, nodes * 12},
		{"no E", free, nil, "sim", 0, nil, -1, -1},
		{"no T", free, nil, "sim", 1, func(r *runs.Result) { r.T = nil }, -1, -1},
		{"times of a file", free, nil, "sim", 1, func(r *runs.Result) { r.Workload = "trace" }, -1, -1},
		{"faults", free, nil, "sim", 1, func(r *runs.Result) { r.Spec.Faults = []string{"kill 3 @1s"} }, -1, -1},
		{"faults that struck", free, nil, "sim", 1, func(r *runs.Result) {
			r.Spec.Faults, r.Faults = []string{"kill 3 @1s"}, make([]runs.Fault, 1)
		}, -1, -1},
		{"a claim", claimed, nil, "sim", 1, nil, nodes, nodes},
		{"a claim needs no times", claimed, map[string]string{"loss": "0.1"}, "tcp", 0, nil, nodes, nodes},
		{"a claim, with faults", claimed, nil, "sim", 1, func(r *runs.Result) { r.Spec.Faults = []string{"kill 3 @1s"} }, -1, -1},
	} {
		delay := 1e6
		e := delay * x.cs
		r := &runs.Result{
			Spec: runs.Spec{Nodes: nodes, Transport: x.net, Set: x.set}, Entries: 2000, T: &delay, CS: &e, Workload: "saturate",
		}
		if x.change != nil {
			x.change(r)
		}
		check := func(said func(dme.Overtaking, *runs.Result) string, what, want string, most int) {
			if most < 0 {
				r.Fairness.MaxBypass = 1e6
				if line := said(x.bound, r); line != "" {
					t.Errorf("%s, %s: %s", x.name, what, line)
				}
				return
			}
			for more, want := range []string{"", want} {
				r.Fairness.MaxBypass = uint64(most + more)
				if line := said(x.bound, r); (line == "") != (want == "") || !strings.HasPrefix(line, want) {
					t.Errorf("%s, %s by %d: %q", x.name, what, most+more, line)
				}
			}
		}
		check(Starved, "overtaken", "starving: ", x.most)
		often := "starving: "
		if x.often < x.most {
			often = "overtaken often: "
		}
		check(Overtaken, "overtaken", often, x.often)
	}
}

// An algorithm that lets a node starve is not live, though it serves every request in the
// end; what is not served at all is told first.
func TestStarvationIsNotLiveness(t *testing.T) {
	a := &dme.Algorithm{Name: "some", Claims: dme.SafeAndLive("a paper")}
	run := func(seed uint64) *runs.Result {
		return &runs.Result{Status: runs.OK, Entries: 100, Spec: runs.Spec{Nodes: 27, Seed: seed}}
	}
	judge := func(t *Tally, claim int) Verdict {
		return (&Question{Algorithm: a, Claim: a.Claims[claim]}).JudgeAll(*t)
	}
	var tally Tally
	tally.Add("saturate", run(1))
	tally.Starved("saturate", run(1), "")
	if v := judge(&tally, 1); v.Verdict != Holds {
		t.Errorf("nobody starved: %s", v.Text)
	}
	for seed := range uint64(2) {
		tally.Add("saturate", run(2+seed))
		tally.Starved("saturate", run(2+seed), "starving: it saw many entries of others")
	}
	v := judge(&tally, 1)
	for _, want := range []string{"a node starved in 2 of 3 runs", "saturate, N = 27, seed 2: starving: it saw many"} {
		if v.Verdict != Fails || !strings.Contains(v.Text, want) {
			t.Errorf("%s; want %q", v.Text, want)
		}
	}
	if v := judge(&tally, 0); v.Verdict != Holds {
		t.Errorf("starving is not unsafe: %s", v.Text)
	}
	stalled := run(9)
	stalled.Liveness.Pending, stalled.Status, stalled.Error = 3, runs.Stalled, "nothing moves"
	tally.Add("burst", stalled)
	if v := judge(&tally, 1); v.Verdict != Fails || !strings.Contains(v.Text, "3 requests were not served in 4 runs; burst, N = 27") {
		t.Errorf("%s", v.Text)
	}
}

func TestReadings(t *testing.T) {
	ten := 10.0
	r := &runs.Result{Entries: 4, Messages: runs.Messages{
		PerCS: &ten, PerEntry: map[string]uint64{"8": 2, "12": 2}, ByKind: map[string]uint64{"REQUEST": 20, "REPLY": 8},
	}, Work: runs.Work{LongestQueue: 3}, ResponseTime: &runs.Quantiles{Count: 4, Mean: 2e9}}
	for _, x := range []struct {
		q    dme.Quantity
		want Reading
	}{
		{dme.MessagesPerCS, Reading{10, 8, 12}}, {dme.KindPerCS("REQUEST"), Reading{5, 5, 5}},
		{dme.KindPerKind("REQUEST", "REPLY"), Reading{2.5, 2.5, 2.5}}, {dme.QueueLength, Reading{3, 3, 3}},
		{dme.ResponseTime, Reading{2, 2, 2}}, // claims count seconds
	} {
		if got, ok := Read(x.q, r); !ok || got != x.want {
			t.Errorf("%s: %v %v, want %v", x.q, got, ok, x.want)
		}
	}
	for _, q := range []dme.Quantity{dme.KindPerKind("REQUEST", "INQUIRE"), dme.SyncDelay} {
		if got, ok := Read(q, r); !ok || !math.IsNaN(got.Mean) {
			t.Errorf("%s: %v %v without a sample", q, got, ok)
		}
	}
	a := &dme.Algorithm{Gauges: []dme.Gauge{{Quantity: dme.WorkSpread}, {Quantity: dme.Quantity{ID: "own"}}}}
	if Told(a, dme.QuorumSize) || !Told(a, dme.Throughput) || !Told(a, dme.NumberRange) || !Told(a, dme.Quantity{ID: "own"}) {
		t.Error("what a run's result tells")
	}
}

// Waiting time is told in seconds, as claims count it, and not at all where nobody waited.
func TestWaitingTimeIsRead(t *testing.T) {
	if x, ok := Read(dme.WaitingTime, delayed(1, 1, 1, 1)); !ok || x != (Reading{3, 3, 3}) {
		t.Errorf("%+v, %v", x, ok)
	}
	if x, ok := Read(dme.WaitingTime, &runs.Result{}); !ok || !math.IsNaN(x.Mean) {
		t.Errorf("%+v, %v", x, ok)
	}
}

// What a result tells in whole numbers, and what a gauge of the algorithm measured.
func TestCountsAreRead(t *testing.T) {
	r := &runs.Result{Unserved: 4, Figures: map[string]float64{"own": -2.5}}
	r.Work.LongestBytes, r.Safety.Violations, r.Liveness.Pending = 5, 6, 3
	for q, want := range map[dme.Quantity]float64{
		dme.MessageLength: 5, dme.Violations: 6, dme.Unserved: 7, {ID: "own"}: -2.5,
	} {
		if got, ok := Read(q, r); !ok || got != (Reading{want, want, want}) {
			t.Errorf("%s %s: %v %v, want %v", q.ID, q, got, ok, want)
		}
	}
	if got, ok := Read(dme.Quantity{ID: "unknown"}, r); ok || !math.IsNaN(got.Mean) || !math.IsNaN(got.Least) || !math.IsNaN(got.Most) {
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
		if got, ok := Read(dme.MessagesPerCS, r); !ok || got != (Reading{10, x.least, x.most}) {
			t.Errorf("%v: %v %v, want %v to %v", x.entries, got, ok, x.least, x.most)
		}
	}
}
