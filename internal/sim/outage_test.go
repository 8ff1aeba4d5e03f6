package sim

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms/centralized"
	"dmebench/algorithms/raymond"
	"dmebench/dme"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
)

// struck runs the requests of a trace, with T = 1 ms and critical sections of 1 ms,
// and faults.
func struck(t *testing.T, a *dme.Algorithm, nodes int, trace string, faults ...string) *runs.Result {
	t.Helper()
	return struckBy(t, 1, a, nodes, trace, faults...)
}

// struckBy has the roles drawn from a seed.
func struckBy(t *testing.T, seed uint64, a *dme.Algorithm, nodes int, trace string, faults ...string) *runs.Result {
	t.Helper()
	s := runs.Spec{
		Seed:      seed,
		Algorithm: a.Name, Nodes: nodes, Transport: runs.Sim, Workload: "trace", CS: "1ms", Set: map[string]string{"file": "trace.csv"},
		Faults: faults,
	}
	job, err := run.Resolve(s, run.Catalog{a}, func(string) ([]byte, error) { return []byte(trace), nil })
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// isFault compares what a result tells of a fault; at and ended in ms, ended -1
// where there was no end.
func isFault(t *testing.T, f runs.Fault, what string, at, ended int64, nodes []int, waiting, lost uint64) {
	t.Helper()
	stays := ended < 0
	if f.What != what || f.AtNS != at*ms || !slices.Equal(f.Nodes, nodes) || f.Waiting != waiting || f.Lost != lost ||
		stays != (f.EndedNS == nil) || !stays && *f.EndedNS != ended*ms {
		t.Errorf("%+v, ended %v; want %s of %v at %d ms for %d ms, %d waiting, %d lost", f, f.EndedNS, what, nodes, at, ended, waiting, lost)
	}
}

// A holder that dies inside is out of its critical section, and its request is
// gone. Where an algorithm does not survive that, the run is stalled.
func TestHolderDies(t *testing.T) {
	r := struck(t, centralized.Algorithm(), 3, "0,2\n0.001,3\n", "kill holder @entry:1")
	if r.Status != runs.Stalled || r.Liveness.Pending != 1 || r.Safety.Violations != 0 || r.Requests != 2 || r.Entries != 0 {
		t.Errorf("%s (%s), %d pending, %d violations", r.Status, r.Error, r.Liveness.Pending, r.Safety.Violations)
	}
	if !strings.Contains(strings.Join(r.Liveness.States, "\n"), "node 2, down") {
		t.Errorf("states %q do not say that node 2 is down", r.Liveness.States)
	}
	// GRANT at 2 ms; node 3 has waited since 1 ms, for ever.
	isFault(t, r.Faults[0], "kill", 2, -1, []int{2}, 1, 1)
	if f := r.Faults[0]; f.RecoveredNS != nil || f.ServedNS != nil || f.Messages != nil {
		t.Errorf("%+v: nobody entered after it", f)
	}
	if r.Faults[0].Fault != "kill holder @entry:1" {
		t.Errorf("told as %q", r.Faults[0].Fault)
	}
}

// Those who live go on once they hear of it, within the bound of 2T.
func TestOthersHearOfIt(t *testing.T) {
	earliest, latest := int64(math.MaxInt64), int64(0)
	for seed := range uint64(50) {
		s := runs.Spec{
			Nodes: 3, Workload: "burst", Requests: 3, CS: "10ms", Seed: seed + 1, Set: map[string]string{"window": "0s"},
			Faults: []string{"kill holder @entry:1"},
		}
		r := simulate(t, s, watchfulAlgorithm())
		// All ask at once: node 1 enters first, then 2, then 3 another 11 ms later.
		isFault(t, r.Faults[0], "kill", 2, -1, []int{1}, 2, 1)
		f := r.Faults[0]
		if r.Status != runs.OK || r.Entries != 2 || f.RecoveredNS == nil || f.ServedNS == nil || *f.ServedNS != *f.RecoveredNS+11*ms {
			t.Fatalf("%s (%s), %d entries, recovered after %v, served after %v", r.Status, r.Error, r.Entries, f.RecoveredNS, f.ServedNS)
		}
		earliest, latest = min(earliest, *f.RecoveredNS), max(latest, *f.RecoveredNS)
	}
	if latest > 2*ms || latest < 3*ms/2 || earliest > ms/2 {
		t.Errorf("heard after %v to %v; want anything up to 2T", time.Duration(earliest), time.Duration(latest))
	}
}

// What a paused node receives, and was to do, waits until it goes on; nothing of
// it gets lost.
func TestPause(t *testing.T) {
	for _, x := range []struct {
		name, trace, fault   string
		waiting, cs, late    float64 // ms
		at, lasts, recovered int64   // ms
	}{
		{"the answer is late", "0.001,1\n", "pause 2 @1ms-10ms", 10, 1, 0, 1, 9, 10},
		{"the answer waits", "0.001,1\n", "pause 1 @1500us-10ms", 9, 1, 0, 1, 8, 0},
		{"so does the exit", "0,1\n", "pause holder @entry:1+6ms", 2, 6, 0, 2, 6, -1},
		{"and the request", "0.003,1\n", "pause 1 @1ms-10ms", 9, 1, 7, 1, 9, 0},
		{"and a second one behind it", "0.003,1\n0.004,1\n", "pause 1 @1ms-10ms", 10, 1, 6.5, 1, 9, 0},
		{"twice at once", "0.003,1\n", "pause 1 @1ms-10ms;pause 1 @2ms-5ms", 9, 1, 7, 1, 9, 0},
	} {
		r := struck(t, watchfulAlgorithm(), 2, x.trace, strings.Split(x.fault, ";")...)
		if r.Status != runs.OK || r.Entries != uint64(strings.Count(x.trace, "\n")) {
			t.Errorf("%s: %s: %s, %d entries", x.name, r.Status, r.Error, r.Entries)
			continue
		}
		for _, v := range []struct {
			what      string
			got, want float64
		}{{"waited", r.WaitingTime.Mean, x.waiting}, {"stayed", *r.CS, x.cs}, {"came late", r.Lateness.Mean, x.late}} {
			if math.Abs(v.got/1e6-v.want) > 1e-9 {
				t.Errorf("%s: %s %v ms, want %v", x.name, v.what, v.got/1e6, v.want)
			}
		}
		f := r.Faults[0]
		if f.AtNS/ms != x.at || f.EndedNS == nil || (*f.EndedNS+ms/2)/ms != x.lasts && *f.EndedNS/ms != x.lasts {
			t.Errorf("%s: %+v", x.name, f)
		}
		if x.recovered > 0 && (f.RecoveredNS == nil || *f.RecoveredNS != x.recovered*ms) || x.recovered < 0 && f.RecoveredNS != nil {
			t.Errorf("%s: recovered after %v, want %d ms", x.name, f.RecoveredNS, x.recovered)
		}
	}
	// However long it is to last: that long nobody waits.
	r := struck(t, watchfulAlgorithm(), 2, "0.002,1\n", "pause 2 @entry:1+2562047h47m16s", "pause 1 @1ms-3ms")
	if r.Status != runs.OK || r.Entries != 1 {
		t.Errorf("%s: %s, %d entries", r.Status, r.Error, r.Entries)
	}
	// What waits for a node is handled before the run ends, however late.
	r = struck(t, centralized.Algorithm(), 2, "0,2\n", "pause 1 @2500us-30h")
	if r.Status != runs.OK || r.Work.HandledByNode[0] != 2 {
		t.Errorf("%s: %s, node 1 has handled %d", r.Status, r.Error, r.Work.HandledByNode[0])
	}
	// Who stands still to the end keeps the others from entering.
	r = struck(t, watchfulAlgorithm(), 3, "0.002,1\n", "pause 2 @1ms")
	if r.Status != runs.Stalled {
		t.Errorf("%s where a node stands still for ever", r.Status)
	}
	isFault(t, r.Faults[0], "pause", 1, -1, []int{2}, 0, 0)
}

// What is sent between the sides of a partition is lost while it lasts, and nothing
// else is.
func TestPartition(t *testing.T) {
	for _, x := range []struct {
		trace, fault string
		want         runs.Status
	}{
		{"0.002,1\n", "partition 1|2 @1ms-5ms", runs.Stalled},
		{"0.005,1\n", "partition 1|2 @1ms-5ms", runs.Stalled}, // it ends after everything else of its last instant
		{"0.006,1\n", "partition 1|2 @1ms-5ms", runs.OK},
		{"0.002,1\n", "partition 1|2 @2500us-5ms", runs.Stalled}, // the answer of node 2 is lost at 3 ms
		{"0,1\n", "partition 1|2 @1500us-5ms", runs.OK},          // both have left by then
		{"0.002,1\n", "partition 3 @1ms-5ms", runs.Stalled},
		{"0.002,1\n", "partition 1-3 @1ms-5ms", runs.OK},
		{"0.002,1\n", "partition 1-2|3 @1ms", runs.Stalled},
	} {
		if r := struck(t, watchfulAlgorithm(), 3, x.trace, x.fault); r.Status != x.want {
			t.Errorf("%s with %s: %s (%s), want %s", strings.TrimSpace(x.trace), x.fault, r.Status, r.Error, x.want)
		}
	}
	r := struck(t, watchfulAlgorithm(), 3, "0.006,1\n", "partition 1|2 @1ms-5ms")
	isFault(t, r.Faults[0], "partition", 1, 4, []int{1}, 0, 0)
	if f := r.Faults[0]; f.RecoveredNS == nil || *f.RecoveredNS != 7*ms {
		t.Errorf("recovered after %v; the next entry is at 8 ms", f.RecoveredNS)
	}
}

// A node that comes back makes the requests that are left of its share; one that
// joins makes all of it, and one that leaves what it had made by then.
func TestComingAndGoing(t *testing.T) {
	for _, x := range []struct {
		faults  []string
		entries []uint64 // of nodes 1 to 3, of 10 each
		lost    uint64
	}{
		{[]string{"kill 2 @20ms", "restart 2 @+5s"}, []uint64{10, 9, 10}, 1},
		{[]string{"kill holder @entry:4", "restart holder @+1ms"}, []uint64{9, 10, 10}, 1},
		{[]string{"join 3 @7s"}, []uint64{10, 10, 10}, 0},
		{[]string{"leave 3 @entry:27"}, []uint64{10, 10, 9}, 0},
		{[]string{"leave 3 @0s", "join 3 @1s"}, nil, 0},
		{[]string{"pause 3 @entry:27+1s", "leave 3 @500ms"}, []uint64{10, 10, 9}, 0}, // paused inside, told when it goes on
	} {
		r := simulate(t, runs.Spec{Nodes: 3, Requests: 30, Warmup: "0", Faults: x.faults}, watchfulAlgorithm())
		lost := uint64(0)
		for _, f := range r.Faults {
			lost += f.Lost
		}
		if r.Status != runs.OK || lost != x.lost || r.Liveness.Pending != 0 || len(r.Faults) != len(x.faults) {
			t.Errorf("%v: %s (%s), %d lost, %d pending, %d faults, %q", x.faults, r.Status, r.Error, lost, r.Liveness.Pending,
				len(r.Faults), r.Warnings)
		}
		if x.entries != nil && !slices.Equal(r.Work.EntriesByNode, x.entries) {
			t.Errorf("%v: entries %v, want %v", x.faults, r.Work.EntriesByNode, x.entries)
		}
	}
}

// A run waits for a restart that is to come, however late, and takes no wait for it
// for a stall.
func TestLateRestartIsNoStall(t *testing.T) {
	r := simulate(t, runs.Spec{Nodes: 7, Requests: 70, Faults: []string{"kill root @entry:3", "restart root @+1h"}}, raymond.Robust())
	if r.Status != runs.OK || r.Entries < 69 || *r.Faults[0].RecoveredNS < int64(time.Hour) {
		t.Errorf("%s (%s), %d entries, recovered after %v", r.Status, r.Error, r.Entries, r.Faults[0].RecoveredNS)
	}
	r = simulate(t, runs.Spec{Nodes: 7, Requests: 70, Faults: []string{"kill root @entry:3"}}, raymond.Robust())
	if r.Status != runs.Stalled {
		t.Errorf("%s where the root does not come back", r.Status)
	}
}

// Steps go on without those who are down, and wait for those who will be back.
func TestStepsWithFaults(t *testing.T) {
	for _, workload := range []string{"serial", "burst"} {
		s := runs.Spec{Nodes: 4, Workload: workload, Requests: 40, Faults: []string{"kill 2 @30ms", "restart 2 @+50ms", "kill 3 @60ms"}}
		r := simulate(t, s, watchfulAlgorithm())
		if r.Status != runs.OK || len(r.Faults) != 3 || r.Work.EntriesByNode[1] < 2 || r.Entries < 25 {
			t.Errorf("%s: %s (%s), entries %v, %d faults", workload, r.Status, r.Error, r.Work.EntriesByNode, len(r.Faults))
		}
	}
}

// A fault that finds nobody, or whose time or event never comes, is told, and no fault in
// the result. What was asked of the run cannot be told then, unless the user allows that.
func TestFaultsThatHitNobody(t *testing.T) {
	spec := runs.Spec{Nodes: 3, Requests: 30, Faults: []string{
		"kill 3 @5ms", "kill 3 @6ms", "restart 2 @7ms", "kill 1 @1h", "kill 1 @entry:1000", "pause 3 @6ms-7ms",
		"kill 1 @2562047h47m16.854775807s", "restart 1 @+1ms", "kill 2-3 @20ms", "restart 3 @request:1000",
	}}
	missed := []string{
		`"kill 3 @6ms" never came to pass: the node was down`, `"restart 2 @7ms" never came to pass: the node was not down`,
		`"kill 1 @1h0m0s" never came to pass: the run was over after `, `"kill 1 @entry:1000" never came to pass: the run was over after `,
		`"pause 3 @6ms-7ms" never came to pass: the node was down`, `"restart 1 @+1ms" never came to pass: the kill that it follows hit nobody`,
		`"kill 1 @2562047h47m16.854775807s" never came to pass: the run was over after `, `"join 3 @request:1000" never came to pass`,
	}
	spec.Faults[9] = "restart 3 @request:1000"
	missed[7] = `"restart 3 @request:1000" never came to pass`
	for _, allow := range []bool{false, true} {
		spec.AllowMismatch = allow
		r := simulate(t, spec, watchfulAlgorithm())
		status, told := runs.Failed, []string{r.Error}
		if allow {
			status, told = runs.OK, r.Warnings
		}
		if r.Status != status || len(r.Faults) != 2 {
			t.Errorf("allowed %v: %s (%s), faults %+v", allow, r.Status, r.Error, r.Faults)
		}
		for _, want := range missed {
			if n := len(slices.DeleteFunc(slices.Clone(told), func(w string) bool { return !strings.Contains(w, want) })); n != 1 {
				t.Errorf("allowed %v: %d times %q among %q", allow, n, want, told)
			}
		}
		if want := `fault "kill 2-3 @20ms" did not hit node 3: the node was down`; !slices.Contains(r.Warnings, want) {
			t.Errorf("no warning %q among %q", want, r.Warnings)
		}
	}
	// A stall is none the less a stall.
	r := simulate(t, runs.Spec{Nodes: 3, Requests: 30, Faults: []string{"kill 1 @5ms", "kill 1 @1h"}}, raymond.Algorithm())
	want := `fault "kill 1 @1h0m0s" never came to pass: the node was down`
	if r.Status != runs.Stalled || !slices.Contains(r.Warnings, want) {
		t.Errorf("%s (%s), %q", r.Status, r.Error, r.Warnings)
	}
}

// Roles are those of the moment.
func TestRoles(t *testing.T) {
	for _, x := range []struct {
		trace, fault string
		node         int
		at           int64 // µs
	}{
		{"0,2\n0.0005,3\n", "kill waiting @request:2", 3, 500}, // who made the request
		{"0,1\n0,2\n0.0005,3\n", "kill waiting @request:3", 3, 500},
		{"0,1\n0,2\n0.0005,3\n", "kill waiting @request:2", 2, 0},
		{"0,2\n", "kill root @0s", 1, 0},
		{"0,1\n0,2\n0,3\n0,2\n", "kill idle @1ms", 1, 3000}, // the first who has been served
		{"0.004,2\n", "kill holder @1ms", 2, 6000},          // once there is one
	} {
		for seed := range uint64(8) {
			r := struckBy(t, seed+1, watchfulAlgorithm(), 3, x.trace, x.fault)
			if len(r.Faults) != 1 || !slices.Equal(r.Faults[0].Nodes, []int{x.node}) || r.Faults[0].AtNS != x.at*1000 {
				t.Errorf("%s: %+v, want node %d after %d µs", x.fault, r.Faults, x.node, x.at)
			}
		}
	}
	hit := make(map[int]bool)
	for seed := range uint64(30) {
		r := simulate(t, runs.Spec{Nodes: 4, Requests: 40, Seed: seed + 1, Faults: []string{"kill random @5ms"}}, watchfulAlgorithm())
		hit[r.Faults[0].Nodes[0]] = true
	}
	if len(hit) != 4 {
		t.Errorf("30 times a random node: only %v", hit)
	}
}

// Nobody is in a role in which nobody ever is: who is alone does not wait.
func TestFaultsOfARoleThatNobodyHas(t *testing.T) {
	r := simulate(t, runs.Spec{Nodes: 1, Requests: 30, CS: "1ms", Faults: []string{"kill waiting @2ms"}}, watchfulAlgorithm())
	want := `fault "kill waiting @2ms" never came to pass: no node had the role "waiting" until the run was over`
	if r.Status != runs.Failed || len(r.Faults) != 0 || !strings.Contains(r.Error, want) {
		t.Errorf("%s, faults %+v, error %q; want %q", r.Status, r.Faults, r.Error, want)
	}
}
