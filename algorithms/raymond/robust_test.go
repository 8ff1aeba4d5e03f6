package raymond

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
	"dmebench/internal/noderun"
)

// The whole number of random schedules takes a minute.
var full = flag.Bool("full", false, "search as many schedules as is promised")

func TestRobustConformance(t *testing.T) { conformance.Test(t, Robust()) }

// privileges counts the nodes that have the privilege, and those on the way, and
// reports whether all nodes are up and know their HOLDER.
func privileges(n *vnet.Network) (count int, settled bool) {
	settled = true
	for id := range n.IDs() {
		node := n.Runner(id).Node().(dme.TokenHolder)
		if node.HasToken() {
			count++
		}
		if n.Runner(id).Node().(*robust).holder == dme.None {
			settled = false // this is so of a node that is down, too
		}
	}
	for _, f := range n.InFlight() {
		if f.Kind == kindPrivilege {
			count++
		}
	}
	return count, settled
}

// onePrivilege says what is wrong with the number of privileges: there is never a
// second one, and none only while a node still has to find out where it is.
func onePrivilege(n *vnet.Network) error {
	if count, settled := privileges(n); count > 1 || settled && count != 1 {
		return fmt.Errorf("%d privileges", count)
	}
	return nil
}

// recover runs a schedule in which so many nodes crash and come back, drawn from
// seed, and says what was wrong with it.
func recoverAtRandom(a *dme.Algorithm, nodes, crashes int, tree string, seed uint64) error {
	opt, err := a.Resolve(map[string]string{optTree: tree})
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(seed, 912))
	m, err := vnet.NewModel(vnet.Config{
		Algorithm: a, Nodes: nodes, Options: opt, Seed: seed, Crashes: crashes, Restarts: true,
		Requests: func(dme.NodeID) int { return 1 + rng.IntN(4) },
	})
	if err != nil {
		return err
	}
	n := vnet.New(m)
	s := &vnet.Schedule{
		Network: n, Rand: rng, Load: vnet.Load(rng.IntN(int(vnet.Loads))), Choose: vnet.Chance{Rand: rng},
		Fault: 1 / float64(1+rng.IntN(8*nodes)),
	}
	s.Begin()
	for {
		x, ok := s.Next()
		if !ok {
			break
		}
		n.Take(x)
		if n.Violation != nil {
			return fmt.Errorf("seed %d: %s", seed, n.Violation.Verdict)
		}
		if err := onePrivilege(n); err != nil {
			return fmt.Errorf("seed %d: after %v: %w\n%s", seed, x, err, n.States())
		}
		if n.Steps > 100_000 {
			return fmt.Errorf("seed %d: no end after %d steps\n%s", seed, n.Steps, n.States())
		}
	}
	if len(n.Waiting()) > 0 {
		return fmt.Errorf("seed %d: nodes %v wait and nothing moves\n%s", seed, n.Waiting(), n.States())
	}
	if count, reason := n.Refused(); count > 0 {
		return fmt.Errorf("seed %d: %d messages refused: %s\n%s", seed, count, reason, n.States())
	}
	sent := func(k dme.Kind) uint64 { return n.Sum(func(c *noderun.Counters) uint64 { return c.Sent[k].Load() }) }
	if sent(kindAdvise) > sent(kindRestart) {
		return fmt.Errorf("seed %d: %d ADVISE for %d RESTART", seed, sent(kindAdvise), sent(kindRestart))
	}
	return nil
}

func TestRecoveryAtRandom(t *testing.T) {
	schedules := uint64(300)
	if *full {
		schedules = 10_000
	}
	for _, nodes := range []int{1, 2, 3, 4, 7, 13} {
		for _, crashes := range []int{1, 2, 5} {
			for _, tree := range []string{"binary", "line", "star"} {
				for seed := range schedules {
					if err := recoverAtRandom(Robust(), nodes, crashes, tree, seed); err != nil {
						t.Fatalf("%d nodes, %d crashes, %s: %v", nodes, crashes, tree, err)
					}
				}
			}
		}
	}
}
