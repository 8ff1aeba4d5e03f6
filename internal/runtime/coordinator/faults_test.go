package coordinator

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/internal/sim"
	"dmebench/internal/testkit"
	"dmebench/runs"
)

// struck runs a job with faults.
func struck(t *testing.T, spec runs.Spec, faults ...string) *runs.Result {
	t.Helper()
	spec.Faults = faults
	if spec.StallAfter == 0 {
		spec.StallAfter = runs.Duration(time.Second)
	}
	r := mustEnd(t, spec, Options{})
	if r.FailedNodes != nil || r.Status == runs.Failed {
		t.Errorf("what was done on purpose is taken for a failure of nodes %v: %s %s", r.FailedNodes, r.Error, r.FailedStderr)
	}
	if r.Safety.Violations != 0 {
		t.Errorf("%d violations: %q", r.Safety.Violations, r.Warnings)
	}
	return r
}

// theOnly returns the only fault of its kind.
func theOnly(t *testing.T, r *runs.Result, what string) *runs.Fault {
	t.Helper()
	var found *runs.Fault
	for i := range r.Faults {
		if r.Faults[i].What == what {
			if found != nil {
				t.Fatalf("%s is given twice: %+v", what, r.Faults)
			}
			found = &r.Faults[i]
		}
	}
	if found == nil {
		t.Fatalf("no %s among %+v; warnings %q", what, r.Faults, r.Warnings)
	}
	return found
}

// Where faults leave nobody who could make what was asked for, a run is not ok; where others
// are left that have made their share, it is, and says what is missing. The simulator agrees.
func TestRequestsThatAreNeverMade(t *testing.T) {
	beside(t)
	for _, x := range []struct {
		algorithm, kill string
		status          runs.Status
		warnings        string // in the error or a warning
	}{
		{"ricart-agrawala", "kill 1-7 @entry:50", runs.Stalled, "no node is left that could make more"},
		{"agrawal-el-abbadi", "kill 7 @entry:50", runs.OK, "a node that is down, or has left, makes none"},
	} {
		spec := runs.Spec{Algorithm: x.algorithm, Nodes: 7, Requests: 2100, CS: "1us", Faults: []string{x.kill}}
		for _, network := range []string{"tcp", "sim"} {
			spec.Transport = network
			var r *runs.Result
			if network == "tcp" {
				r = struck(t, spec, x.kill)
			} else {
				var err error
				if r, err = sim.Run(t.Context(), resolve(t, spec)); err != nil {
					t.Fatal(err)
				}
			}
			warnings := append(r.Warnings, r.Error)
			want := fmt.Sprintf("%d requests were asked for and %d were made: %s", spec.Requests, r.Requests, x.warnings)
			if r.Status != x.status || !slices.Contains(warnings, want) || r.Requests >= uint64(spec.Requests) {
				t.Errorf("%s, %s: status %s, nobody says %q: %q", x.algorithm, network, r.Status, want, warnings)
			}
			if code := x.status.Outcome(len(r.Faults) == 0); x.status == runs.Stalled && code != runs.Unknown {
				t.Errorf("outcome %d", code)
			}
		}
	}
}

// What does not survive a crash stalls, and nobody is blamed for that.
func TestAKillStallsWhatIsNotMadeForIt(t *testing.T) {
	beside(t)
	r := struck(t, runs.Spec{Algorithm: "ricart-agrawala", Nodes: 4, Duration: runs.Duration(20 * time.Second)}, "kill 3 @300ms")
	f := theOnly(t, r, "kill")
	if r.Status != runs.Stalled || !slices.Equal(f.Nodes, []int{3}) || f.AtNS < 3e8 || f.AtNS > 2e9 {
		t.Errorf("status %s, %+v", r.Status, f)
	}
	// Whoever waited at that instant may have had node 3's REPLY already, and is served;
	// nobody is who asks after it.
	if f.Waiting == 0 || f.EndedNS != nil {
		t.Errorf("%+v although all ask all the time, and node 3 does not come back", f)
	}
	if code := r.Status.Outcome(len(r.Faults) == 0); code != runs.Unknown {
		t.Errorf("outcome %d", code)
	}
	states := strings.Join(r.Liveness.States, "\n")
	if !strings.Contains(states, "node 3 is down") || !strings.Contains(states, "node 1 is requesting") {
		t.Errorf("states: %s", states)
	}
	if r.Liveness.Pending != 3 {
		t.Errorf("%d requests pending; the dead node's is none", r.Liveness.Pending)
	}
	// What the dead node has recorded is not lost with it.
	if r.ResponseTime == nil || r.ResponseTime.Count != r.Entries || r.Work.EntriesByNode[2] == 0 {
		t.Errorf("%d entries, of which records speak of %v; by node %v", r.Entries, r.ResponseTime, r.Work.EntriesByNode)
	}
}

// Whoever makes the hundredth entry dies inside the critical section.
func TestTheHolderDiesInside(t *testing.T) {
	beside(t)
	for i, when := range []string{"entry:100", "request:100", "100ms"} {
		if !sampled(i, 4) {
			continue
		}
		r := struck(t, runs.Spec{Algorithm: "deaf-doorkeeper", Nodes: 5, CS: "0", Requests: 100000}, "kill holder @"+when)
		f := theOnly(t, r, "kill")
		if f.Lost != 1 || r.Status != runs.Stalled {
			t.Errorf("%s: status %s, %+v", when, r.Status, f)
		}
		if when == "entry:100" && r.Entries != 99 {
			t.Errorf("%d entries ended, though the hundredth did not", r.Entries)
		}
		if f.Nodes[0] == 1 {
			continue // the doorkeeper itself
		}
		if states := strings.Join(r.Liveness.States, "\n"); !strings.Contains(states, fmt.Sprintf("inside=%d", f.Nodes[0])) {
			t.Errorf("%s: node %d was not inside: %s", when, f.Nodes[0], states)
		}
	}
}

// Of those that wait, one is killed, and does not enter before it is.
func TestOneThatWaitsIsKilled(t *testing.T) {
	beside(t)
	r := struck(t, runs.Spec{Algorithm: "ricart-agrawala", Nodes: 4, CS: "0", Requests: 100000}, "kill waiting @request:500")
	if f := theOnly(t, r, "kill"); f.Lost != 1 || r.Requests != r.Entries+f.Lost+r.Liveness.Pending {
		t.Errorf("%+v; %d requests, %d entries, %+v", f, r.Requests, r.Entries, r.Liveness.Pending)
	}
}

// Nodes are killed in every state that can be named, and come back: the others go
// on, and those that come back make the requests that are left to them.
func TestKilledNodesComeBack(t *testing.T) {
	beside(t)
	for i, network := range []string{"tcp", "udp", "nats"} {
		if !sampled(i, 4) {
			continue
		}
		t.Run(network, func(t *testing.T) {
			beside(t)
			const requests = 12000 // so many that who was killed is back before the next is
			r := struck(t, runs.Spec{
				Algorithm: "doorkeeper", Nodes: 6, Requests: requests, Transport: network, Set: map[string]string{"think": "100us"},
				StallAfter: runs.Duration(10 * time.Second)},
				"kill 6 @1ns", "restart 6 @+20ms",
				"kill 2 @entry:2000", "restart 2 @+10ms",
				"kill token @request:4000", "restart token @+10ms",
				"kill 4,5 @entry:6000", "restart 4,5 @+10ms") // both at once
			if r.Status != runs.OK {
				t.Fatalf("status %s: %s %v", r.Status, r.Error, r.Liveness.States)
			}
			if len(r.Faults) != 8 {
				t.Fatalf("%d faults: %+v; %q", len(r.Faults), r.Faults, r.Warnings)
			}
			var lost uint64
			for _, f := range r.Faults {
				lost += f.Lost
				if f.What == "kill" && strings.Contains(f.Fault, "token") && f.Lost != 1 {
					t.Errorf("it did not have the token: %+v", f)
				}
				if f.RecoveredNS == nil || f.Messages == nil {
					t.Errorf("nobody went on after %+v", f)
				}
			}
			for id, entries := range r.Work.EntriesByNode {
				if share := uint64(requests / 6); entries < share-3 {
					t.Errorf("node %d entered %d times; its share is %d", id+1, entries, share)
				}
			}
			if r.Requests != r.Entries+lost {
				t.Errorf("%d requests, %d entries, %d lost with those that asked", r.Requests, r.Entries, lost)
			}
			if r.ResponseTime.Count != r.Entries || warned(r, "wall clock was set") || warned(r, "was suspended") {
				t.Errorf("%d records of %d entries; the start of a late process is no jump of a clock: %q", r.ResponseTime.Count, r.Entries, r.Warnings)
			}
		})
	}
}

// A restart may wait for an event too. Then it is for who was killed, and not for
// who is inside.
func TestARestartAtAnEntry(t *testing.T) {
	r := struck(t, runs.Spec{Algorithm: "ricart-agrawala-robust", Nodes: 4, Requests: 800, StallAfter: runs.Duration(5 * time.Second),
		Set: map[string]string{"bound": "200ms", "cs-bound": "1ms"}},
		"kill holder @entry:50", "restart holder @entry:200")
	if r.Status != runs.OK || len(r.Faults) != 2 || !slices.Equal(r.Faults[0].Nodes, r.Faults[1].Nodes) {
		t.Errorf("status %s: %s; %+v, warnings %q", r.Status, r.Error, r.Faults, r.Warnings)
	}
}

// A node joins a running system, and another leaves it.
func TestNodesJoinAndLeave(t *testing.T) {
	beside(t)
	const requests = 2000
	r := struck(t, runs.Spec{Algorithm: "doorkeeper", Nodes: 5, Requests: requests, Set: map[string]string{"think": "2ms"}},
		"join 4 @200ms", "leave 3 @request:200", "join 5 @entry:100", "leave token @entry:900")
	if r.Status != runs.OK || len(r.Faults) != 4 {
		t.Fatalf("status %s: %s; %+v %q", r.Status, r.Error, r.Faults, r.Warnings)
	}
	n := r.Work.EntriesByNode
	// The faults at a time and those at entries come in either order.
	left := r.Faults[slices.IndexFunc(r.Faults, func(f runs.Fault) bool { return f.Fault == "leave token @entry:900" })].Nodes[0]
	for _, id := range []int{4, 5} {
		if id != left && n[id-1] != requests/5 {
			t.Errorf("node %d, which has joined, entered %d times", id, n[id-1])
		}
	}
	if n[2] == 0 || n[2] >= requests/5 {
		t.Errorf("node 3, which has left, entered %d times", n[2])
	}
	if r.Requests != r.Entries {
		t.Errorf("%d requests, %d entries: who leaves is served first", r.Requests, r.Entries)
	}
}

// A pause is waited for, also one of the node inside.
func TestPauses(t *testing.T) {
	for i, whom := range []string{"holder", "2", "token"} {
		if !sampled(i, 4) {
			continue
		}
		spec := runs.Spec{Algorithm: "doorkeeper", Nodes: 4, CS: "1ms", Duration: runs.Duration(1500 * time.Millisecond)}
		spec.StallAfter = runs.Duration(300 * time.Millisecond)
		r := struck(t, spec, "pause "+whom+" @200ms-1.2s")
		f := theOnly(t, r, "pause")
		if r.Status != runs.OK || f.EndedNS == nil || *f.EndedNS < 9e8 || *f.EndedNS > 3e9 || f.Lost != 0 {
			t.Errorf("%s: status %s: %s; %+v", whom, r.Status, r.Error, f)
		}
		if whom != "2" && (f.RecoveredNS == nil || *f.RecoveredNS < *f.EndedNS) {
			t.Errorf("%s: others entered while the one inside stood still: %+v", whom, f)
		}
	}
}

// Who stands still hears afterwards of what has happened meanwhile, also where it
// was kept as it was when it was struck.
func TestWhoStandsStillCatchesUp(t *testing.T) {
	beside(t)
	r := struck(t, runs.Spec{Algorithm: "doorkeeper", Nodes: 5, CS: "1ms", Requests: 1000},
		"pause token @100ms-700ms", "pause 1 @150ms-600ms", "join 5 @250ms")
	if r.Status != runs.OK || len(r.Faults) != 3 {
		t.Fatalf("status %s: %s; %+v %q", r.Status, r.Error, r.Faults, r.Warnings)
	}
	if n := r.Work.EntriesByNode[4]; n != 200 {
		t.Errorf("node 5, which joined while others stood still, entered %d times", n)
	}
}

// A run whose faults did not take place does not tell what was asked, unless that is
// allowed. No time is too late to be written.
func TestFaultsThatDoNotComeToPass(t *testing.T) {
	beside(t)
	faults := []string{"kill 2 @1h", "kill 3 @entry:1000000", "restart 2 @request:10", "kill 2 @2562047h", "restart 2 @2562047h"}
	for _, allow := range []bool{true, false} {
		spec := runs.Spec{Algorithm: "doorkeeper", Nodes: 3, Requests: 300, Faults: faults, AllowMismatch: allow}
		r := mustEnd(t, spec, Options{})
		want, warnings := runs.Failed, []string{r.Error}
		if allow {
			want, warnings = runs.OK, r.Warnings
		}
		if r.Status != want || len(r.Faults) != 0 || (r.Status.Outcome(true) == runs.Held) != allow {
			t.Errorf("allowed %v: status %s: %s; %+v", allow, r.Status, r.Error, r.Faults)
		}
		for _, fault := range faults {
			fault = fmt.Sprintf("%q did not take place", strings.Replace(strings.Replace(fault, "1h", "1h0m0s", 1), "7h", "7h0m0s", 1))
			if !strings.Contains(strings.Join(warnings, "\n"), fault) {
				t.Errorf("allowed %v: nobody says that %s: %q", allow, fault, warnings)
			}
		}
	}
}

// What the links of a cut network lose is lost where nothing sends it again.
func TestPartitions(t *testing.T) {
	beside(t)
	for i, c := range []struct {
		network, fault string
		want           runs.Status
	}{
		{"tcp", "partition 1,2|3,4 @200ms-600ms", runs.Stalled},
		{"nats", "partition 1,2|3,4 @entry:100+400ms", runs.Stalled},
		{"udp", "partition 1,2|3,4 @200ms-600ms", runs.OK}, // cut beneath the layer that sends again
		{"udp", "partition 1,2|3,4 @200ms", runs.Stalled},
	} {
		if !sampled(i, 2) {
			continue
		}
		spec := runs.Spec{Algorithm: "ricart-agrawala", Nodes: 4, CS: "1ms", Duration: runs.Duration(2 * time.Second), Transport: c.network}
		r := struck(t, spec, c.fault)
		f := theOnly(t, r, "partition")
		if r.Status != c.want || !slices.Equal(f.Nodes, []int{1, 2}) {
			t.Errorf("%s over %s: status %s: %s; %+v", c.fault, c.network, r.Status, r.Error, f)
		}
		if healed := strings.Contains(c.fault, "-600ms") || strings.Contains(c.fault, "+"); healed != (f.EndedNS != nil) {
			t.Errorf("%s over %s ended after %v", c.fault, c.network, f.EndedNS)
		}
		if c.want == runs.Stalled && !strings.Contains(r.Error, "partition 1-2 at") {
			t.Errorf("the error does not tell of it: %s", r.Error)
		}
	}
}

// TR-869, section 7: three nodes are killed, one of them inside the critical
// section, and two come back. The others go on within the time that detection is
// declared to take, and those that are back make all requests that are left to them.
func TestRicartAgrawalaSurvives(t *testing.T) {
	const (
		requests = 1600
		bound    = 200 * time.Millisecond
		detected = 5 * bound // two periods, of 2 bounds and the estimate of the CS, then of 2 bounds
	)
	seeds := uint64(1)
	if testkit.Full() {
		seeds = 20
	}
	for i, network := range []string{"udp", "nats", "tcp"} {
		if !sampled(i, 4) {
			continue
		}
		for seed := uint64(1); seed <= seeds; seed++ {
			t.Run(fmt.Sprintf("%s-%d", network, seed), func(t *testing.T) {
				r := struck(t, runs.Spec{
					Algorithm: "ricart-agrawala-robust", Nodes: 8, Requests: requests, Transport: network, Seed: seed,
					Set: map[string]string{"bound": bound.String()}, StallAfter: runs.Duration(5 * time.Second),
				}, "kill holder @entry:200", "restart holder @+500ms", "kill 3 @entry:400", "restart 3 @+500ms", "kill random @entry:700")
				if r.Status != runs.OK || len(r.Faults) != 5 {
					t.Fatalf("status %s: %s; %+v %q", r.Status, r.Error, r.Faults, r.Warnings)
				}
				dead := 0
				var back []int
				for _, f := range r.Faults {
					switch {
					case strings.Contains(f.Fault, "random"):
						dead = f.Nodes[0]
					case f.What == "restart":
						back = append(back, f.Nodes[0])
					}
					// Where several are down, each is found out in turn.
					if f.What == "kill" && (f.RecoveredNS == nil || time.Duration(*f.RecoveredNS) > 3*detected) {
						t.Errorf("the others did not go on in time: %+v", f)
					}
				}
				for _, id := range back {
					if n := r.Work.EntriesByNode[id-1]; id != dead && n < requests/8-2 {
						t.Errorf("node %d came back and entered %d times in all", id, n)
					}
				}
			})
		}
	}
}

// The same schedule does the same to real processes as in a simulation: whom it hits,
// with what, in which order, and what is told of the rest.
func TestSchedulesAreCarriedOutAsInSimulations(t *testing.T) {
	testkit.TakesLong(t)
	beside(t)
	after := regexp.MustCompile(`was over after [^ ;,]+`)
	for _, x := range []struct {
		name, faults string
		want         []string // done, and told; roles' nodes by letters, in the order in which they were hit
	}{
		{"pauses, deaths and departures",
			"pause 5 @50ms-250ms; leave 5 @100ms; kill 3 @400ms; join 3 @450ms; pause 4 @450ms-2s; restart 3 @500ms; kill 4 @550ms; " +
				"pause 4 @600ms-650ms; restart 4 @600ms; kill 3,4 @700ms; kill 2,3 @750ms; kill 2-3 @1h; kill 1,6 @1100ms",
			[]string{
				"pause [5], ended", "leave [5]", "kill [3]", "pause [4], ended", "restart [3]", "kill [4]", "restart [4]", "kill [3 4]", "kill [2]",
				"kill [1 6]",
				`fault "join 3 @450ms" did not take place: the node was part of the system`,
				`fault "kill 2-3 @1h0m0s" did not take place: the run was over`,
				`fault "kill 2-3 @750ms" did not hit node 3: the node was down`,
				`fault "pause 4 @600ms-650ms" did not take place: the node was down`,
			}},
		{"a pause that outlasts another, with no entry until it ends",
			"pause 1-6 @100ms-300ms; pause 1-6 @200ms-1500ms; partition 1-6 @350ms-360ms; kill 1-6 @2700ms",
			[]string{"pause [1 2 3 4 5 6], ended", "pause [1 2 3 4 5 6], ended", "partition [1 2 3 4 5 6], ended", "kill all"}},
		{"partitions of which one begins before the other ends", "partition 1-2|3-6 @100ms-300ms; partition 1|2-6 @200ms-400ms; kill 1-6 @500ms",
			[]string{"partition [1 2], ended", "partition [1], ended", "kill all"}},
		{"roles, and restarts of whom they hit",
			"kill token @100ms; kill token @300ms; restart token @500ms; restart token @700ms; restart 6 @50ms; " +
				"kill 1-6 @800ms",
			[]string{"kill [a]", "kill [b]", "restart [a]", "restart [b]", "kill all",
				`fault "restart 6 @50ms" did not take place: the node was not down`}},
		{"the death of the holder, which stands still", "pause holder @100ms-1500ms; kill holder @200ms; kill 1-6 @400ms",
			[]string{"pause [a], ended", "kill [a]", "kill all"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			beside(t)
			spec := runs.Spec{
				Algorithm: "doorkeeper", Nodes: 6, CS: "2ms", Requests: 1e6, AllowMismatch: true, // over with the last of them that lives
				StallAfter: runs.Duration(20 * time.Second), Faults: strings.Split(x.faults, "; "),
			}
			real := mustEnd(t, spec, Options{})
			spec.Transport = runs.Sim
			simulated, err := sim.Run(t.Context(), resolve(t, spec))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range []*runs.Result{real, simulated} {
				var got []string
				letters := make(map[int]string)
				for _, f := range r.Faults {
					whom := fmt.Sprint(f.Nodes)
					if strings.HasPrefix(f.Fault, "kill 1-6") {
						whom = "all"
					}
					if strings.Contains(f.Fault, "token") || strings.Contains(f.Fault, "holder") {
						if letters[f.Nodes[0]] == "" {
							letters[f.Nodes[0]] = fmt.Sprintf("[%c]", 'a'+len(letters))
						}
						whom = letters[f.Nodes[0]]
					}
					line := f.What + " " + whom
					if f.EndedNS != nil {
						line += ", ended"
					}
					got = append(got, line)
					if f.What == "partition" && strings.Contains(x.name, "no entry") && (f.RecoveredNS == nil || *f.RecoveredNS < 2e8) {
						t.Errorf("%s: somebody entered while all stood still: %+v", r.Transport, f)
					}
				}
				var warnings []string
				for _, w := range r.Warnings {
					if strings.HasPrefix(w, "fault ") && !strings.Contains(w, "kill 1-6") {
						warnings = append(warnings, after.ReplaceAllString(w, "was over"))
					}
				}
				slices.Sort(warnings)
				if got = append(got, warnings...); !slices.Equal(got, x.want) {
					t.Errorf("%s: %s %s\n got %q\nwant %q", r.Transport, r.Status, r.Error, got, x.want)
				}
			}
		})
	}
}
