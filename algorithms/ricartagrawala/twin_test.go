package ricartagrawala

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// pair is the algorithm with bounded numbers beside the original, which keeps
// them all: both go through the same schedule, and must do the same.
type pair struct {
	bounded, original *conformance.Net
	nodes             int
	modulus           uint64
	rng               *rand.Rand
	left              []int // requests still to make, by node
	widest            uint64
}

func newPair(t *testing.T, nodes int, modulus, seed uint64) *pair {
	t.Helper()
	set := map[string]string{"modulus": fmt.Sprint(modulus)}
	p := &pair{
		bounded:  conformance.Make(t, Bounded(), nodes, set),
		original: conformance.Make(t, Algorithm(), nodes, nil),
		nodes:    nodes, modulus: modulus,
		rng: rand.New(rand.NewPCG(seed, 1)), left: make([]int, nodes+1),
	}
	for i := range p.left {
		p.left[i] = 1 + p.rng.IntN(8)
	}
	return p
}

// step does one thing in both, and reports whether there was one to do.
func (p *pair) step() bool {
	var possible []func(*conformance.Net)
	for from := dme.NodeID(1); int(from) <= p.nodes; from++ {
		for to := dme.NodeID(1); int(to) <= p.nodes; to++ {
			for k := range p.original.InFlight(from, to) {
				possible = append(possible, func(n *conformance.Net) { n.Deliver(from, to, k) })
			}
		}
		if p.left[from] > 0 && p.original.Host(from).Activity() == 0 {
			possible = append(possible, func(n *conformance.Net) {
				if n == p.original {
					p.left[from]--
				}
				n.Request(from)
			})
		}
	}
	for _, in := range p.original.Inside() {
		possible = append(possible, func(n *conformance.Net) { n.Release(in) })
	}
	if len(possible) == 0 {
		return false
	}
	do := possible[p.rng.IntN(len(possible))]
	do(p.bounded)
	do(p.original)
	return true
}

// compare says how the two differ, nil if they do not, and notes how far apart
// the numbers on the way are.
func (p *pair) compare() error {
	lowest, highest := ^uint64(0), uint64(0)
	for from := dme.NodeID(1); int(from) <= p.nodes; from++ {
		for to := dme.NodeID(1); int(to) <= p.nodes; to++ {
			a, b := p.bounded.InFlight(from, to), p.original.InFlight(from, to)
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
	if a, b := p.bounded.Inside(), p.original.Inside(); !slices.Equal(a, b) {
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
				p := newPair(t, nodes, modulus, seed)
				for p.step() {
					if err := p.compare(); err != nil {
						t.Fatalf("N=%d, M=%d, seed %d: %v\n%s", nodes, modulus, seed, err, p.bounded.States())
					}
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
