package ricartagrawala

import (
	"fmt"
	"slices"
	"strings"
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
	case dme.Request:
		p.bounded.Request(e.Node)
	case dme.Exit:
		p.bounded.Release(e.Node)
	case dme.Receive:
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

// withModulus returns the algorithm with a modulus that may be too small.
func withModulus(a *dme.Algorithm, m uint64) *dme.Algorithm {
	a.Options[0].Default = fmt.Sprint(m)
	a.ValidNodes = nil
	return a
}

// M = 2N−1 is enough, and tight: with 2N−2 the search finds a fault.
func TestModulusIsTight(t *testing.T) {
	for _, nodes := range []int{2, 3, 4} {
		enough := smallest(nodes)
		if err := conformance.Search(withModulus(Bounded(), enough), nodes, nil, 400); err != nil {
			t.Errorf("N=%d, M=2N−1: %v", nodes, err)
		}
		if err := conformance.Search(withModulus(Bounded(), enough-1), nodes, nil, 4000); err == nil {
			t.Errorf("N=%d, M=2N−2: no fault found", nodes)
		}
	}
}

// The way to it, for any number of nodes and any modulus. Node 1 enters with
// number 1 and forgets it. Nodes 2, 3, …, N ask, each having heard the one
// before, with numbers up to N. Node 1 hears of N first, which differs from its
// Highest_Sequence_Number, 0, by N: it replies, and takes it for an old number.
// When all before node N have been served, node 1 has heard of N−1 at most. It
// asks with N, and has priority over node N, which is inside.
func TestHowAsPublishedFails(t *testing.T) {
	for _, nodes := range []dme.NodeID{2, 3, 5, 8} {
		for _, m := range []uint64{smallest(int(nodes)), 2 * uint64(nodes), 1000} {
			net := conformance.Make(t, BoundedAsPublished(), int(nodes), map[string]string{"modulus": fmt.Sprint(m)})
			if _, err := net.Serve(1); err != nil {
				t.Fatal(err)
			}
			for j := dme.NodeID(2); j <= nodes; j++ {
				net.Request(j)
				for k := j + 1; k <= nodes; k++ {
					net.Deliver(j, k, 0)
				}
			}
			net.Deliver(nodes, 1, 0)
			for j := dme.NodeID(2); j <= nodes; j++ {
				net.Settle()
				if !slices.Equal(net.Inside(), []dme.NodeID{j}) {
					t.Fatalf("N=%d, M=%d: %v are in the critical section, want node %d\n%s", nodes, m, net.Inside(), j, net.States())
				}
				if j < nodes {
					net.Release(j)
				}
			}
			net.Request(1)
			net.Settle()
			want := fmt.Sprintf("are in the critical section: 1 and %d", nodes)
			if err := net.Err(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("N=%d, M=%d: %v\n%s", nodes, m, err, net.States())
			}
		}
	}
}

// The comparison of section 6.4 agrees with that of the whole numbers, for any
// two that are less than N apart; with M = 2N−2 it cannot.
func TestComparison(t *testing.T) {
	for _, nodes := range []int{1, 2, 3, 5, 8} {
		for m := max(1, smallest(nodes)-1); m <= smallest(nodes)+3; m++ {
			s := residues{nodes: nodes, modulus: m}
			agrees := true
			for a := range 5 * m {
				for d := range uint64(nodes) {
					b := a + d
					agrees = agrees && s.less(a%m, b%m) == (a < b) && !s.less(b%m, a%m)
				}
			}
			if agrees != (m >= smallest(nodes)) {
				t.Errorf("N=%d, M=%d: agrees: %v", nodes, m, agrees)
			}
		}
	}
}
