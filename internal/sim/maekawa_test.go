package sim

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms/maekawa"
	"dmebench/internal/testkit"
	"dmebench/runs"
)

// searches are the loads under which Maekawa's algorithm has been seen to
// deadlock where a rule is missing. A steady saturated load is not among them:
// there requests arrive in the order of their timestamps, which hides it.
func searches() []runs.Spec {
	var all []runs.Spec
	for _, x := range []struct {
		quorum string
		nodes  int
	}{{"plane", 7}, {"plane", 13}, {"plane", 31}, {"grid", 9}} {
		set := func(more ...string) map[string]string {
			m := map[string]string{"quorum": x.quorum, "delay": "exponential", "t": "1ms"}
			for i := 0; i < len(more); i += 2 {
				m[more[i]] = more[i+1]
			}
			return m
		}
		// Churn near half load: the nodes together ask about as often as half
		// of 1/(2T + E), which is what the algorithm can serve.
		think := time.Duration(2*x.nodes) * 2100 * time.Microsecond
		all = append(all,
			runs.Spec{Nodes: x.nodes, Workload: "burst", Requests: x.nodes, Set: set("window", "1ms")},
			runs.Spec{Nodes: x.nodes, Workload: "burst", Requests: 3 * x.nodes, Set: set("window", "200us")},
			runs.Spec{Nodes: x.nodes, Workload: "saturate", Requests: 5 * x.nodes, Set: set("think", "exp:"+think.String())},
		)
	}
	return all
}

// TestMaekawaSearch searches random runs for a stall, a violation or an entry
// that is missing.
func TestMaekawaSearch(t *testing.T) {
	all, tries := searches(), 2000
	if testkit.Long() {
		tries = 20_000
	}
	for _, spec := range all {
		set := spec.Set
		t.Run(fmt.Sprintf("%s/%s/%d/%s%s", spec.Workload, set["quorum"], spec.Nodes, set["window"], set["think"]), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(tries / slower / len(all)) {
				spec.Seed = seed + 1
				job := resolve(t, spec, maekawa.Algorithm())
				o, err := observe(context.Background(), job, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if o.Status != runs.OK || o.WitnessViolations > 0 || len(o.Entries) != spec.Requests {
					t.Fatalf("seed %d: %s, %d violations, %d of %d entries: %s\n%s", job.Spec.Seed, o.Status,
						o.WitnessViolations, len(o.Entries), spec.Requests, o.Error, strings.Join(o.States, "\n"))
				}
			}
		})
	}
}
