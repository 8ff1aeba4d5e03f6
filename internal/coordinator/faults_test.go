package coordinator

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/internal/exit"
	"dmebench/result"
)

// struck runs a job with faults.
func struck(t *testing.T, spec result.Spec, faults ...string) *result.Result {
	t.Helper()
	spec.Faults = faults
	if spec.StallAfter == 0 {
		spec.StallAfter = result.Duration(time.Second)
	}
	r, err := execute(t, t.Context(), spec, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.FailedNodes != nil || r.Status == result.Failed {
		t.Errorf("what was done on purpose is taken for a failure of nodes %v: %s %s", r.FailedNodes, r.Error, r.FailedStderr)
	}
	if r.Safety.Violations != 0 {
		t.Errorf("%d violations: %q", r.Safety.Violations, r.Warnings)
	}
	return r
}

// theOnly returns the only fault of its kind.
func theOnly(t *testing.T, r *result.Result, what string) *result.Fault {
	t.Helper()
	var found *result.Fault
	for i := range r.Faults {
		if r.Faults[i].What == what {
			if found != nil {
				t.Fatalf("%s stands there twice: %+v", what, r.Faults)
			}
			found = &r.Faults[i]
		}
	}
	if found == nil {
		t.Fatalf("no %s among %+v; warnings %q", what, r.Faults, r.Warnings)
	}
	return found
}

// What does not survive a crash stalls, and nobody is blamed for that.
func TestAKillStallsWhatIsNotMadeForIt(t *testing.T) {
	r := struck(t, result.Spec{Algorithm: "ricart-agrawala", Nodes: 4, Duration: result.Duration(20 * time.Second)}, "kill 3 @300ms")
	f := theOnly(t, r, "kill")
	if r.Status != result.Stalled || !slices.Equal(f.Nodes, []int{3}) || f.AtNS < 3e8 || f.AtNS > 2e9 {
		t.Errorf("status %s, %+v", r.Status, f)
	}
	if f.ServedNS != nil || f.Waiting == 0 || f.EndedNS != nil {
		t.Errorf("%+v although the others wait for ever", f)
	}
	if code := exit.OfRun(r.Status, len(r.Faults) == 0); code != exit.Unknown {
		t.Errorf("exit code %d", code)
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
	for _, when := range []string{"entry:100", "request:100", "100ms"} {
		r := struck(t, result.Spec{Algorithm: "deaf-desk", Nodes: 5, CS: "0", Requests: 100000}, "kill holder @"+when)
		f := theOnly(t, r, "kill")
		if f.Lost != 1 || r.Status != result.Stalled {
			t.Errorf("%s: status %s, %+v", when, r.Status, f)
		}
		if when == "entry:100" && r.Entries != 99 {
			t.Errorf("%d entries ended, though the hundredth did not", r.Entries)
		}
		if f.Nodes[0] == 1 {
			continue // the desk itself
		}
		if states := strings.Join(r.Liveness.States, "\n"); !strings.Contains(states, fmt.Sprintf("inside=%d", f.Nodes[0])) {
			t.Errorf("%s: node %d was not inside: %s", when, f.Nodes[0], states)
		}
	}
}

// Nodes are killed in every state that can be named, and come back: the others go
// on, and those that come back make the requests that are left to them.
func TestKilledNodesComeBack(t *testing.T) {
	for _, network := range []string{"tcp", "udp", "nats"} {
		t.Run(network, func(t *testing.T) {
			const requests = 4000
			r := struck(t, result.Spec{
				Algorithm: "desk", Nodes: 6, Requests: requests, Transport: network, Set: map[string]string{"think": "100us"}},
				"kill 2 @100ms", "restart 2 @+150ms",
				"kill token @request:300", "restart token @+50ms",
				"kill 4,5 @entry:800", "restart 4,5 @+100ms", // both at once
				"kill waiting @entry:1500",
				"kill 6 @1ns", "restart 6 @+20ms")
			if r.Status != result.OK {
				t.Fatalf("status %s: %s %v", r.Status, r.Error, r.Liveness.States)
			}
			if len(r.Faults) != 9 {
				t.Fatalf("%d faults: %+v; %q", len(r.Faults), r.Faults, r.Warnings)
			}
			var lost uint64
			dead := 0
			for i, f := range r.Faults {
				lost += f.Lost
				if f.What == "kill" && strings.Contains(f.Fault, "waiting") {
					dead = f.Nodes[0]
					if f.Lost != 1 {
						t.Errorf("it did not wait: %+v", f)
					}
				}
				if f.What == "kill" && strings.Contains(f.Fault, "token") && f.Lost != 1 {
					t.Errorf("it did not have the token: %+v", f)
				}
				if i < 8 && (f.RecoveredNS == nil || f.Messages == nil) {
					t.Errorf("nobody went on after %+v", f)
				}
			}
			for id, entries := range r.Work.EntriesByNode {
				if share := uint64(requests / 6); id+1 != dead && entries < share-3 {
					t.Errorf("node %d entered %d times; its share is %d", id+1, entries, share)
				}
			}
			if r.Requests != r.Entries+lost {
				t.Errorf("%d requests, %d entries, %d lost with those that asked", r.Requests, r.Entries, lost)
			}
			if r.ResponseTime.Count != r.Entries {
				t.Errorf("%d records of %d entries", r.ResponseTime.Count, r.Entries)
			}
		})
	}
}

// A process that takes the place of a dead one reads the clocks when it begins: its
// start is no jump of the wall clock.
func TestAProcessThatComesLateReadsItsClocks(t *testing.T) {
	r := struck(t, result.Spec{Algorithm: "desk", Nodes: 3, Requests: 600, Set: map[string]string{"think": "100us"}},
		"kill 2 @request:20", "restart 2 @+10ms")
	theOnly(t, r, "restart")
	if r.Status != result.OK || warned(r, "wall clock was set") || warned(r, "was suspended") {
		t.Errorf("status %s: %s; warnings %q", r.Status, r.Error, r.Warnings)
	}
}

// A node joins a running system, and another leaves it.
func TestNodesJoinAndLeave(t *testing.T) {
	const requests = 2000
	r := struck(t, result.Spec{Algorithm: "desk", Nodes: 5, Requests: requests, Set: map[string]string{"think": "100us"}},
		"join 4 @200ms", "leave 3 @request:200", "join 5 @entry:100", "leave holder @entry:900")
	if r.Status != result.OK || len(r.Faults) != 4 {
		t.Fatalf("status %s: %s; %+v %q", r.Status, r.Error, r.Faults, r.Warnings)
	}
	n := r.Work.EntriesByNode
	left := theOnly(t, &result.Result{Faults: r.Faults[3:]}, "leave").Nodes[0]
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
	for _, whom := range []string{"2", "holder", "token"} {
		spec := result.Spec{Algorithm: "desk", Nodes: 4, Duration: result.Duration(1500 * time.Millisecond)}
		spec.StallAfter = result.Duration(300 * time.Millisecond)
		r := struck(t, spec, "pause "+whom+" @200ms-1.2s")
		f := theOnly(t, r, "pause")
		if r.Status != result.OK || f.EndedNS == nil || *f.EndedNS < 9e8 || *f.EndedNS > 3e9 || f.Lost != 0 {
			t.Errorf("%s: status %s: %s; %+v", whom, r.Status, r.Error, f)
		}
		if whom != "2" && (f.RecoveredNS == nil || *f.RecoveredNS < *f.EndedNS) {
			t.Errorf("%s: others entered while the one inside stood still: %+v", whom, f)
		}
	}
}

// Faults that do not come to pass are told.
func TestFaultsThatDoNotComeToPass(t *testing.T) {
	r := struck(t, result.Spec{Algorithm: "desk", Nodes: 3, Requests: 300}, "kill 2 @1h", "kill 3 @entry:1000000", "restart 2 @request:10")
	if r.Status != result.OK || len(r.Faults) != 0 {
		t.Errorf("status %s, %+v", r.Status, r.Faults)
	}
	for _, want := range []string{"kill 2 @1h0m0s", "kill 3 @entry:1000000", "restart 2 @request:10"} {
		if !warned(r, want) {
			t.Errorf("nobody says what became of %q: %q", want, r.Warnings)
		}
	}
}
