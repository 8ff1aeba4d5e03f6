package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/internal/testkit"
	"dmebench/runs"
)

// flags writes faults as flags.
func flags(faults ...string) []string {
	var all []string
	for _, f := range faults {
		all = append(all, "--fault", f)
	}
	return all
}

// struck returns the fault that was asked for by these words.
func struck(t *testing.T, r *runs.Result, words string) *runs.Fault {
	t.Helper()
	i := slices.IndexFunc(r.Faults, func(f runs.Fault) bool { return strings.HasPrefix(f.Fault, words) })
	if i < 0 {
		t.Fatalf("%s has not taken place: %+v; warnings %q", words, r.Faults, r.Warnings)
	}
	return &r.Faults[i]
}

// held fails the test where a run is not as it must be under faults that its
// algorithm survives.
func held(t *testing.T, r *runs.Result, code int, faults int) {
	t.Helper()
	if code != 0 || r.Status != runs.OK || r.Safety.Violations != 0 || r.Liveness.Pending != 0 || r.FailedNodes != nil {
		t.Fatalf("exit code %d, %s: %s; %d violations, %d pending, failed nodes %v\n%+v\n%s", code, r.Status, r.Error,
			r.Safety.Violations, r.Liveness.Pending, r.FailedNodes, r.Faults, strings.Join(r.Liveness.States, "\n"))
	}
	if len(r.Faults) != faults {
		t.Fatalf("%d of %d faults have taken place: %+v; warnings %q", len(r.Faults), faults, r.Faults, r.Warnings)
	}
	var lost uint64
	for _, f := range r.Faults {
		lost += f.Lost
	}
	if r.Requests != r.Entries+lost {
		t.Errorf("%d requests, %d entries, and %d ended with their nodes", r.Requests, r.Entries, lost)
	}
}

// Three of eight nodes of ricart-agrawala-robust are killed under saturation, one of
// them in its critical section, and two come back (TR-869, section 7): never are two
// in the critical section, the others go on within the time that the algorithm
// declares for detection, and those that come back enter as often as they had still
// to.
func TestRobustRicartAgrawalaSurvives(t *testing.T) {
	testkit.TakesLong(t)
	t.Parallel()
	const (
		nodes, share = 8, 200
		bound        = time.Second // of a message's delay: far more than it takes, for machines that are busy
		estimate     = 10 * time.Millisecond
		detection    = 4*bound + estimate
	)
	for _, network := range []string{"tcp", "udp", "nats"} {
		t.Run(network, func(t *testing.T) {
			t.Parallel()
			for seed := 1; seed <= effort(1, 2, 20); seed++ {
				// Nobody enters for a while after the first kill, and so all three are down
				// before the first comes back.
				faults := []string{
					fmt.Sprintf("kill holder @entry:%d", 40+13*seed%100), "kill waiting @1s", "kill random @1100ms",
					"restart holder @entry:600", "restart waiting @entry:700",
				}
				r, code := measure(t, append([]string{
					"-a", "ricart-agrawala-robust", "-n", fmt.Sprint(nodes), "--transport", network, "--seed", fmt.Sprint(seed),
					"--requests", fmt.Sprint(nodes * share), "--cs", "200us", "--stall-after", "30s",
					"--set", fmt.Sprint("bound=", bound), "--set", fmt.Sprint("cs-bound=", estimate),
				}, flags(faults...)...)...)
				if overtaken(r) {
					t.Skipf("this machine has broken the bound: %q", r.Warnings)
				}
				held(t, r, code, len(faults))
				holder, waiting, random := struck(t, r, "kill holder"), struck(t, r, "kill waiting"), struck(t, r, "kill random")
				down := []int{holder.Nodes[0], waiting.Nodes[0], random.Nodes[0]}
				if holder.Lost != 1 || waiting.Lost != 1 {
					t.Errorf("the one inside lost %d requests and the one that waited %d", holder.Lost, waiting.Lost)
				}
				goesOn(t, r, detection, bound)
				for id := 1; id <= nodes; id++ {
					entries := r.Work.EntriesByNode[id-1]
					switch {
					case id == holder.Nodes[0] || id == waiting.Nodes[0]:
						// What it lost was one of its share.
						if entries != share-1 {
							t.Errorf("node %d came back, and entered %d times of %d", id, entries, share-1)
						}
					case id == random.Nodes[0]:
						if entries >= share {
							t.Errorf("node %d was killed and entered %d times", id, entries)
						}
					case entries != share:
						t.Errorf("node %d entered %d times of %d, while %v were down", id, entries, share, down)
					}
				}
			}
		})
	}
}

// goesOn fails the test where a kill kept the others from entering for longer than it
// may take to detect it, and every other kill that they had not got over then either:
// they may have to find out about one after the other.
func goesOn(t *testing.T, r *runs.Result, detection, bound time.Duration) {
	t.Helper()
	kills := slices.DeleteFunc(slices.Clone(r.Faults), func(f runs.Fault) bool { return f.What != "kill" })
	for _, f := range kills {
		if f.RecoveredNS == nil {
			t.Errorf("nobody entered after %+v", f)
			continue
		}
		count := 0
		for _, g := range kills {
			if g.AtNS <= f.AtNS+*f.RecoveredNS && (g.RecoveredNS == nil || f.AtNS <= g.AtNS+*g.RecoveredNS) {
				count++ // f is one of them
			}
		}
		// The first period begins when the last REPLY has come.
		if took, limit := time.Duration(*f.RecoveredNS), bound+time.Duration(count)*detection; took > limit {
			t.Errorf("%s: the others went on after %v, want %v at most (%d kills); %+v", f.Fault, took, limit, count, kills)
		}
	}
}
