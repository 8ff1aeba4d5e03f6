package chaudhurikaraata

import (
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
)

// every calls f for every mesh of up to nodes nodes that has sides of up to 4,
// complete or not.
func everyMesh(nodes int, f func(m *mesh)) {
	var grow func(sizes []int)
	grow = func(sizes []int) {
		if len(sizes) >= 2 {
			for n := 1; n <= nodes; n++ {
				if checkSizes(sizes, n) == nil {
					m := newMesh(slices.Clone(sizes), n)
					f(&m)
				}
			}
		}
		if len(sizes) < 4 {
			for size := 1; size <= 4; size++ {
				grow(append(sizes, size))
			}
		}
	}
	grow(nil)
}

// Every node of every mesh has all of its route: also where the last plane is
// incomplete, each hop towards the corner leads to a smaller number in the plane.
func TestRoutes(t *testing.T) {
	meshes := 0
	everyMesh(40, func(m *mesh) {
		meshes++
		for id := dme.NodeID(1); int(id) <= m.nodes; id++ {
			corner := m.cornerOf(m.planeOf(id))
			hops := 0
			for at := id; at != corner; hops++ {
				next := m.inward(at)
				if next >= at || m.planeOf(next) != m.planeOf(id) || m.distance(next) != m.distance(at)-1 {
					t.Fatalf("%v of %d: from %d inward to %d", m.sizes, m.nodes, at, next)
				}
				if back := m.outward(next, id); back != at {
					t.Fatalf("%v of %d: from %d outward to %d for %d, want %d", m.sizes, m.nodes, next, back, id, at)
				}
				if !slices.Contains(m.neighbours(at), next) || !slices.Contains(m.neighbours(next), at) {
					t.Fatalf("%v of %d: %d and %d are not neighbours", m.sizes, m.nodes, at, next)
				}
				at = next
			}
			if hops != m.distance(id) || m.inward(corner) != dme.None || m.outward(id, id) != dme.None {
				t.Fatalf("%v of %d: %d hops from %d to its corner", m.sizes, m.nodes, hops, id)
			}
		}
		if links(m) != m.nodes-1 {
			t.Fatalf("%v of %d: %d links do not make a spanning tree", m.sizes, m.nodes, links(m))
		}
	})
	if meshes < 1000 {
		t.Errorf("%d meshes only", meshes)
	}
}

// A node off the route to a target knows no next hop for it.
func TestOffTheRoute(t *testing.T) {
	everyMesh(30, func(m *mesh) {
		for target := dme.NodeID(1); int(target) <= m.nodes; target++ {
			route := []dme.NodeID{}
			for at := target; at != dme.None; at = m.inward(at) {
				route = append(route, at)
			}
			for id := dme.NodeID(1); int(id) <= m.nodes; id++ {
				want := dme.None
				if i := slices.Index(route, id); i > 0 {
					want = route[i-1]
				}
				if got := m.outward(id, target); got != want {
					t.Fatalf("%v of %d: outward from %d for %d is %d, want %d", m.sizes, m.nodes, id, target, got, want)
				}
			}
		}
	})
}

func TestTriples(t *testing.T) {
	m := newMesh([]int{2, 3, 4}, 24)
	seen := map[string]bool{}
	for k := range 4 {
		for i := range 2 {
			for j := range 3 {
				id := dme.NodeID(k*6 + i*3 + j + 1)
				for l, want := range []int{i, j, k} {
					if got := m.coordinate(id, l); got != want {
						t.Errorf("node %d: coordinate %d is %d, want %d", id, l, got, want)
					}
				}
				seen[m.triple(id)] = true
			}
		}
	}
	if len(seen) != 24 || !seen["(1,2,3)"] {
		t.Errorf("triples %v", seen)
	}
	// Section 2.2: to (x−1,y,k) while x ≠ 0, then to (0,y−1,k); P3 the other way round.
	at := dme.NodeID(3*6 + 1*3 + 2 + 1)
	for _, want := range []string{"(0,2,3)", "(0,1,3)", "(0,0,3)"} {
		if at = m.inward(at); m.triple(at) != want {
			t.Errorf("inward to %s, want %s", m.triple(at), want)
		}
	}
	if got := m.triple(m.beyond(13, 19)) + m.triple(m.beyond(13, 7)) + m.triple(m.across(13, 24)); got != "(0,0,1)(0,0,3)(0,0,3)" {
		t.Errorf("from (0,0,2) to %s", got)
	}
	if m.beyond(1, 7) != dme.None || m.beyond(19, 1) != dme.None {
		t.Error("a hop leaves the mesh (CR6)")
	}
}

func TestSizes(t *testing.T) {
	for n, want := range map[int][]int{
		1: {1, 1, 1}, 2: {2, 2, 1}, 5: {2, 2, 2}, 8: {2, 2, 2}, 9: {3, 3, 1}, 27: {3, 3, 3}, 28: {4, 4, 2}, 1000: {10, 10, 10},
	} {
		if got := cubic(n, 3); !slices.Equal(got, want) {
			t.Errorf("%d nodes: %v, want %v", n, got, want)
		}
	}
	for n := 1; n < 300; n++ {
		for d := 2; d <= 4; d++ {
			if err := checkSizes(cubic(n, d), n); err != nil {
				t.Errorf("%d nodes, %d dimensions: %v", n, d, err)
			}
		}
		sys, err := AsPublished().New(n, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := sys.(*system).planes(); n >= 2 && got < 2 {
			t.Errorf("as published, %d nodes: %v is one plane", n, sys.(*system).sizes)
		}
	}
}

func TestMeshesThatDoNotFit(t *testing.T) {
	for _, x := range []struct {
		n    int
		set  map[string]string
		want string
	}{
		{8, map[string]string{optMesh: "2x2"}, "has 2 dimensions, not 3"},
		{8, map[string]string{optMesh: "2x2x3"}, "is for 9 to 12 nodes, not 8"},
		{8, map[string]string{optMesh: "2x2x1"}, "is for 1 to 4 nodes, not 8"},
		{8, map[string]string{optMesh: "2x2x2x2"}, "has 4 dimensions"},
		{8, map[string]string{optMesh: "8"}, "2 to 4 sizes"},
		{8, map[string]string{optMesh: "0x2x2"}, `"0" is not a size`},
		{8, map[string]string{optMesh: "2x2x"}, `"" is not a size`},
		{8, map[string]string{optMesh: "2x99999x2"}, `"99999" is not a size`},
		{8, map[string]string{optDimensions: "5"}, "want 2|3|4"},
		{8, map[string]string{optRepair: "none"}, "numbered|suppressed|directed"},
	} {
		_, err := Algorithm().New(x.n, 1, x.set)
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v: %v, want %q", x.set, err, x.want)
		}
	}
	if _, err := AsPublished().New(4, 1, map[string]string{optMesh: "2x2"}); err == nil {
		t.Error("as published: a mesh of two dimensions")
	}
	for mesh, d := range map[string]string{"4x2": "2", "2x2x2": "3", "1x2x2x2": "4"} {
		if _, err := Algorithm().New(8, 1, map[string]string{optMesh: mesh, optDimensions: d}); err != nil {
			t.Error(err)
		}
	}
}
