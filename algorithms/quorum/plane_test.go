package quorum

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"dmebench/dme"
)

// orders are those of the planes of up to 993 points; 1 is the triangle.
var orders = []int{1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31}

func mustNew(t testing.TB, construction string, n int) *System {
	t.Helper()
	s, err := New(construction, Config{Nodes: n})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// checkFamily checks that sets are ascending, without duplicates, of existing nodes, that
// Served is the inverse of RequestSet, and that what is known without a look at the sets is so.
func checkFamily(t *testing.T, s *System) {
	t.Helper()
	served := make([][]dme.NodeID, s.Nodes()+1)
	sizes, loads := s.counts()
	for id := dme.NodeID(1); int(id) <= s.Nodes(); id++ {
		set := s.RequestSet(id)
		for k, member := range set {
			if member < 1 || int(member) > s.Nodes() || k > 0 && member <= set[k-1] {
				t.Fatalf("%s of %d: S_%d = %v", s.Name(), s.Nodes(), id, set)
			}
			served[member] = append(served[member], id)
		}
		if sizes[id-1] != len(set) || slices.Contains(s.Selfless(), id) == slices.Contains(set, id) {
			t.Fatalf("%s of %d: S_%d = %v, %d nodes, selfless %v", s.Name(), s.Nodes(), id, set, sizes[id-1], s.Selfless())
		}
	}
	for id := dme.NodeID(1); int(id) <= s.Nodes(); id++ {
		if got := s.Served(id); !slices.Equal(got, served[id]) || loads[id-1] != len(got) {
			t.Fatalf("%s of %d: node %d serves %v, counted as %d, but is in the sets of %v",
				s.Name(), s.Nodes(), id, got, loads[id-1], served[id])
		}
	}
}

// TestPerfectPlanesHaveAllProperties: "a set of S_i's exists if (K−1) is a
// power of a prime", with N = K(K−1)+1 and K = D (Maekawa 1985, section 3). Any two
// lines have one common point.
func TestPerfectPlanesHaveAllProperties(t *testing.T) {
	for _, q := range orders {
		n := q*q + q + 1
		p := mustNew(t, "plane", n).Properties()
		if !p.Intersecting() || !p.SelfIncluded() || !p.Plane() {
			t.Errorf("N=%d: not a perfect system: %+v", n, p)
		}
		if p.Sizes.Min != q+1 || p.Loads.Min != q+1 {
			t.Errorf("N=%d: K=%d, D=%d, want both %d", n, p.Sizes.Min, p.Loads.Min, q+1)
		}
	}
}

// TestDegenerateSetsAreSmallAndBalanced: sets are never larger than the lines
// that they come from, and no node serves more than twice as many as there
// are members in a line.
func TestDegenerateSetsAreSmallAndBalanced(t *testing.T) {
	for n := 3; n <= 400; n++ {
		s := mustNew(t, "plane", n)
		k := planeOrder(n) + 1
		sizes, loads := s.Sizes(), spread(s.Loads())
		if sizes.Max > k {
			t.Errorf("N=%d: S_%d has %d members, a line %d", n, sizes.MaxNode, sizes.Max, k)
		}
		if sizes.Min < 2 {
			t.Errorf("N=%d: S_%d makes its one member the arbiter of all", n, sizes.MinNode)
		}
		if loads.Max > 2*k {
			t.Errorf("N=%d: node %d serves %d, a point of the plane %d", n, loads.MaxNode, loads.Max, k)
		}
	}
}

// TestLargePlanes takes random pairs of sets, of the complete planes of the
// orders 97 and 101 and of the least complete one of order 101.
func TestLargePlanes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, x := range []struct {
		nodes, order int
		perfect      bool
	}{{9507, 97, true}, {9508, 101, false}, {10303, 101, true}} {
		s := mustNew(t, "plane", x.nodes)
		for range 3000 {
			i, j := dme.NodeID(1+rng.IntN(x.nodes)), dme.NodeID(1+rng.IntN(x.nodes))
			a, b := s.RequestSet(i), s.RequestSet(j)
			if !slices.Contains(a, i) || !slices.ContainsFunc(a, func(id dme.NodeID) bool { return slices.Contains(b, id) }) {
				t.Fatalf("N=%d: S_%d = %v, S_%d = %v", x.nodes, i, a, j, b)
			}
			if x.perfect && len(a) != x.order+1 || len(a) > x.order+1 {
				t.Fatalf("N=%d: S_%d has %d members, a line %d", x.nodes, i, len(a), x.order+1)
			}
		}
	}
}

func TestPrimePowersAreRecognised(t *testing.T) {
	want := map[int]int{
		2: 2, 3: 3, 4: 2, 5: 5, 7: 7, 8: 2, 9: 3, 11: 11, 13: 13, 16: 2, 17: 17, 19: 19,
		23: 23, 25: 5, 27: 3, 29: 29, 31: 31, 32: 2, 37: 37, 41: 41, 43: 43, 47: 47, 49: 7,
	}
	for q := range 50 {
		if got := PrimePower(q); got != want[q] {
			t.Errorf("PrimePower(%d) = %d, want %d", q, got, want[q])
		}
	}
}

// figure1c is Figure 1(c) of Maekawa 1985: 13 nodes, K=4.
var figure1c = [][]dme.NodeID{
	{1, 2, 3, 4}, {2, 5, 8, 11}, {3, 6, 8, 13}, {4, 6, 10, 11}, {1, 5, 6, 7}, {2, 6, 9, 12}, {2, 7, 10, 13},
	{1, 8, 9, 10}, {3, 7, 9, 11}, {3, 5, 10, 12}, {1, 11, 12, 13}, {4, 7, 8, 12}, {4, 5, 9, 13},
}

func mustList(t *testing.T, sets [][]dme.NodeID) *System {
	t.Helper()
	s, err := List("listed", sets)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFigure1(t *testing.T) {
	figures := map[string][][]dme.NodeID{
		"a": {{1, 2}, {2, 3}, {1, 3}},
		"b": {{1, 2, 3}, {2, 4, 6}, {3, 5, 6}, {1, 4, 5}, {2, 5, 7}, {1, 6, 7}, {3, 4, 7}},
		"c": figure1c,
		"d": {
			{1, 2, 3, 4, 5}, {2, 6, 10, 14, 18}, {3, 7, 10, 16, 21}, {4, 7, 13, 14, 20}, {5, 7, 12, 17, 18},
			{1, 6, 7, 8, 9}, {2, 7, 11, 15, 19}, {2, 8, 12, 16, 20}, {2, 9, 13, 17, 21}, {1, 10, 11, 12, 13},
			{3, 6, 11, 17, 20}, {3, 9, 12, 14, 19}, {3, 8, 13, 15, 18}, {1, 14, 15, 16, 17}, {4, 6, 12, 15, 21},
			{4, 9, 11, 16, 18}, {4, 8, 10, 17, 19}, {1, 18, 19, 20, 21}, {5, 6, 13, 16, 19}, {5, 9, 10, 15, 20},
			{5, 8, 11, 14, 21},
		},
	}
	for name, sets := range figures {
		s := mustList(t, sets)
		checkFamily(t, s)
		p := s.Properties()
		if !p.Intersecting() || !p.SelfIncluded() || !p.EqualSizes() || !p.EqualLoads() || !p.Plane() {
			t.Errorf("Figure 1(%s): %+v", name, p)
		}
	}
}

// TestPropertiesAgreeWithTheDefinition compares with a version that follows the
// definitions word by word, on random families of all sizes around the width
// of a machine word.
func TestPropertiesAgreeWithTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		n := 1 + rng.IntN(140)
		density := rng.Float64()
		sets := make([][]dme.NodeID, n)
		for i := range sets {
			sets[i] = []dme.NodeID{dme.NodeID(1 + rng.IntN(n))}
			for id := dme.NodeID(1); int(id) <= n; id++ {
				if id != sets[i][0] && rng.Float64() < density {
					sets[i] = append(sets[i], id)
				}
			}
		}
		if got, want := mustList(t, sets).Properties(), byDefinition(sets); !reflect.DeepEqual(got, want) {
			t.Fatalf("N=%d: got %+v, want %+v", n, got, want)
		}
	}
}

func byDefinition(sets [][]dme.NodeID) Properties {
	p := Properties{UniqueMeets: true}
	var sizes, loads []int
	for i := range sets {
		id := dme.NodeID(i + 1)
		sizes = append(sizes, len(sets[i]))
		inOwn := make([]bool, len(sets)+1)
		for _, x := range sets[i] {
			inOwn[x] = true
		}
		load := 0
		for j := range sets {
			if slices.Contains(sets[j], id) {
				load++
			}
			common := 0
			for _, x := range sets[j] {
				if inOwn[x] {
					common++
				}
			}
			p.UniqueMeets = p.UniqueMeets && (i == j || common == 1)
			if common == len(sets[i]) && len(sets[j]) > common { // S_j contains S_i, and more
				if p.NestedPairs++; p.NestedPairs <= MaxDisjoint {
					p.Nested = append(p.Nested, [2]dme.NodeID{dme.NodeID(j + 1), id})
				}
			}
			if j > i && common == 0 {
				if p.DisjointPairs++; p.DisjointPairs <= MaxDisjoint {
					p.Disjoint = append(p.Disjoint, [2]dme.NodeID{id, dme.NodeID(j + 1)})
				}
			}
		}
		loads = append(loads, load)
		if !slices.Contains(sets[i], id) {
			p.Selfless = append(p.Selfless, id)
		}
	}
	p.Sizes, p.Loads = dumbSpread(sizes), dumbSpread(loads)
	return p
}

func dumbSpread(x []int) Spread {
	s := Spread{Min: slices.Min(x), Max: slices.Max(x)}
	s.MinNode = dme.NodeID(slices.Index(x, s.Min) + 1)
	s.MaxNode = dme.NodeID(slices.Index(x, s.Max) + 1)
	total := 0
	for _, v := range x {
		total += v
	}
	s.Mean = float64(total) / float64(len(x))
	return s
}

// Stand-ins are those that counting all lines and their members chooses.
func TestStandInsByCounting(t *testing.T) {
	for n := 3; n <= 150; n++ {
		order := planeOrder(n)
		if order*order+order+1 == n || order < 2 {
			continue
		}
		got := truncate(cyclic{modulus: order*order + order + 1, offsets: differenceSet(order)}, n)
		twin := truncated{lines: got.lines, nodes: n, standIn: make([]dme.NodeID, len(got.standIn)), behind: make([][]dme.NodeID, n)}
		loads := make([]int, n)
		for i := range loads {
			loads[i] = len(twin.appendServed(nil, dme.NodeID(i+1)))
		}
		for k := range twin.standIn {
			missing := dme.NodeID(n + 1 + k)
			served, shared := twin.appendLinesThrough(nil, missing), make([]int, n)
			for _, line := range served {
				for _, member := range twin.appendSet(nil, line) {
					shared[member-1]++
				}
			}
			best, bestCost := 0, math.MaxInt
			for i, load := range loads {
				added := len(served) - shared[i]
				if cost := added * (2*load + added); cost < bestCost {
					best, bestCost = i, cost
				}
			}
			loads[best] += len(served) - shared[best]
			twin.standIn[k] = dme.NodeID(best + 1)
			twin.behind[best] = append(twin.behind[best], missing)
		}
		if !slices.Equal(got.standIn, twin.standIn) {
			t.Fatalf("N=%d: stand-ins %v, want %v", n, got.standIn, twin.standIn)
		}
	}
}
