package quorum

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"dmebench/dme"
)

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

// TestViolationsAreFound breaks one property of Figure 1(c) at a time.
func TestViolationsAreFound(t *testing.T) {
	change := func(id int, set ...dme.NodeID) *Properties {
		sets := slices.Clone(figure1c)
		sets[id-1] = set
		p := mustList(t, sets).Properties()
		return &p
	}

	// S_8 without 10 no longer meets the others through 10: S_4, S_7 and S_10.
	p := change(8, 1, 8, 9)
	if p.Intersecting() || !slices.Equal(p.Disjoint, [][2]dme.NodeID{{4, 8}, {7, 8}, {8, 10}}) {
		t.Errorf("(a): disjoint %v", p.Disjoint)
	}
	if p.EqualSizes() || p.Sizes.MinNode != 8 || p.Sizes.Min != 3 || p.Sizes.Max != 4 {
		t.Errorf("(c): sizes %+v", p.Sizes)
	}
	if p.EqualLoads() || p.Loads.MinNode != 10 || p.Loads.Min != 3 {
		t.Errorf("(d): loads %+v", p.Loads)
	}
	// S_1 is a line, but not one through 8.
	p = change(8, 1, 2, 3, 4)
	if p.SelfIncluded() || !slices.Equal(p.Selfless, []dme.NodeID{8}) {
		t.Errorf("(b): selfless %v", p.Selfless)
	}
	if !p.Intersecting() || !p.EqualSizes() || p.EqualLoads() {
		t.Errorf("only (b) and (d) are broken: %+v", p)
	}
}

// Each pair of sets comes once, with what is in both.
func TestPairs(t *testing.T) {
	sets := [][]dme.NodeID{{1, 2, 3}, {3, 4}, {3, 2, 5}, {6}}
	var got []Pair
	for p := range Pairs(sets) {
		got = append(got, p)
	}
	want := []Pair{{1, 0, 1}, {2, 0, 2}, {2, 1, 1}, {3, 0, 0}, {3, 1, 0}, {3, 2, 0}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for p := range Pairs(sets) {
		if p != want[0] {
			t.Errorf("%v comes after the loop has ended", p)
		}
		break
	}
	if s, err := List("mine", [][]dme.NodeID{{1, 2}, {2}}); err != nil || s.Name() != "mine" {
		t.Errorf("%v, %v", s, err)
	}
}

// Two of the three properties of a plane's lines make none.
func TestWhatIsNoPlane(t *testing.T) {
	for _, x := range []struct {
		sets   [][]dme.NodeID
		unique bool
		sizes  bool
		loads  bool
	}{
		{[][]dme.NodeID{{1, 2}, {2, 3}, {1, 3}}, true, true, true},
		{[][]dme.NodeID{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}, false, true, true},
		{[][]dme.NodeID{{1}, {1}, {1}}, true, true, false},
		{[][]dme.NodeID{{1, 2}, {1, 3}, {1, 3}, {3, 2}}, false, true, false},
		{[][]dme.NodeID{{1, 2, 3}, {1, 2}, {3}}, false, false, true},
	} {
		p := mustList(t, x.sets).Properties()
		if p.UniqueMeets != x.unique || p.EqualSizes() != x.sizes || p.EqualLoads() != x.loads || p.Plane() != (x.unique && x.sizes && x.loads) {
			t.Errorf("%v: %v, %v, %v, a plane %v", x.sets, p.UniqueMeets, p.EqualSizes(), p.EqualLoads(), p.Plane())
		}
	}
}

func TestDisjointPairsAreCountedBeyondTheList(t *testing.T) {
	const n = 130
	var sets [][]dme.NodeID
	for id := dme.NodeID(1); id <= n; id++ {
		sets = append(sets, []dme.NodeID{id})
	}
	p := mustList(t, sets).Properties()
	if p.DisjointPairs != n*(n-1)/2 || len(p.Disjoint) != MaxDisjoint {
		t.Errorf("%d pairs, %d listed; want %d and %d", p.DisjointPairs, len(p.Disjoint), n*(n-1)/2, MaxDisjoint)
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

// Who has seen enough leaves a list in its middle.
func TestListsMayBeLeft(t *testing.T) {
	s := mustNew(t, "majority", 5)
	for first := range dme.NodeID(5) {
		var seen []dme.NodeID
		for id := range s.RequestSets() {
			if seen = append(seen, id); id > first {
				break
			}
		}
		if len(seen) != int(first)+1 || seen[first] != first+1 {
			t.Errorf("left at node %d: %v", first+1, seen)
		}
	}
	seen := 0
	for p := range Pairs([][]dme.NodeID{{1, 2}, {2, 3}, {3, 1}}) {
		if seen++; p.I == 2 {
			break
		}
	}
	if seen != 2 {
		t.Errorf("%d pairs up to the first of the third set, want 2", seen)
	}
}
