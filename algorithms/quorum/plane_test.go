package quorum

import (
	"math/rand/v2"
	"slices"
	"strconv"
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

// TestPerfectPlanesHaveAllProperties: "a set of S_i's exists if (K−1) is a
// power of a prime", with N = K(K−1)+1 and K = D (Maekawa 1985, section 3).
func TestPerfectPlanesHaveAllProperties(t *testing.T) {
	for _, q := range orders {
		n := q*q + q + 1
		p := mustNew(t, "plane", n).Properties()
		if !p.Intersecting() || !p.SelfIncluded() || !p.EqualSizes() || !p.EqualLoads() {
			t.Errorf("N=%d: not a perfect system: %+v", n, p)
		}
		if p.Sizes.Min != q+1 || p.Loads.Min != q+1 {
			t.Errorf("N=%d: K=%d, D=%d, want both %d", n, p.Sizes.Min, p.Loads.Min, q+1)
		}
	}
}

// TestPlaneAxioms: any two lines have exactly one common point, any two points
// exactly one common line, and there are four points of which no three are on
// a line.
func TestPlaneAxioms(t *testing.T) {
	for _, q := range orders[1:] {
		n := q*q + q + 1
		s := mustNew(t, "plane", n)
		lines, points := s.RequestSet, s.Served
		if i, j, k := crossings(n, lines, points); k != 1 {
			t.Fatalf("order %d: the lines of %d and %d meet in %d points", q, i, j, k)
		}
		if i, j, k := crossings(n, points, lines); k != 1 {
			t.Fatalf("order %d: the points %d and %d are on %d common lines", q, i, j, k)
		}
		if !hasQuadrangle(s) {
			t.Errorf("order %d: no four points of which no three are on a line", q)
		}
	}
}

// crossings returns two nodes i ≠ j whose sets do not have exactly one common
// member, and how many they have; 1 where there are no such nodes. through
// returns the nodes whose sets have a given member.
func crossings(n int, set, through func(dme.NodeID) []dme.NodeID) (i, j dme.NodeID, common int) {
	count := make([]int, n+1)
	for i := dme.NodeID(1); int(i) <= n; i++ {
		clear(count)
		for _, x := range set(i) {
			for _, j := range through(x) {
				count[j]++
			}
		}
		for j := dme.NodeID(1); int(j) <= n; j++ {
			if j != i && count[j] != 1 {
				return i, j, count[j]
			}
		}
	}
	return 0, 0, 1
}

// hasQuadrangle takes points greedily as long as no three are on a line.
func hasQuadrangle(s *System) bool {
	var chosen []dme.NodeID
	for id := dme.NodeID(1); int(id) <= s.Nodes() && len(chosen) < 4; id++ {
		fits := true
		for _, line := range s.Served(id) {
			on := 0
			for _, point := range s.RequestSet(line) {
				if slices.Contains(chosen, point) {
					on++
				}
			}
			fits = fits && on < 2
		}
		if fits {
			chosen = append(chosen, id)
		}
	}
	return len(chosen) == 4
}

// TestPlanesThatDoNotExistAreReplaced: there is no plane of order 6, 10, 12, 14
// or 15 made of a field; the next order that has one serves.
func TestPlanesThatDoNotExistAreReplaced(t *testing.T) {
	for _, x := range []struct{ order, next int }{{6, 7}, {10, 11}, {12, 13}, {14, 16}, {15, 16}} {
		n := x.order*x.order + x.order + 1
		if got := planeOrder(n); got != x.next {
			t.Errorf("N=%d: order %d, want %d", n, got, x.next)
		}
		p := mustNew(t, "plane", n).Properties()
		if !p.Intersecting() || !p.SelfIncluded() || p.Sizes.Max > x.next+1 {
			t.Errorf("N=%d: %+v", n, p)
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

// TestDroppingMissingPointsLosesIntersection is why there are stand-ins: of the
// first 8 sets of Figure 1(c), reduced to the nodes 1 to 8, 6 of the 28 pairs
// are disjoint.
func TestDroppingMissingPointsLosesIntersection(t *testing.T) {
	var sets [][]dme.NodeID
	for _, line := range figure1c[:8] {
		var kept []dme.NodeID
		for _, point := range line {
			if point <= 8 {
				kept = append(kept, point)
			}
		}
		sets = append(sets, kept)
	}
	s, err := List("dropped", sets)
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Properties(); p.DisjointPairs != 6 {
		t.Errorf("%d disjoint pairs, want 6: %v", p.DisjointPairs, p.Disjoint)
	}
	if p := mustNew(t, "plane", 8).Properties(); !p.Intersecting() {
		t.Errorf("with stand-ins: disjoint %v", p.Disjoint)
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

func BenchmarkPlane(b *testing.B) {
	for _, x := range []struct {
		name  string
		nodes int
	}{{"993", 993}, {"994", 994}, {"10303", 10303}, {"9508", 9508}} {
		b.Run(x.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				mustNew(b, "plane", x.nodes)
			}
		})
	}
}

func BenchmarkRequestSet(b *testing.B) {
	for _, n := range []int{993, 9508} {
		s := mustNew(b, "plane", n)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			id := dme.NodeID(1)
			for b.Loop() {
				s.RequestSet(id)
				if id++; int(id) > n {
					id = 1
				}
			}
		})
	}
}

func BenchmarkProperties(b *testing.B) {
	for _, n := range []int{993, 10303} {
		s := mustNew(b, "plane", n)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				if p := s.Properties(); !p.Intersecting() || !p.EqualLoads() {
					b.Fatal(p)
				}
			}
		})
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

// TestFieldAxioms checks every field up to 49 elements by its definition.
func TestFieldAxioms(t *testing.T) {
	for q := 2; q < 50; q++ {
		if PrimePower(q) == 0 {
			continue
		}
		f := newField(q)
		for a := range q {
			if f.add(a, 0) != a || f.mul(a, 1) != a || f.mul(a, 0) != 0 {
				t.Fatalf("q=%d: 0 and 1 are not neutral for %d", q, a)
			}
			negatives, inverses := 0, 0
			for b := range q {
				if f.add(a, b) != f.add(b, a) || f.mul(a, b) != f.mul(b, a) {
					t.Fatalf("q=%d: %d and %d do not commute", q, a, b)
				}
				if f.add(a, b) == 0 {
					negatives++
				}
				if f.mul(a, b) == 1 {
					inverses++
				}
				for c := range q {
					if f.mul(a, f.add(b, c)) != f.add(f.mul(a, b), f.mul(a, c)) {
						t.Fatalf("q=%d: %d(%d+%d) is not distributive", q, a, b, c)
					}
					if f.add(a, f.add(b, c)) != f.add(f.add(a, b), c) || f.mul(a, f.mul(b, c)) != f.mul(f.mul(a, b), c) {
						t.Fatalf("q=%d: %d, %d, %d are not associative", q, a, b, c)
					}
				}
			}
			if negatives != 1 || a != 0 && inverses != 1 {
				t.Fatalf("q=%d: %d has %d negatives and %d inverses", q, a, negatives, inverses)
			}
		}
	}
}
