package conformance

import (
	"fmt"
	"math/rand/v2"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// SearchFaults runs count schedules under each load in which nodes crash, come
// back, join and leave at random moments, as far as the algorithm says that it
// can bear it, and returns the first fault that it finds: two nodes in the
// critical section, a request of a node that is there that is not served although
// the algorithm promises it, a panic. It is nil for an algorithm that promises
// nothing, and on a single node.
func SearchFaults(a *dme.Algorithm, nodes int, set map[string]string, count uint64) error {
	opt, err := a.Resolve(set)
	if err != nil {
		return err
	}
	system, err := a.Prepare(dme.Config{Nodes: nodes, Seed: 1, Options: opt})
	if err != nil {
		return err
	}
	node := system.Node(1)
	_, restarts := node.(dme.Restarter)
	_, joins := node.(dme.Joiner)
	_, leaves := node.(dme.Leaver)
	if nodes < 2 || a.Survives == nil && !restarts && !joins && !leaves || a.Needs(opt).SequencedBroadcast {
		return nil
	}
	for seed := range count {
		for load := range vnet.Loads {
			rng := rand.New(rand.NewPCG(seed, 1))
			c := vnet.Config{Nodes: nodes, Seed: seed}
			if a.Survives != nil || restarts {
				c.Crashes = 1 + rng.IntN(3)
				c.Restarts = restarts && (a.Survives == nil || rng.IntN(3) > 0)
			}
			if leaves {
				c.Departures = rng.IntN(3)
			}
			if joins && rng.IntN(2) == 0 {
				c.Absent = []dme.NodeID{dme.NodeID(1 + rng.IntN(nodes))}
			}
			s, err := drawSchedule(a, c, set, load, rng)
			if err != nil {
				return err
			}
			s.Fault = 1 / float64(1+rng.IntN(8*nodes))
			if err := s.runWithFaults(); err != nil {
				return fmt.Errorf("%s: with faults on %d nodes, %v, %v, seed %d: %w", a.Name, nodes, set, load, seed, err)
			}
		}
	}
	return nil
}

// runWithFaults ends when nothing moves any more. Messages may be refused: what
// was meant for one who is gone finds another.
func (s *schedule) runWithFaults() error {
	for range maxSteps {
		if !s.step() {
			if s.Err() == nil && s.Stuck() {
				return fmt.Errorf("nodes %v "+Stalled+"\n%s", s.Waiting(), s.States())
			}
			return s.Err()
		}
		if err := s.Err(); err != nil {
			return err
		}
	}
	return fmt.Errorf("no end after %d steps\n%s", maxSteps, s.States())
}
