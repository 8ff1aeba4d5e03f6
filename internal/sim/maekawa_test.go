package sim

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms/maekawa"
	"dmebench/runs"
)

var searchRuns = flag.Int("search-runs", 20000, "how many random runs the search for a stall makes")

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
	all := searches()
	for _, spec := range all {
		set := spec.Set
		t.Run(fmt.Sprintf("%s/%s/%d/%s%s", spec.Workload, set["quorum"], spec.Nodes, set["window"], set["think"]), func(t *testing.T) {
			t.Parallel()
			first := resolve(t, spec, maekawa.Algorithm())
			for seed := range uint64(*searchRuns / slower / len(all)) {
				job, err := first.WithSeed(seed + 1)
				if err != nil {
					t.Fatal(err)
				}
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

// TestMaekawaWithoutR1 takes the rule out that sends FAILED to a waiting
// request which a better one passes (R1 in algorithms/maekawa): the search must
// then find the deadlock, or it would prove nothing.
func TestMaekawaWithoutR1(t *testing.T) {
	file, err := filepath.Abs("../../algorithms/maekawa/maekawa.go")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const rule = `	if others && head.Precedes(n.locking) {
		n.fail(head, out)
	}
`
	if strings.Count(string(source), rule) != 1 {
		t.Fatalf("%s: the patch no longer applies: rule R1 does not stand there as\n%s", file, rule)
	}
	mutant := filepath.Join(t.TempDir(), "maekawa.go")
	if err := os.WriteFile(mutant, []byte(strings.Replace(string(source), rule, "", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {file: mutant}})
	if err != nil {
		t.Fatal(err)
	}
	replace := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(replace, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	search := exec.Command("go", "test", "-overlay", replace, "-run", "^TestMaekawaSearch$", ".", "-args", "-search-runs=2400")
	out, err := search.CombinedOutput()
	if err == nil {
		t.Fatalf("without rule R1 the search finds nothing:\n%s", out)
	}
	// A mutant that does not compile fails too, but shows nothing. Every load
	// must find the deadlock by itself.
	text := string(out)
	found := strings.Count(text, "--- FAIL: TestMaekawaSearch/")
	if found != len(searches()) || strings.Count(text, ": stalled,") != found {
		t.Fatalf("without rule R1 each of %d loads ought to stall, not so: %v\n%s", len(searches()), err, out)
	}
}
