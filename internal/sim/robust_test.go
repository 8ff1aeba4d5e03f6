package sim

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms/ricartagrawala"
	"dmebench/result"
)

// In ricart-agrawala-robust any nodes may be killed at any time, and come back,
// join and leave: never are two in the critical section, and everybody who lives is
// served, however the newcomer is brought in.
func TestRobustRicartAgrawala(t *testing.T) {
	seeds := uint64(1000)
	if testing.Short() {
		seeds = 150
	}
	a := ricartagrawala.Robust()
	ways := []map[string]string{}
	for _, o := range a.Options {
		for _, v := range o.Examples() {
			ways = append(ways, map[string]string{o.Name: v})
		}
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		rng := rand.New(rand.NewPCG(seed, 3))
		at := func() time.Duration { return time.Duration(rng.IntN(100_000)) * time.Microsecond }
		nodes := 3 + rng.IntN(6)
		set := map[string]string{"delay": []string{"constant", "uniform"}[rng.IntN(2)]}
		for name, value := range ways[rng.IntN(len(ways))] {
			set[name] = value
		}
		faults := []string{
			fmt.Sprintf("kill holder @entry:%d", 1+rng.IntN(30)), fmt.Sprintf("restart holder @+%v", at()),
			fmt.Sprintf("kill 2 @%v", at()), fmt.Sprintf("restart 2 @+%v", at()/4),
			fmt.Sprintf("kill random @%v", at()),
		}
		if nodes > 4 {
			faults = append(faults, fmt.Sprintf("%s 5 @%v", []string{"kill", "leave", "join"}[rng.IntN(3)], at()))
		}
		r := simulate(t, result.Spec{Nodes: nodes, Requests: 20 * nodes, Seed: seed, Set: set, Faults: faults, AllowMismatch: true}, a)
		if r.Status != result.OK || r.Safety.Violations > 0 || r.Liveness.Pending > 0 {
			t.Errorf("seed %d: N=%d %v %q: %s: %s, %d violations, %d pending\n%s", seed, nodes, set, faults, r.Status, r.Error,
				r.Safety.Violations, r.Liveness.Pending, strings.Join(r.Liveness.States, "\n"))
		}
	}
}
