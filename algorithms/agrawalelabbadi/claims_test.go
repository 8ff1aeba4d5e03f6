package agrawalelabbadi

import (
	"math"
	"testing"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
)

// The counts, made from the leaves to the root, are those of all sets of failed
// nodes, tried one after the other.
func TestAfterFailures(t *testing.T) {
	for n := 1; n <= 15; n++ {
		sys, err := quorum.New("tree", quorum.Config{Nodes: n})
		if err != nil {
			t.Fatal(err)
		}
		o := afterFailures(n)
		for f, all := range sys.Resilience(1<<n, 1).Failed {
			if !all.Exact {
				t.Fatalf("n=%d: not all sets of %d failures were tried", n, f)
			}
			if got, want := o.probability(f), all.Probability(); math.Abs(got-want) > 1e-12 {
				t.Errorf("n=%d: a quorum is left after %d failures with probability %v, want %v", n, f, got, want)
			}
			if got, want := o.cost(f), all.MeanSize(); math.Abs(got-want) > 1e-12 {
				t.Errorf("n=%d: after %d failures a quorum takes %v nodes, want %v", n, f, got, want)
			}
		}
	}
}

// What GetQuorum needs at most is not the smallest quorum there is; both are
// (n+1)/2 in the worst case.
func TestLargestQuorum(t *testing.T) {
	for _, n := range []int{3, 7, 15} {
		largest := 0
		for mask := range uint32(1) << n {
			q, _ := quorum.TreeQuorum(n, 1, func(id dme.NodeID) bool { return mask>>(id-1)&1 == 0 })
			largest = max(largest, len(q))
		}
		if got := afterFailures(n).largest(); largest != (n+1)/2 || got != float64(largest) {
			t.Errorf("n=%d: quorums of up to %d and of up to %v nodes, want %d", n, largest, got, (n+1)/2)
		}
	}
}

func TestQuorumSizeClaims(t *testing.T) {
	for _, n := range []int{1, 3, 7, 15, 31} {
		sys, err := Algorithm().New(n, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		opt, _ := Algorithm().Resolve(nil)
		setting := dme.Setting{Nodes: n, Options: opt, System: sys}
		want, ok := predict(t, setting, dme.QuorumSize, "log n", dme.Exact)
		k := pathsOf(setting)
		if !ok || float64(k.min) != want || float64(k.max) != want {
			t.Errorf("n=%d: paths of %d to %d nodes, claimed %v, %v", n, k.min, k.max, want, ok)
		}
	}
}
