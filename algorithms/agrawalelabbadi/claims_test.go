package agrawalelabbadi

import (
	"testing"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
)

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
