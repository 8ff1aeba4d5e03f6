package maekawa_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/noderun"
)

// verdict is what became of a schedule.
type verdict string

const (
	held    verdict = "held"
	unsafe  verdict = "unsafe"  // two nodes in the critical section
	stalled verdict = "stalled" // a request is pending and nothing moves
)

// schedule is a random run in which each asker asks rounds times. In a cold burst
// all ask before any message is delivered.
type schedule struct {
	seed   uint64
	rounds int
	cold   bool
	askers []dme.NodeID // nil: all
}

func (s schedule) run(t *testing.T, net *conformance.Net) verdict {
	t.Helper()
	rng := rand.New(rand.NewPCG(s.seed, 0))
	askers := s.askers
	for id := dme.NodeID(1); s.askers == nil && int(id) <= net.Setting.Nodes; id++ {
		askers = append(askers, id)
	}
	left := make(map[dme.NodeID]int)
	for _, id := range askers {
		left[id] = s.rounds
		if s.cold {
			left[id]--
			net.Request(id)
		}
	}
	for {
		if err := net.Err(); err != nil {
			if !strings.Contains(err.Error(), "are in the critical section") {
				t.Fatal(err)
			}
			return unsafe
		}
		busy := busyLinks(net)
		var idle []dme.NodeID
		for _, id := range askers {
			if left[id] > 0 && net.Host(id).Activity() == noderun.Idle {
				idle = append(idle, id)
			}
		}
		in := net.Inside()
		switch {
		case len(in) > 0 && (len(busy) == 0 || rng.IntN(8) == 0):
			net.Release(in[0])
		case len(idle) > 0 && (len(busy) == 0 || rng.IntN(8) == 0):
			id := idle[rng.IntN(len(idle))]
			left[id]--
			net.Request(id)
		case len(busy) > 0:
			link := busy[rng.IntN(len(busy))]
			net.Deliver(link[0], link[1], 0)
		default:
			for _, id := range askers {
				if net.Host(id).Activity() != noderun.Idle {
					return stalled
				}
			}
			return held
		}
	}
}

func busyLinks(net *conformance.Net) [][2]dme.NodeID {
	var busy [][2]dme.NodeID
	for from := dme.NodeID(1); int(from) <= net.Setting.Nodes; from++ {
		for to := dme.NodeID(1); int(to) <= net.Setting.Nodes; to++ {
			if len(net.InFlight(from, to)) > 0 {
				busy = append(busy, [2]dme.NodeID{from, to})
			}
		}
	}
	return busy
}

// search counts the verdicts over seeds.
func search(t *testing.T, a *dme.Algorithm, nodes int, set map[string]string, s schedule, seeds int) map[verdict]int {
	t.Helper()
	count := make(map[verdict]int)
	for seed := range uint64(seeds) {
		net, err := conformance.New(a, nodes, set)
		if err != nil {
			t.Fatal(err)
		}
		s.seed = seed
		count[s.run(t, net)]++
	}
	return count
}
