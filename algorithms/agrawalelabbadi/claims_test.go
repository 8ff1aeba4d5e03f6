package agrawalelabbadi

import (
	"math/bits"
	"testing"

	"dmebench/algorithms"
	"dmebench/algorithms/quorum"
)

// everyFailure does what afterFailures does by trying every set of failed nodes
// and, for the smallest quorum, all that are left.
func everyFailure(n int) outcomes {
	o := make(outcomes, n+1)
	all := allQuorums(n, 1)
	for mask := range uint32(1) << n {
		grants := func(id algorithms.NodeID) bool { return mask>>(id-1)&1 == 0 }
		smallest := 0
		for _, q := range all {
			if q&mask == 0 {
				smallest = smaller(smallest, bits.OnesCount32(q))
			}
		}
		if _, ok := quorum.TreeQuorum(n, 1, grants); ok != (smallest > 0) {
			panic("a quorum that GetQuorum does not find, or the reverse")
		}
		o.add(bits.OnesCount32(mask), smallest, 1)
	}
	return o
}

func TestAfterFailures(t *testing.T) {
	for n := 1; n <= 13; n++ {
		want := everyFailure(n)
		for f, sizes := range afterFailures(n) {
			for q := range max(len(sizes), len(want[f])) {
				if got, want := sizes.at(q), want[f].at(q); got != want {
					t.Errorf("n=%d: %v sets of %d failures leave a smallest quorum of %d, want %v", n, got, f, q, want)
				}
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
			q, _ := quorum.TreeQuorum(n, 1, func(id algorithms.NodeID) bool { return mask>>(id-1)&1 == 0 })
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
		setting := algorithms.Setting{Nodes: n, Options: opt, System: sys}
		want, ok := predict(t, setting, algorithms.QuorumSize, "log n", algorithms.Exact)
		k := pathsOf(setting)
		if !ok || float64(k.min) != want || float64(k.max) != want {
			t.Errorf("n=%d: paths of %d to %d nodes, claimed %v, %v", n, k.min, k.max, want, ok)
		}
	}
}
