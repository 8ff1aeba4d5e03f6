package agrawalelabbadi

import (
	"math/bits"
	"testing"

	"dmebench/algorithms"
	"dmebench/algorithms/quorum"
)

// failures tries every set of failed nodes and returns the most that leave a
// quorum, the most that leave one in any case, and the sizes of the largest
// quorum and of the one after the root's failure.
func failures(n int) (tolerated, survived, largest, rootless int) {
	survived = n
	for mask := range uint32(1) << n {
		failed := bits.OnesCount32(mask)
		q, ok := quorum.TreeQuorum(n, 1, func(id algorithms.NodeID) bool { return mask>>(id-1)&1 == 0 })
		if !ok {
			survived = min(survived, failed-1)
			continue
		}
		tolerated, largest = max(tolerated, failed), max(largest, len(q))
		if mask == 1 {
			rootless = len(q)
		}
	}
	return tolerated, survived, largest, rootless
}

func TestClaimsAboutFailures(t *testing.T) {
	for n := 1; n <= 15; n++ {
		opt, err := Algorithm().Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		sys, err := Algorithm().New(n, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		setting := algorithms.Setting{Nodes: n, Options: opt, System: sys}
		tolerated, survived, largest, rootless := failures(n)
		for _, c := range claims() {
			if c.Load != algorithms.Faults {
				continue
			}
			want, ok := c.Predict(setting)
			if !ok {
				continue
			}
			var got int
			switch {
			case c.Quantity == FailuresTolerated:
				got = tolerated
			case c.Quantity == FailuresSurvived:
				got = survived
			case c.Kind == algorithms.UpperBound:
				got = largest
			default:
				got = rootless
			}
			holds := float64(got) == want // bounds are reached
			if holds == (c.KnownFalse != "") {
				t.Errorf("n=%d: %s %q: %d, claimed %v, known false: %q", n, c.Quantity, c.Formula, got, want, c.KnownFalse)
			}
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
