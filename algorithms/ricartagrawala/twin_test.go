package ricartagrawala

import (
	"fmt"
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
)

// pair is the algorithm with bounded numbers beside the original, which keeps
// them all: both go through the same schedule, and must do the same.
type pair struct {
	bounded *conformance.Net
	nodes   int
	modulus uint64
	widest  uint64
}

// follow does in the bounded algorithm what the original has done, and compares
// them.
func (p *pair) follow(original *conformance.Net, e *vnet.Event) error {
	switch e.Step.Kind {
	case vnet.Ask:
		p.bounded.Request(e.Node)
	case vnet.Exit:
		p.bounded.Release(e.Node)
	case vnet.Deliver:
		p.bounded.Deliver(e.From, e.Node, e.Index)
	}
	if err := p.compare(original); err != nil {
		return fmt.Errorf("M=%d: %w\n%s", p.modulus, err, p.bounded.States())
	}
	return nil
}

// compare says how the two differ, nil if they do not, and notes how far apart
// the numbers on the way are.
func (p *pair) compare(original *conformance.Net) error {
	lowest, highest := ^uint64(0), uint64(0)
	for from := dme.NodeID(1); int(from) <= p.nodes; from++ {
		for to := dme.NodeID(1); int(to) <= p.nodes; to++ {
			a, b := p.bounded.InFlight(from, to), original.InFlight(from, to)
			if len(a) != len(b) {
				return fmt.Errorf("from %d to %d: %v, the original %v", from, to, a, b)
			}
			for i := range a {
				if a[i].Kind != b[i].Kind || a[i].Clock != b[i].Clock%p.modulus {
					return fmt.Errorf("from %d to %d: %v, the original %v", from, to, a[i], b[i])
				}
				if b[i].Kind == kindRequest {
					lowest, highest = min(lowest, b[i].Clock), max(highest, b[i].Clock)
				}
			}
		}
	}
	if highest > 0 {
		p.widest = max(p.widest, highest-lowest)
	}
	if a, b := p.bounded.Inside(), original.Inside(); !slices.Equal(a, b) {
		return fmt.Errorf("%v are in the critical section, of the original %v", a, b)
	}
	return nil
}

// Nobody can tell the bounded algorithm from the original, message by message;
// and numbers lie between x and x+N−1, and do reach both.
func TestTwin(t *testing.T) {
	for _, nodes := range []int{1, 2, 3, 4, 6} {
		widest := uint64(0)
		for _, modulus := range []uint64{smallest(nodes), 2*uint64(nodes) + 3} {
			for seed := range uint64(150) {
				set := map[string]string{"modulus": fmt.Sprint(modulus)}
				p := &pair{bounded: conformance.Make(t, Bounded(), nodes, set), nodes: nodes, modulus: modulus}
				_, err := conformance.Walk{
					Algorithm: Algorithm(), Nodes: nodes, Requests: func(id dme.NodeID) int { return 1 + int(seed+uint64(id)*5)%8 },
					Load: vnet.Churn, Reorder: true, Seed: seed, Look: p.follow,
				}.Run()
				if err != nil {
					t.Fatal(err)
				}
				widest = max(widest, p.widest)
			}
		}
		if widest > uint64(nodes)-1 {
			t.Errorf("N=%d: numbers from x to x+%d, want at most x+%d", nodes, widest, nodes-1)
		}
		if nodes <= 3 && widest < uint64(nodes)-1 {
			t.Errorf("N=%d: numbers never more than %d apart; the schedules are too tame", nodes, widest)
		}
	}
}
