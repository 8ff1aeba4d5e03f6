package sim

import (
	"strings"
	"testing"

	"dmebench/algorithms/raymond"
	"dmebench/algorithms/suzukikasami"
	"dmebench/result"
)

// A stalled run says what became of the token: whether it was lost on a link, or
// died with its holder or with whom it was on its way to; and which message was
// lost where nobody had it.
func TestWhatBecameOfTheToken(t *testing.T) {
	for _, x := range []struct {
		name, trace, fault, want string
	}{
		// Node 1 has the token. A REQUEST sent at 1 ms is answered at 2 ms.
		{"lost on a link", "0.001,2\n", "partition 1|2 @1500us", "it was lost with PRIVILEGE 1→2"},
		{"died on its way", "0.001,2\n0.004,1\n", "kill 2 @2500us", "it died with node 2"},
		{"sent to the dead", "0.001,2\n0.004,1\n", "kill 2 @1500us", "it died with node 2"},
		{"died with its holder", "0.001,2\n0.004,1\n", "kill 2 @3500us", "it died with node 2"},
		{"died idle", "0.002,2\n", "kill 1 @1ms", "it died with node 1"},
		{"is where it was", "0.001,2\n", "partition 1|2 @500us", "lost on the link REQUEST 2→1"},
	} {
		// Node 3 is down as well, and has nothing to do with it.
		r := struck(t, raymond.Algorithm(), 3, x.trace, x.fault, "kill 3 @0s")
		why := strings.Join(r.Liveness.Why, "; ")
		if r.Status != result.Stalled || !strings.Contains(why, x.want) {
			t.Errorf("%s: %s: %q; want %q", x.name, r.Status, why, x.want)
		}
	}
}

// A node that gives the token away and asks again at once sends a REQUEST in the same
// step, which does not carry it.
func TestRequestsCarryNoToken(t *testing.T) {
	r := simulate(t, result.Spec{Nodes: 8, Faults: []string{"partition 1-4|5-8 @20ms-40ms"}}, suzukikasami.Algorithm())
	if why := strings.Join(r.Liveness.Why, "; "); !strings.Contains(why, "it was lost with TOKEN 4→5") {
		t.Errorf("%s: %q", r.Status, why)
	}
}

// On links that lose there is no fault to blame.
func TestTokenLostOnALink(t *testing.T) {
	for seed := uint64(1); seed < 20; seed++ {
		r := simulate(t, result.Spec{
			Nodes: 2, Requests: 200, Seed: seed, AllowMismatch: true, Set: map[string]string{"loss": "0.02"},
		}, raymond.Algorithm())
		why := strings.Join(r.Liveness.Why, "; ")
		if strings.Contains(why, "lost with REQUEST") {
			t.Errorf("seed %d: a REQUEST carries no token: %q", seed, why)
		}
		token, request := strings.Contains(why, "it was lost with PRIVILEGE"), strings.Contains(why, "lost on the link REQUEST")
		if r.Status == result.Stalled && !token && !request {
			t.Errorf("seed %d: %q", seed, why)
		}
	}
}
