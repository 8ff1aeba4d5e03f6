package quorum

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
)

// rules returns the names of the constructions that follow a rule.
func rules() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return strings.HasPrefix(name, fromFile) })
}

// TestEveryConstructionForEveryN checks the properties (a) and, where it is
// meant to hold, (b), and that the two directions of a family agree, for every
// N up to 400.
func TestEveryConstructionForEveryN(t *testing.T) {
	for _, name := range rules() {
		t.Run(name, func(t *testing.T) {
			for n := 1; n <= 400; n++ {
				s := mustNew(t, name, n)
				checkFamily(t, s)
				if p := s.Properties(); !p.Intersecting() || !p.SelfIncluded() && name != "singleton" {
					t.Fatalf("N=%d: disjoint pairs %v, nodes outside their own sets %v", n, p.Disjoint, p.Selfless)
				}
			}
		})
	}
}

// checkFamily checks that sets are ascending, without duplicates, of existing
// nodes, and that Served is the inverse of RequestSet.
func checkFamily(t *testing.T, s *System) {
	t.Helper()
	served := make([][]dme.NodeID, s.Nodes()+1)
	for id := dme.NodeID(1); int(id) <= s.Nodes(); id++ {
		set := s.RequestSet(id)
		for k, member := range set {
			if member < 1 || int(member) > s.Nodes() || k > 0 && member <= set[k-1] {
				t.Fatalf("%s of %d: S_%d = %v", s.Name(), s.Nodes(), id, set)
			}
			served[member] = append(served[member], id)
		}
	}
	for id := dme.NodeID(1); int(id) <= s.Nodes(); id++ {
		if got := s.Served(id); !slices.Equal(got, served[id]) {
			t.Fatalf("%s of %d: node %d serves %v, but is in the sets of %v", s.Name(), s.Nodes(), id, got, served[id])
		}
	}
}

func TestMajorityIsMoreThanHalfAndEqual(t *testing.T) {
	for n := 1; n <= 60; n++ {
		p := mustNew(t, "majority", n).Properties()
		if !p.EqualSizes() || !p.EqualLoads() || p.Sizes.Min != n/2+1 || p.Loads.Min != n/2+1 {
			t.Errorf("N=%d: %+v", n, p)
		}
	}
}

func TestSquareGrid(t *testing.T) {
	s := mustNew(t, "grid", 9)
	if got, want := s.RequestSet(5), []dme.NodeID{2, 4, 5, 6, 8}; !slices.Equal(got, want) {
		t.Errorf("S_5 = %v, want %v", got, want)
	}
	for side := 1; side <= 20; side++ {
		p := mustNew(t, "grid", side*side).Properties()
		if !p.EqualSizes() || !p.EqualLoads() || p.Sizes.Min != 2*side-1 {
			t.Errorf("%d×%d: %+v", side, side, p)
		}
	}
}

func TestSmallSystems(t *testing.T) {
	for _, x := range []struct {
		construction string
		nodes        int
		want         [][]dme.NodeID
	}{
		{"plane", 1, [][]dme.NodeID{{1}}},
		{"plane", 2, [][]dme.NodeID{{1, 2}, {1, 2}}},
		{"plane", 3, [][]dme.NodeID{{1, 2}, {2, 3}, {1, 3}}},
		{"plane", 7, [][]dme.NodeID{{1, 2, 4}, {2, 3, 5}, {3, 4, 6}, {4, 5, 7}, {1, 5, 6}, {2, 6, 7}, {1, 3, 7}}},
		{"grid", 1, [][]dme.NodeID{{1}}},
		{"grid", 3, [][]dme.NodeID{{1, 2, 3}, {1, 2}, {1, 3}}},
		{"majority", 1, [][]dme.NodeID{{1}}},
		{"weighted", 4, [][]dme.NodeID{{1, 2, 3}, {2, 3, 4}, {1, 3, 4}, {1, 2, 4}}},
		{"tree", 1, [][]dme.NodeID{{1}}},
		{"tree", 2, [][]dme.NodeID{{1, 2}, {1, 2}}},
		{"tree", 3, [][]dme.NodeID{{1, 3}, {1, 2}, {1, 3}}},
		{"tree", 4, [][]dme.NodeID{{1, 3}, {1, 2, 4}, {1, 3}, {1, 2, 4}}},
		{"singleton", 3, [][]dme.NodeID{{1}, {1}, {1}}},
		{"majority", 4, [][]dme.NodeID{{1, 2, 3}, {2, 3, 4}, {1, 3, 4}, {1, 2, 4}}},
	} {
		s := mustNew(t, x.construction, x.nodes)
		for i, want := range x.want {
			if got := s.RequestSet(dme.NodeID(i + 1)); !slices.Equal(got, want) {
				t.Errorf("%s of %d: S_%d = %v, want %v", x.construction, x.nodes, i+1, got, want)
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, unknown := range []string{"star", "", "file:", "file", "plane:3"} {
		if _, err := New(unknown, Config{Nodes: 3}); err == nil || !strings.Contains(err.Error(), "unknown construction") {
			t.Errorf("%q: %v", unknown, err)
		}
	}
	for _, name := range Names() {
		if _, err := New(name, Config{}); err == nil {
			t.Errorf("%s of no nodes was built", name)
		}
	}
}

func TestListRefuses(t *testing.T) {
	for name, sets := range map[string][][]dme.NodeID{
		"no request sets":       nil,
		"S_2: the set is empty": {{1}, {}},
		"names node 3":          {{1, 3}, {2}},
		"names node 0":          {{0}},
		"twice":                 {{1, 2, 1}, {2}},
	} {
		if _, err := List("bad", sets); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want an error that says %q, got %v", name, err)
		}
	}
}

func prepared(t *testing.T, construction string, nodes int, seed uint64, labelling string) *System {
	t.Helper()
	s, err := Prepare(dme.Config{
		Nodes: nodes, Seed: seed, Options: dme.Options{OptionQuorum: construction, OptionWeights: "", OptionLabelling: labelling},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A shuffled plane is the plane with other names: all its properties stay, and the seed
// decides who stands where.
func TestShuffledLabelling(t *testing.T) {
	for _, construction := range []string{"plane", "grid"} {
		for _, n := range []int{1, 2, 3, 7, 8, 13, 31} {
			straight, mixed := prepared(t, construction, n, 5, natural), prepared(t, construction, n, 5, shuffled)
			a, b := straight.Properties(), mixed.Properties()
			for _, x := range []*Spread{&a.Sizes, &a.Loads, &b.Sizes, &b.Loads} {
				x.MinNode, x.MaxNode = 0, 0 // who they are has changed
			}
			a.Nested, b.Nested = nil, nil // likewise
			if !reflect.DeepEqual(a, b) {
				t.Errorf("%s, N=%d: %+v, and shuffled %+v", construction, n, a, b)
			}
			differ, other := false, false
			for id := dme.NodeID(1); int(id) <= n; id++ {
				set := mixed.RequestSet(id)
				if !slices.IsSorted(set) || !slices.Contains(set, id) {
					t.Errorf("%s, N=%d: S_%d = %v", construction, n, id, set)
				}
				for _, member := range set {
					if !slices.Contains(mixed.Served(member), id) {
						t.Errorf("%s, N=%d: %d asks %d, which does not serve it", construction, n, id, member)
					}
				}
				differ = differ || !slices.Equal(set, straight.RequestSet(id))
				other = other || !slices.Equal(set, prepared(t, construction, n, 6, shuffled).RequestSet(id))
			}
			if n >= 7 && (!differ || !other) {
				t.Errorf("%s, N=%d: shuffled %v, otherwise with another seed %v", construction, n, differ, other)
			}
		}
	}
	_, err := Prepare(dme.Config{Nodes: 7, Options: dme.Options{OptionQuorum: "tree", OptionWeights: "", OptionLabelling: shuffled}})
	if err == nil || !strings.Contains(err.Error(), "leave it at natural") {
		t.Errorf("a shuffled tree: %v", err)
	}
}
