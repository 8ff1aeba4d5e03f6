package chaudhurikaraata

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/noderun"
)

// randomly runs net through a random schedule in which each node asks rounds
// times, and checks the invariants in every state.
func randomly(net *conformance.Net, seed uint64, rounds int) error {
	rng := rand.New(rand.NewPCG(seed, 3))
	sys := net.Setting.System.(*system)
	s := snapshot{sys: sys, nodes: make([]*node, sys.nodes+1)}
	left := make([]int, sys.nodes+1)
	var ends [][2]dme.NodeID
	for id := dme.NodeID(1); int(id) <= sys.nodes; id++ {
		s.nodes[id] = net.Host(id).Node().(*node)
		left[id] = rounds
		for _, peer := range sys.Peers(id) {
			ends = append(ends, [2]dme.NodeID{id, peer})
		}
	}
	ask, leave := 1+rng.IntN(30), 1+rng.IntN(30)
	for step := 0; ; step++ {
		s.inside, s.onWay = net.Inside(), s.onWay[:0]
		var busy [][2]dme.NodeID
		for _, e := range ends {
			if on := net.InFlight(e[0], e[1]); len(on) > 0 {
				busy, s.onWay = append(busy, e), append(s.onWay, on...)
			}
		}
		if err := s.check(); err != nil {
			return fmt.Errorf("seed %d, step %d: %w\n%s", seed, step, err, net.States())
		}
		var idle []dme.NodeID
		for id := dme.NodeID(1); int(id) <= sys.nodes; id++ {
			if left[id] > 0 && net.Host(id).Activity() == noderun.Idle {
				idle = append(idle, id)
			}
		}
		switch {
		case len(idle) > 0 && (rng.IntN(100) < ask || len(busy)+len(s.inside) == 0):
			id := idle[rng.IntN(len(idle))]
			left[id]--
			net.Request(id)
		case len(s.inside) > 0 && (rng.IntN(100) < leave || len(busy) == 0):
			net.Release(s.inside[0])
		case len(busy) > 0:
			e := busy[rng.IntN(len(busy))]
			net.Deliver(e[0], e[1], 0)
		default:
			if len(net.Entries) != rounds*sys.nodes || slices.Max(left) > 0 || net.Refused() > 0 {
				return fmt.Errorf("seed %d: %d of %d requests served, %d messages refused\n%s",
					seed, len(net.Entries), rounds*sys.nodes, net.Refused(), net.States())
			}
			return net.Err()
		}
	}
}

func TestRandomSchedules(t *testing.T) {
	for _, r := range repairs {
		for _, x := range []struct {
			nodes     int
			mesh      string
			schedules uint64
		}{{64, "auto", 2}, {27, "auto", 10}, {25, "3x3x3", 10}, {8, "auto", 60}, {7, "2x2x2", 60}, {6, "1x1x6", 100}, {6, "1x2x3", 100}} {
			schedules := x.schedules
			if *full {
				schedules *= 50
			}
			for seed := range schedules {
				if err := randomly(newNet(t, x.nodes, x.mesh, r), seed, 2); err != nil {
					t.Fatalf("%s, %s of %d: %v", r, x.mesh, x.nodes, err)
				}
			}
		}
	}
}
