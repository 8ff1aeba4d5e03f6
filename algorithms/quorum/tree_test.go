package quorum

import (
	"bytes"
	"math/bits"
	"os"
	"slices"
	"testing"

	"dmebench/dme"
)

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

// Whatever two nodes know of failures, their quorums meet, and none has a failed
// node; there is one where the construction leaves one, which the resilience of a
// system counts in another way. All constructions, all nodes, all sets of failed
// nodes, and all pairs of what comes of these.
func TestSubstitutesMeet(t *testing.T) {
	for _, x := range []struct {
		construction string
		nodes        int
		weights      []uint64
	}{
		{"plane", 1, nil}, {"plane", 2, nil}, {"plane", 7, nil}, {"plane", 9, nil}, {"grid", 8, nil}, {"grid", 9, nil},
		{"majority", 6, nil}, {"majority", 7, nil}, {"weighted", 7, []uint64{5, 3, 2, 2, 1, 1, 0}},
		{"weighted", 6, []uint64{2, 2, 2, 1, 1, 1}}, {"weighted", 4, []uint64{9, 1, 1, 1}}, {"weighted", 5, nil},
		{"tree", 6, nil}, {"tree", 9, nil}, {"hierarchical", 8, nil}, {"hierarchical", 9, nil},
		{"singleton", 3, nil}, {"file:testdata/textbook-9.9.6.txt", 6, nil},
	} {
		s, err := New(x.construction, Config{Nodes: x.nodes, Weights: x.weights, ReadFile: os.ReadFile})
		if err != nil {
			t.Fatal(err)
		}
		smallest := s.search()
		if s.name == "tree" { // of which that knows the request sets alone
			smallest = func(up []bool) (int, bool) {
				for q := range TreeQuorums(x.nodes, func(id dme.NodeID) bool { return up[id-1] }) {
					return len(q), true
				}
				return 0, false
			}
		}
		quorums := make(map[uint32]bool)
		patterns(x.nodes, func(_ int, isUp func(dme.NodeID) bool) {
			up := make([]bool, x.nodes)
			var down []dme.NodeID
			for i := range up {
				if up[i] = isUp(dme.NodeID(i + 1)); !up[i] {
					down = append(down, dme.NodeID(i+1))
				}
			}
			_, want := smallest(up)
			if got := s.Survives(down); got != want {
				t.Fatalf("%s of %d, %v down: survives: %v; there is a quorum: %v", x.construction, x.nodes, down, got, want)
			}
			for id := dme.NodeID(1); int(id) <= x.nodes; id++ {
				for _, members := range [][]dme.NodeID{nil, s.RequestSet(id), s.RequestSet(1)} {
					q, ok := s.Substitute(id, members, isUp)
					switch {
					case ok != want:
						t.Fatalf("%s of %d, %v down: node %d has %v, %v; want one: %v", x.construction, x.nodes, down, id, q, ok, want)
					case ok && (!slices.IsSorted(q) || slices.ContainsFunc(q, func(j dme.NodeID) bool { return !isUp(j) })):
						t.Fatalf("%s of %d, %v down: node %d asks %v", x.construction, x.nodes, down, id, q)
					case ok:
						quorums[bitsOf(q)] = true
					}
				}
			}
		})
		for id := dme.NodeID(1); int(id) <= x.nodes; id++ { // what is asked without failures
			quorums[bitsOf(s.RequestSet(id))] = true
		}
		for a := range quorums {
			for b := range quorums {
				if a&b == 0 {
					t.Fatalf("%s of %d: %b and %b do not meet", x.construction, x.nodes, a, b)
				}
			}
		}
	}
}

// The definition of section 9.9.1 on the tree of figure 9.16, once more: for all
// 2^15 sets of failed nodes there is a quorum exactly where the root's subtree has
// one, and those of two sets meet, since they are all among the 255 of a coterie.
func TestTreeSubstitutesOf15(t *testing.T) {
	const n = 15
	all := make(map[uint32]bool)
	for q := range TreeQuorums(n, nil) {
		all[bitsOf(q)] = true
	}
	var promised func(id uint32, failed uint32) bool
	promised = func(id, failed uint32) bool {
		if id > n/2 {
			return failed>>(id-1)&1 == 0
		}
		left, right := promised(2*id, failed), promised(2*id+1, failed)
		if failed>>(id-1)&1 == 1 {
			return left && right
		}
		return left || right
	}
	s := mustNew(t, "tree", n)
	for mask := range uint32(1) << n {
		isUp := func(id dme.NodeID) bool { return mask>>(id-1)&1 == 0 }
		id := dme.NodeID(1 + bits.OnesCount32(mask*2654435761)%n)
		q, ok := s.Substitute(id, nil, isUp)
		if want := promised(1, mask); ok != want || ok && !all[bitsOf(q)] {
			t.Fatalf("failed %015b: %v, %v; promised: %v", mask, q, ok, want)
		}
		turns := func(id dme.NodeID) bool { return (mask>>(id%16)^mask>>7)&1 == 1 }
		if q, drawn := ChooseTreeQuorum(n, turns, isUp); drawn != ok || ok && !all[bitsOf(q)] {
			t.Fatalf("failed %015b: chosen otherwise: %v, %v", mask, q, drawn)
		}
	}
}

// A node keeps those members that it can: of what it asks already it needs not ask
// again.
func TestSubstitutesKeepMembers(t *testing.T) {
	for _, x := range []struct {
		construction string
		nodes        int
		id           dme.NodeID
		members      []dme.NodeID
		down         dme.NodeID
		want         []dme.NodeID
	}{
		{"majority", 7, 1, []dme.NodeID{1, 2, 3, 4}, 3, []dme.NodeID{1, 2, 4, 5}},
		{"majority", 7, 1, []dme.NodeID{1, 2, 4, 5}, 2, []dme.NodeID{1, 4, 5, 3}},
		{"tree", 15, 12, []dme.NodeID{1, 3, 6, 12}, 3, []dme.NodeID{1, 6, 7, 12, 14}},
		{"plane", 7, 1, []dme.NodeID{1, 2, 4}, 4, []dme.NodeID{2, 3, 5}},
		{"plane", 7, 5, []dme.NodeID{1, 5, 6}, 6, []dme.NodeID{1, 3, 7}},
	} {
		slices.Sort(x.want)
		got, ok := mustNew(t, x.construction, x.nodes).Substitute(x.id, x.members, without(x.down))
		if !ok || !slices.Equal(got, x.want) {
			t.Errorf("%s of %d: node %d, %v without %d: %v, want %v", x.construction, x.nodes, x.id, x.members, x.down, got, x.want)
		}
	}
}

// Of weighted nodes the heaviest are asked instead, and of equals the next round the ring.
// The lightest go without whom there is a majority.
func TestSubstitutesAreHeavy(t *testing.T) {
	for _, x := range []struct {
		weights  []uint64
		id, down dme.NodeID
		members  []dme.NodeID
		want     []dme.NodeID
	}{
		{[]uint64{1, 1, 1, 4, 2}, 1, 0, nil, []dme.NodeID{4, 5}},                // 6 of 9
		{[]uint64{1, 1, 1, 4, 2}, 1, 5, []dme.NodeID{4, 5}, []dme.NodeID{1, 4}}, // 5 of 9
		{[]uint64{1, 1, 1, 4, 2}, 3, 5, []dme.NodeID{4, 5}, []dme.NodeID{3, 4}},
		{[]uint64{1, 1, 1, 4, 2}, 1, 4, []dme.NodeID{4, 5}, []dme.NodeID{1, 2, 3, 5}}, // 5 of 9
		{[]uint64{1, 2, 3, 3, 2}, 5, 0, nil, []dme.NodeID{3, 4}},                      // 6 of 11
		{[]uint64{1, 2, 3, 3, 2}, 5, 3, []dme.NodeID{1}, []dme.NodeID{1, 4, 5}},       // 6 of 11
		{[]uint64{1, 2, 3, 3, 2}, 2, 3, []dme.NodeID{1}, []dme.NodeID{1, 2, 4}},
	} {
		s, err := New("weighted", Config{Nodes: len(x.weights), Weights: x.weights})
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := s.Substitute(x.id, x.members, without(x.down)); !ok || !slices.Equal(got, x.want) {
			t.Errorf("%v: node %d, %v without %d: %v, want %v", x.weights, x.id, x.members, x.down, got, x.want)
		}
	}
}

// failing is a node that knows of failures and nothing else.
type failing struct{ Failures }

func (*failing) Request(*dme.Outbox)                          {}
func (*failing) Release(*dme.Outbox)                          {}
func (*failing) Receive(dme.NodeID, dme.Message, *dme.Outbox) {}
func (f *failing) State(v *dme.Visitor)                       { f.Failures.State(v) }

func TestFailures(t *testing.T) {
	var f failing
	reads := func(want string) {
		t.Helper()
		if got := dme.DescribeState(&f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		// Loaded into a node that is in another state, it is the same.
		saved := dme.SaveState(nil, &f)
		other := &failing{}
		other.Restart(9, 1)
		other.Down(3)
		other.Withdraw(2)
		other.Substitutes = []dme.NodeID{4, 5}
		if rest, err := dme.LoadState(saved, other); err != nil || len(rest) > 0 || !bytes.Equal(saved, dme.SaveState(nil, other)) {
			t.Errorf("%q is loaded as %q: %v, %d bytes left", want, dme.DescribeState(other), err, len(rest))
		}
	}
	reads("")
	if f.Any() || !f.NoneOf([]dme.NodeID{1, 2}) || !f.IsUp(1) {
		t.Error("nobody is down")
	}
	f.Down(4)
	f.Down(2)
	f.Down(4)
	if !f.Any() || !f.IsDown(2) || f.IsUp(4) || f.IsDown(3) || f.NoneOf([]dme.NodeID{1, 2}) || !f.NoneOf([]dme.NodeID{1, 3}) {
		t.Error("2 and 4 are down")
	}
	f.Restart(5, 1)
	reads("down=[2 4] unheard=[3 5]")
	if !f.Recovering() || !f.Expects(3) || f.Expects(2) || f.Heard(2) || f.Heard(3) || f.Heard(3) {
		t.Error("3 and 5 have to tell")
	}
	if !f.Down(5) || f.Recovering() {
		t.Error("nobody is left to tell")
	}
	f.Up(5)
	f.Up(5)
	f.Withdraw(3)
	f.Withdraw(5)
	f.Withdraw(3)
	f.Withdrew(5)
	f.Substitutes = []dme.NodeID{1, 3}
	reads("substitutes=[1 3] down=[2 4] withdrawn=3 times=2 withdrawn=5 times=1 withdrawn-by=5 times=1")
	if f.Withdrawn(3) != 2 || f.Withdrawn(4) != 0 || f.WithdrawnBy(5) != 1 || f.WithdrawnBy(3) != 0 {
		t.Error("wrong counts")
	}
	f.Down(5) // forgets
	reads("substitutes=[1 3] down=[2 4 5] withdrawn=3 times=2")
	f.Up(2) // the first
	f.Up(3) // is up
	reads("substitutes=[1 3] down=[4 5] withdrawn=3 times=2")
}

// The stand-in of each missing point is the first node that adds the least to the sum of
// the squares of the loads, counted anew for each node that could be taken.
func TestStandInsAreTheBest(t *testing.T) {
	tried := 0
	for n := 4; n <= 40; n++ {
		family, err := plane(Config{Nodes: n})
		if err != nil {
			t.Fatal(err)
		}
		tr, ok := family.(truncated)
		if !ok {
			continue // a perfect plane
		}
		squares := func(k int, standIn dme.NodeID) (sum int) {
			loads := make([]int, n+1)
			for id := dme.NodeID(1); int(id) <= n; id++ {
				members := map[dme.NodeID]bool{}
				for _, point := range tr.lines.appendSet(nil, id) {
					switch missing := int(point) - n - 1; {
					case missing < 0:
						members[point] = true
					case missing < k:
						members[tr.standIn[missing]] = true
					case missing == k:
						members[standIn] = true
					}
				}
				for member := range members {
					loads[member]++
				}
			}
			for _, load := range loads {
				sum += load * load
			}
			return sum
		}
		for k, got := range tr.standIn {
			best, least := dme.None, 0
			for id := dme.NodeID(1); int(id) <= n; id++ {
				if sum := squares(k, id); best == dme.None || sum < least {
					best, least = id, sum
				}
			}
			if got != best {
				t.Errorf("%d nodes: node %d stands in for point %d, want node %d", n, got, n+1+k, best)
			}
			tried++
		}
	}
	if tried < 100 {
		t.Errorf("only %d stand-ins were looked at", tried)
	}
}

// The order of a plane is the least that has room.
func TestOrdersOfPlanes(t *testing.T) {
	want := map[int]int{}
	at := 2
	for _, k := range []int{1, 2, 3, 4, 5, 7, 8, 9, 11} { // 6 and 10 are no powers of primes
		for ; at <= k*k+k+1; at++ {
			want[at] = k
		}
	}
	for n, k := range want {
		if got := planeOrder(n); got != k {
			t.Errorf("%d nodes: order %d, want %d", n, got, k)
		}
	}
}
