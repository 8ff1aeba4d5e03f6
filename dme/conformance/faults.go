package conformance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// SearchFaults runs count schedules under each load in which nodes crash, come back, join and leave
// at random moments, as far as the algorithm says that it tolerates that, and returns the first
// fault that it finds: two nodes in the critical section, a request of a node that is there that is
// not served although the algorithm promises it, a panic. It is nil for an algorithm that promises
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
	_, member := node.(dme.Member)
	if nodes < 2 || a.Survives == nil && !restarts && !member || a.Needs(opt).SequencedBroadcast {
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
			if member {
				c.Departures = rng.IntN(3)
			}
			if member && rng.IntN(2) == 0 {
				c.Absent = []dme.NodeID{dme.NodeID(1 + rng.IntN(nodes))}
			}
			s, err := drawSchedule(a, c, set, load, rng)
			if err != nil {
				return err
			}
			s.Fault = 1 / float64(1+rng.IntN(8*nodes))
			if err := s.run(s.notStuck); err != nil {
				return fmt.Errorf("%s: with faults on %d nodes, %v, %v, seed %d: %w", a.Name, nodes, set, load, seed, err)
			}
		}
	}
	return nil
}

// notStuck judges a schedule with faults in which nothing moves any more. Messages may have been
// refused: one meant for a node that is gone reaches its successor.
func (s *schedule) notStuck() error {
	if s.Stuck() {
		return fmt.Errorf("nodes %v "+Stalled+"\n%s", s.Waiting(), s.States())
	}
	return nil
}

// runGarbage runs a schedule into which messages are thrown that no correct node has sent now:
// random ones, and copies of earlier ones to any node. The algorithm may lose safety and liveness
// to them, but it must not panic.
func runGarbage(a *dme.Algorithm, nodes int, set map[string]string, seed uint64) (err error) {
	s, err := newSchedule(a, nodes, set, vnet.Churn, seed)
	if err != nil {
		return err
	}
	var last dme.Message
	var from, to dme.NodeID
	var past []dme.Message
	for range 150 {
		if flights := s.network.InFlight(); len(flights) > 0 {
			past = append(past, clone(flights[s.rng.IntN(len(flights))].Message))
		}
		if s.rng.IntN(3) == 0 {
			from, to = s.anybody(), dme.NodeID(1+s.rng.IntN(nodes))
			last = randomMessage(s.rng, len(a.Kinds), nodes)
			if len(past) > 0 && s.rng.IntN(2) == 0 {
				last = clone(past[s.rng.IntN(len(past))])
			}
			m := last
			s.Host(to).Receive(from, &m)
		} else if !s.step() {
			s.network.AllowMore(1)
		}
		if v := s.network.Violation; v != nil && v.Property == vnet.Sanity {
			return fmt.Errorf("on %d nodes, %v, seed %d: %v\nafter %+v from node %d to node %d\n%s",
				nodes, set, seed, v, last, from, to, s.States())
		}
	}
	return nil
}

// anybody returns a sender, mostly a node of the system.
func (s *schedule) anybody() dme.NodeID {
	return dme.NodeID(s.rng.IntN(s.Nodes + 2))
}

func clone(m dme.Message) dme.Message {
	m.Vec = slices.Clone(m.Vec)
	return m
}

// randomMessage returns a message of any kind whose fields are often plausible.
func randomMessage(rng *rand.Rand, kinds, nodes int) dme.Message {
	number := func() uint64 {
		switch rng.IntN(8) {
		case 0:
			return rng.Uint64()
		case 1:
			return math.MaxUint64
		case 2, 3:
			return 0
		}
		return uint64(rng.IntN(6))
	}
	node := func() dme.NodeID {
		if rng.IntN(8) == 0 {
			return dme.NodeID(rng.Uint32())
		}
		return dme.NodeID(rng.IntN(nodes + 2))
	}
	stamp := func() dme.Stamp { return dme.Stamp{Clock: number(), Node: node()} }
	m := dme.Message{
		Kind: dme.Kind(rng.IntN(kinds + 2)), Flags: uint8(number()), Node: node(),
		Clock: number(), Num: number(), Req: stamp(), Done: stamp(),
	}
	if rng.IntN(2) == 0 {
		m.Vec = make([]uint64, rng.IntN(2*nodes+3))
		for i := range m.Vec {
			m.Vec[i] = number()
		}
	}
	return m
}
