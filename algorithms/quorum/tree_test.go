package quorum

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/dme"
)

func TestTreeSets(t *testing.T) {
	s := mustNew(t, "tree", 15)
	for id, want := range map[dme.NodeID][]dme.NodeID{
		1: {1, 3, 6, 12}, 2: {1, 2, 5, 10}, 5: {1, 2, 5, 11}, 8: {1, 2, 4, 8}, 15: {1, 3, 7, 15},
	} {
		if got := s.RequestSet(id); !slices.Equal(got, want) {
			t.Errorf("S_%d = %v, want %v", id, got, want)
		}
	}
}

// A set is a path from the root through its node to a leaf, and no leaf is in
// more than three, in a complete tree two.
func TestTreeSetsArePaths(t *testing.T) {
	for n := 1; n <= 130; n++ {
		s := mustNew(t, "tree", n)
		first, last := TreeLeaves(n)
		for id := dme.NodeID(1); int(id) <= n; id++ {
			isLeaf := int(2*id) > n
			if isLeaf != (id >= first && id <= last) {
				t.Fatalf("N=%d: node %d is a leaf: %v, the leaves are %d to %d", n, id, isLeaf, first, last)
			}
			set := s.RequestSet(id)
			if set[0] != 1 || !slices.Contains(set, id) || int(2*set[len(set)-1]) <= n {
				t.Fatalf("N=%d: S_%d = %v", n, id, set)
			}
			for k := 1; k < len(set); k++ {
				if set[k]/2 != set[k-1] {
					t.Fatalf("N=%d: S_%d = %v is no path", n, id, set)
				}
			}
			most := 3
			if n&(n+1) == 0 {
				most = 2
			}
			if load := len(s.Served(id)); isLeaf && load > most {
				t.Errorf("N=%d: leaf %d serves %d", n, id, load)
			}
		}
		if sizes := s.Sizes(); sizes.Max != bits.Len(uint(n)) {
			t.Errorf("N=%d: K is up to %d, want %d", n, sizes.Max, bits.Len(uint(n)))
		}
	}
}

func without(failed ...dme.NodeID) func(dme.NodeID) bool {
	return func(id dme.NodeID) bool { return !slices.Contains(failed, id) }
}

// The examples of the textbook's section 9.9.4, on the 15 nodes of figure 9.16.
// (It says of the last that the nodes 3 and 5 to 15 with 8 are a majority, though
// 8 is one of those that have failed; there are eleven without it.)
func TestExamplesOfTreeQuorums(t *testing.T) {
	type set = []dme.NodeID
	for _, x := range []struct {
		failed []dme.NodeID
		want   []set
	}{
		{nil, []set{
			{1, 2, 4, 8}, {1, 2, 4, 9}, {1, 2, 5, 10}, {1, 2, 5, 11}, {1, 3, 6, 12}, {1, 3, 6, 13}, {1, 3, 7, 14}, {1, 3, 7, 15},
		}},
		{set{3}, []set{
			{1, 2, 4, 8}, {1, 2, 4, 9}, {1, 2, 5, 10}, {1, 2, 5, 11},
			{1, 6, 7, 12, 14}, {1, 6, 7, 12, 15}, {1, 6, 7, 13, 14}, {1, 6, 7, 13, 15},
		}},
		{set{1, 2}, []set{
			{3, 4, 5, 6, 8, 10, 12}, {3, 4, 5, 6, 8, 10, 13}, {3, 4, 5, 6, 8, 11, 12}, {3, 4, 5, 6, 8, 11, 13},
			{3, 4, 5, 6, 9, 10, 12}, {3, 4, 5, 6, 9, 10, 13}, {3, 4, 5, 6, 9, 11, 12}, {3, 4, 5, 6, 9, 11, 13},
			{3, 4, 5, 7, 8, 10, 14}, {3, 4, 5, 7, 8, 10, 15}, {3, 4, 5, 7, 8, 11, 14}, {3, 4, 5, 7, 8, 11, 15},
			{3, 4, 5, 7, 9, 10, 14}, {3, 4, 5, 7, 9, 10, 15}, {3, 4, 5, 7, 9, 11, 14}, {3, 4, 5, 7, 9, 11, 15},
		}},
		{set{1, 2, 4, 8}, nil},
	} {
		var got []set
		for q := range TreeQuorums(15, without(x.failed...)) {
			got = append(got, q)
		}
		slices.SortFunc(got, slices.Compare)
		if !slices.EqualFunc(got, x.want, slices.Equal) {
			t.Errorf("%v failed: %d quorums %v, want %d", x.failed, len(got), got, len(x.want))
		}
		for id := dme.NodeID(1); id <= 15; id++ {
			q, ok := TreeQuorum(15, id, without(x.failed...))
			in := slices.ContainsFunc(x.want, func(w set) bool { return slices.Equal(w, q) })
			if ok != (len(x.want) > 0) || ok && !in {
				t.Errorf("%v failed: towards %d: %v, %v", x.failed, id, q, ok)
			}
		}
	}
}

// Line 15 of the printed text gives up as soon as a leaf has failed; another
// leaf can do.
func TestAnotherChildIsTried(t *testing.T) {
	q, ok := TreeQuorum(15, 8, without(8))
	if want := []dme.NodeID{1, 2, 4, 9}; !ok || !slices.Equal(q, want) {
		t.Errorf("without 8: %v, %v; want %v", q, ok, want)
	}
	q, ok = TreeQuorum(15, 8, without(4, 8))
	if want := []dme.NodeID{1, 2, 5, 10}; !ok || !slices.Equal(q, want) {
		t.Errorf("without 4 and 8: %v, %v; want %v", q, ok, want)
	}
	// Node 2 of 4 has the child 4 alone, and descends into it.
	q, ok = TreeQuorum(4, 2, without())
	if want := []dme.NodeID{1, 2, 4}; !ok || !slices.Equal(q, want) {
		t.Errorf("N=4: %v, %v; want %v", q, ok, want)
	}
}

// With all nodes up, the quorum of a node is its set of the construction tree.
func TestTreeQuorumWithoutFailures(t *testing.T) {
	for n := 1; n <= 40; n++ {
		s := mustNew(t, "tree", n)
		for id := dme.NodeID(1); int(id) <= n; id++ {
			if q, ok := TreeQuorum(n, id, without()); !ok || !slices.Equal(q, s.RequestSet(id)) {
				t.Errorf("N=%d: towards %d: %v, %v; want %v", n, id, q, ok, s.RequestSet(id))
			}
		}
	}
}

// patterns calls f with every set of failed nodes of a tree of n.
func patterns(n int, f func(failed int, grants func(dme.NodeID) bool)) {
	for mask := range uint32(1) << n {
		f(bits.OnesCount32(mask), func(id dme.NodeID) bool { return mask>>(id-1)&1 == 0 })
	}
}

// TestTreeQuorumsAreACoterie: whatever had failed when two quorums were formed,
// they meet, and none contains another; [TreeQuorum] finds one of those that
// there are, and one if there is one.
func TestTreeQuorumsAreACoterie(t *testing.T) {
	for n := 1; n <= 8; n++ {
		all := map[uint32]bool{} // quorums as sets of bits
		patterns(n, func(_ int, grants func(dme.NodeID) bool) {
			now := map[uint32]bool{}
			for q := range TreeQuorums(n, grants) {
				if !slices.IsSorted(q) || slices.ContainsFunc(q, func(id dme.NodeID) bool { return !grants(id) }) {
					t.Fatalf("N=%d: quorum %v", n, q)
				}
				now[bitsOf(q)], all[bitsOf(q)] = true, true
			}
			for id := dme.NodeID(1); int(id) <= n; id++ {
				if q, ok := TreeQuorum(n, id, grants); ok != (len(now) > 0) || ok && !now[bitsOf(q)] {
					t.Fatalf("N=%d: towards %d: %v, %v", n, id, q, ok)
				}
			}
		})
		for a := range all {
			for b := range all {
				if a&b == 0 || a != b && a&b == b {
					t.Errorf("N=%d: %b and %b", n, a, b)
				}
			}
		}
	}
}

func bitsOf(q []dme.NodeID) (b uint32) {
	for _, id := range q {
		b |= 1 << (id - 1)
	}
	return b
}

// The same on a tree too large to try everything.
func TestLargeTreeQuorumsMeet(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const n = 63
	var quorums []*[n + 1]bool
	for range 300 {
		var failed []dme.NodeID
		for range rng.IntN(20) {
			failed = append(failed, dme.NodeID(1+rng.IntN(n)))
		}
		q, ok := TreeQuorum(n, dme.NodeID(1+rng.IntN(n)), without(failed...))
		if !ok {
			continue
		}
		var set [n + 1]bool
		for _, id := range q {
			set[id] = true
		}
		for _, other := range quorums {
			common := 0
			for id := range set {
				if set[id] && other[id] {
					common++
				}
			}
			if common == 0 {
				t.Fatalf("%v and %v do not meet", set, other)
			}
		}
		quorums = append(quorums, &set)
	}
	if len(quorums) < 100 {
		t.Errorf("only %d quorums were formed", len(quorums))
	}
}

// The textbook's section 9.9.4 for a complete tree of n = 2^(k+1)−1 nodes, "log
// n" being log2(n+1) = k+1, the length of a path.
func TestToleratedFailures(t *testing.T) {
	for k := range 4 {
		n := 1<<(k+1) - 1
		most, fewest := 0, n
		largest := 0
		patterns(n, func(failed int, grants func(dme.NodeID) bool) {
			q, ok := TreeQuorum(n, 1, grants)
			if !ok {
				fewest = min(fewest, failed)
				return
			}
			most = max(most, failed)
			largest = max(largest, len(q))
		})
		if fewest != k+1 {
			t.Errorf("n=%d: %d failures can prevent a quorum, want no fewer than log n = %d", n, fewest, k+1)
		}
		if most != n-(k+1) {
			t.Errorf("n=%d: a quorum after at most %d failures, want n−log n = %d", n, most, n-(k+1))
		}
		if largest != (n+1)/2 {
			t.Errorf("n=%d: a quorum of %d nodes, want at most (n+1)/2 = %d", n, largest, (n+1)/2)
		}
	}
}

// One failure at level i > 0 of a tree of level k: a quorum that it is replaced
// in has (k−i)+2i nodes; at level 1, the parent of leaves, no more than before.
func TestSizeAfterOneFailure(t *testing.T) {
	for k := 1; k <= 8; k++ {
		n := 1<<(k+1) - 1
		for i := 1; i <= k; i++ {
			failed := dme.NodeID(1) << (k - i) // the first node of that level
			q, ok := TreeQuorum(n, failed<<i, without(failed))
			want := k - i + 2*i
			substituted := slices.ContainsFunc(q, func(id dme.NodeID) bool { return id/2 == failed })
			if !ok || !substituted || len(q) != want {
				t.Errorf("k=%d, i=%d: %v has %d nodes, want %d", k, i, q, len(q), want)
			}
		}
	}
}
