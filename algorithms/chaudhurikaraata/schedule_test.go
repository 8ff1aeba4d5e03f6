package chaudhurikaraata

import (
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
	"dmebench/internal/testkit"
)

// randomly walks through a random schedule in which each node asks so many times,
// and checks the invariants in every state.
func randomly(a *dme.Algorithm, nodes int, set map[string]string, seed uint64, requests int) error {
	var s snapshot
	look := func(net *conformance.Net, _ *vnet.Event) error {
		if s.sys == nil {
			s = snapshot{sys: net.Setting.System.(*system), nodes: make([]*node, nodes+1)}
			for id := range s.nodes[1:] {
				s.nodes[id+1] = net.Host(dme.NodeID(id + 1)).Node().(*node)
			}
		}
		s.inside, s.onWay = net.Inside(), s.onWay[:0]
		for _, f := range net.Flying() {
			s.onWay = append(s.onWay, f.Message)
		}
		return s.check()
	}
	w := conformance.Walk{Algorithm: a, Nodes: nodes, Set: set, Requests: conformance.Each(requests), Load: vnet.Churn, Seed: seed, Look: look}
	_, err := w.Run()
	return err
}

func TestRandomSchedules(t *testing.T) {
	for _, r := range repairs {
		for _, x := range []struct {
			nodes     int
			mesh      string
			schedules uint64
		}{{64, "auto", 2}, {27, "auto", 10}, {25, "3x3x3", 10}, {8, "auto", 60}, {7, "2x2x2", 60}, {6, "1x1x6", 100}, {6, "1x2x3", 100}} {
			schedules := x.schedules
			if testkit.Full() {
				schedules *= 50
			}
			for seed := range schedules {
				if err := randomly(Algorithm(), x.nodes, map[string]string{optMesh: x.mesh, optRepair: string(r)}, seed, 2); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
