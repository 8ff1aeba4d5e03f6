package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"dmebench/algorithms/raymond"
	"dmebench/dme"
	"dmebench/internal/noderun"
	"dmebench/result"
)

// In raymond-robust an interior node and a leaf are killed while privilege passes,
// perhaps with it, and come back: there is exactly one privilege then, and every
// request of a node that lives is served.
func TestRaymondRecovers(t *testing.T) {
	seeds := uint64(1000)
	if testing.Short() {
		seeds = 200
	}
	a := raymond.Robust()
	withToken := 0
	for seed := uint64(1); seed <= seeds; seed++ {
		rng := rand.New(rand.NewPCG(seed, 2))
		at := func(most time.Duration) time.Duration { return 1 + time.Duration(rng.Int64N(int64(most))) }
		const interior, leaf = 2, 7
		spec := result.Spec{
			Nodes: 7, Requests: 140, CS: "200us", Seed: seed, Set: map[string]string{"delay": []string{"constant", "uniform"}[seed%2]},
			Faults: []string{
				fmt.Sprintf("kill %d @%v", interior, at(150*time.Millisecond)), fmt.Sprintf("restart %d @+%v", interior, at(30*time.Millisecond)),
				fmt.Sprintf("kill %d @entry:%d", leaf, 1+rng.IntN(60)), fmt.Sprintf("restart %d @+%v", leaf, at(30*time.Millisecond)),
			},
		}
		if seed%3 == 0 {
			spec.Faults = append(spec.Faults, fmt.Sprintf("kill token @%v", at(150*time.Millisecond)), "restart token @+5ms")
		}
		s, err := newSimulation(context.Background(), resolve(t, spec, a))
		if err == nil {
			err = s.run()
		}
		if err != nil {
			t.Fatal(err)
		}
		privileges := 0
		for _, p := range s.procs {
			if p.Activity() != noderun.Idle {
				t.Errorf("seed %d: node %d is %v at the end", seed, p.ID(), p.Activity())
			}
			if p.Node().(dme.TokenHolder).HasToken() {
				privileges++
			}
		}
		if s.status != result.OK || privileges != 1 || s.witness.violations > 0 || len(s.faults.strikes) < 4 {
			t.Fatalf("seed %d: %s (%s): %d privileges, %d violations, %d of %d faults: %v\n%v", seed, s.status, s.err,
				privileges, s.witness.violations, len(s.faults.strikes), len(spec.Faults), spec.Faults, s.states())
		}
		for _, x := range s.faults.strikes {
			if x.Fault.Role == "token" {
				withToken++
			}
		}
	}
	if withToken < int(seeds/2) {
		t.Errorf("only %d times the node with the token was hit", withToken)
	}
}
