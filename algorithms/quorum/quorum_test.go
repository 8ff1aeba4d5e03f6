package quorum

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/internal/testkit"
	"dmebench/internal/testkit/suite"
)

// rules returns the names of the constructions that follow a rule.
func rules() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return strings.HasPrefix(name, fromFile) })
}

// Properties (a) and, where it is meant to hold, (b), and that the two directions of a family agree.
func TestEveryConstructionForEveryN(t *testing.T) {
	most := 200
	if testkit.Full() {
		most = 400
	}
	for _, name := range rules() {
		t.Run(name, func(t *testing.T) {
			for n := 1; n <= most; n++ {
				s := mustNew(t, name, n)
				checkFamily(t, s)
				if p := s.Properties(); !p.Intersecting() || !p.SelfIncluded() && name != "singleton" {
					t.Fatalf("N=%d: disjoint pairs %v, nodes outside their own sets %v", n, p.Disjoint, p.Selfless)
				}
			}
		})
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
		{"hierarchical", 1, [][]dme.NodeID{{1}}},
		{"hierarchical", 2, [][]dme.NodeID{{1, 2}, {1, 2}}},
		{"hierarchical", 3, [][]dme.NodeID{{1, 2}, {2, 3}, {1, 3}}},
		{"hierarchical", 9, [][]dme.NodeID{
			{1, 2, 4, 5}, {2, 3, 5, 6}, {1, 3, 4, 6}, {4, 5, 7, 8}, {5, 6, 8, 9}, {4, 6, 7, 9}, {1, 2, 7, 8}, {2, 3, 8, 9}, {1, 3, 7, 9},
		}},
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

// Of 3^k nodes each asks 2^k, and serves as many.
func TestHierarchyOfThrees(t *testing.T) {
	for n, k := 1, 1; n < 1000; n, k = 3*n, 2*k {
		p := mustNew(t, "hierarchical", n).Properties()
		if !p.EqualSizes() || !p.EqualLoads() || p.Sizes.Min != k {
			t.Errorf("N=%d: %+v, want %d", n, p, k)
		}
	}
}

func TestMutants(t *testing.T) { suite.Mutants(t) }

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
			checkFamily(t, mixed)
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

func mustWeigh(t *testing.T, votes ...uint64) *System {
	t.Helper()
	s, err := New("weighted", Config{Nodes: len(votes), Weights: votes})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A node asks itself rather than another wherever its vote helps, and not where it does
// not. Maekawa 1985, section 1: "if a particular node has a full weight and all others
// have no weight, the algorithm is reduced to a centralized control".
func TestWeightedSetsBeginAtHome(t *testing.T) {
	for _, x := range []struct {
		votes []uint64
		want  [][]dme.NodeID
	}{
		{[]uint64{2, 2, 1}, [][]dme.NodeID{{1, 2}, {1, 2}, {1, 3}}}, // 3 of 5
		{[]uint64{3, 3, 1}, [][]dme.NodeID{{1, 2}, {1, 2}, {1, 3}}}, // 4 of 7
		{[]uint64{5, 3, 1}, [][]dme.NodeID{{1}, {1}, {1}}},
		{[]uint64{0, 0, 1 << 63}, [][]dme.NodeID{{3}, {3}, {3}}},
		{ // 6 of 11
			[]uint64{4, 1, 1, 1, 1, 1, 1, 1},
			[][]dme.NodeID{{1, 2, 3}, {1, 2, 3}, {1, 3, 4}, {1, 4, 5}, {1, 5, 6}, {1, 6, 7}, {1, 7, 8}, {1, 2, 8}},
		},
		{[]uint64{0, 1, 1}, [][]dme.NodeID{{2, 3}, {2, 3}, {2, 3}}},
	} {
		s := mustWeigh(t, x.votes...)
		for i, want := range x.want {
			if got := s.RequestSet(dme.NodeID(i + 1)); !slices.Equal(got, want) {
				t.Errorf("votes %v: S_%d = %v, want %v", x.votes, i+1, got, want)
			}
		}
	}
}

// A set has a majority of the votes and no proper subset of it has; so sets
// meet, and none contains another one properly.
func TestWeightedSetsAreMinimalMajorities(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		votes := make([]uint64, 1+rng.IntN(12))
		var total uint64
		for i := range votes {
			votes[i] = uint64(rng.IntN(6))
			total += votes[i]
		}
		if total == 0 {
			continue
		}
		s := mustWeigh(t, votes...)
		checkFamily(t, s)
		if p := s.Properties(); !p.Intersecting() {
			t.Fatalf("votes %v: %v do not meet", votes, p.Disjoint)
		}
		for id := dme.NodeID(1); int(id) <= s.Nodes(); id++ {
			var have uint64
			least := total
			for _, member := range s.RequestSet(id) {
				have += votes[member-1]
				least = min(least, votes[member-1])
			}
			if 2*have <= total || 2*(have-least) > total {
				t.Fatalf("votes %v: S_%d = %v has %d of %d, with superfluous %d", votes, id, s.RequestSet(id), have, total, least)
			}
		}
	}
}

func TestWeightsRefused(t *testing.T) {
	for want, votes := range map[string][]uint64{
		"2 weights for 3 nodes": {1, 2},
		"nobody has a vote":     {0, 0, 0},
		"do not add up":         {1 << 63, 1 << 63, 1},
	} {
		if _, err := New("weighted", Config{Nodes: 3, Weights: votes}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want an error that says %q, got %v", votes, want, err)
		}
	}
}

func TestOptions(t *testing.T) {
	prepare := func(set map[string]string) (*System, error) {
		opt, err := dme.ResolveOptions(Options(), set)
		if err != nil {
			return nil, err
		}
		return Prepare(dme.Config{Nodes: 3, Options: opt})
	}
	for _, x := range []struct {
		set  map[string]string
		want []dme.NodeID // S_2
	}{
		{nil, []dme.NodeID{2, 3}},
		{map[string]string{"quorum": "singleton"}, []dme.NodeID{1}},
		{map[string]string{"quorum": "weighted", "weights": "1, 3,1"}, []dme.NodeID{2}},
		{map[string]string{"quorum": "weighted"}, []dme.NodeID{2, 3}},
	} {
		s, err := prepare(x.set)
		if err != nil {
			t.Errorf("%v: %v", x.set, err)
		} else if got := s.RequestSet(2); !slices.Equal(got, x.want) {
			t.Errorf("%v: S_2 = %v, want %v", x.set, got, x.want)
		}
	}
	for want, set := range map[string]map[string]string{
		"no such construction":       {"quorum": "star"},
		"is not a number of votes":   {"quorum": "weighted", "weights": "1,x,1"},
		"does not count votes":       {"weights": "1,1,1"},
		"no file can be read here":   {"quorum": "file:sets"},
		"\"-1\" is not a number":     {"quorum": "weighted", "weights": "1,-1,1"},
		"4 weights for 3 nodes":      {"quorum": "weighted", "weights": "1,1,1,2"},
		"want plane|grid|majority|w": {"quorum": "file:"},
	} {
		if _, err := prepare(set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want an error that says %q, got %v", set, want, err)
		}
	}
}

// TestSite: a node finds its members and whom it serves, and nobody else.
func TestSite(t *testing.T) {
	for _, name := range rules() {
		for _, n := range []int{1, 2, 7, 10, 31} {
			s := mustNew(t, name, n)
			for id := dme.NodeID(1); int(id) <= n; id++ {
				site := s.Site(id)
				site.Know()
				for other := dme.NodeID(0); int(other) <= n+1; other++ {
					if got, want := site.MemberIndex(other), slices.Index(site.Members, other); got != want {
						t.Errorf("%s of %d: %d is member %d of S_%d = %v, want %d", name, n, other, got, id, site.Members, want)
					}
					if got, want := site.Serves(other), slices.Contains(s.Served(id), other); got != want {
						t.Errorf("%s of %d: %d serves %d: %v", name, n, id, other, got)
					}
				}
			}
		}
	}
}

// TestLocalMessages: what a node says to itself is handled in order, and so is
// what it says to itself meanwhile.
func TestLocalMessages(t *testing.T) {
	site := mustNew(t, "plane", 7).Site(3)
	for round := range 2 {
		site.Tell(3, dme.Message{Num: 1}, nil)
		site.Tell(3, dme.Message{Num: 2}, nil)
		var got []uint64
		site.HandleLocal(func(from dme.NodeID, m dme.Message, _ *dme.Outbox) {
			if from != 3 {
				t.Errorf("from node %d", from)
			}
			if got = append(got, m.Num); m.Num == 1 {
				site.Tell(3, dme.Message{Num: 3}, nil)
			}
		}, nil)
		if want := []uint64{1, 2, 3}; !slices.Equal(got, want) {
			t.Errorf("round %d: handled %v, want %v", round, got, want)
		}
	}
}

// fromText builds the sets of a file with that text.
func fromText(nodes int, text string) (*System, error) {
	return New("file:sets", Config{Nodes: nodes, ReadFile: func(name string) ([]byte, error) {
		if name != "sets" {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}})
}

func TestFile(t *testing.T) {
	for name, x := range map[string]struct {
		text string
		want [][]dme.NodeID
	}{
		"sets of nodes": {
			"# the triangle\n\n2: 3 2\n1: {1, 2}  # in any order\r\n3:3,1",
			[][]dme.NodeID{{1, 2}, {2, 3}, {1, 3}},
		},
		"equal sets of nodes": {"1: 2\n2: 2\n3: 2\n", [][]dme.NodeID{{2}, {2}, {2}}},
		"quorums":             {"1 2\n2 3\n1 3\n", [][]dme.NodeID{{1, 2}, {2, 3}, {1, 3}}},
		// Node 1 is in two, and takes the first; 3 is in none, and takes the
		// one that nobody has.
		"quorums to choose from": {"{1,2}\n1 4\n2 4", [][]dme.NodeID{{1, 2}, {2, 4}, {1, 4}, {1, 4}}},
	} {
		s, err := fromText(len(x.want), x.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkFamily(t, s)
		for i, want := range x.want {
			if got := s.RequestSet(dme.NodeID(i + 1)); !slices.Equal(got, want) {
				t.Errorf("%s: S_%d = %v, want %v", name, i+1, got, want)
			}
		}
	}
}

// The coterie of the textbook's section 9.9.6: each of the nodes 3, 5 and 6 has
// the quorum that contains it.
func TestExampleCoterie(t *testing.T) {
	s, err := New("file:testdata/textbook-9.9.6.txt", Config{Nodes: 6, ReadFile: os.ReadFile})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[dme.NodeID][]dme.NodeID{3: {1, 2, 3}, 5: {2, 4, 5}, 6: {1, 4, 6}} {
		if got := s.RequestSet(id); !slices.Equal(got, want) {
			t.Errorf("S_%d = %v, want %v", id, got, want)
		}
	}
	if p := s.Properties(); !p.Intersecting() || !p.SelfIncluded() || !p.EqualSizes() || p.Plane() {
		t.Errorf("%+v", p)
	}
}

// Of the counterexamples of the textbook's section 9.7, sets that do not meet are refused.
func TestDisjointSets(t *testing.T) {
	for text, want := range map[string]string{
		"1 2 3\n2 5 7\n5 7 9":  "line 1, {1,2,3}, and line 3, {5,7,9}, have no common node",
		"1: 1 2\n2: 2\n3: 3 1": "line 2, S_2 = {2}, and line 3, S_3 = {1,3}, have no common node",
	} {
		nodes := 9
		if strings.Contains(text, ":") {
			nodes = 3
		}
		if _, err := fromText(nodes, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: want an error that says %q, got %v", text, want, err)
		}
	}
}

// A set that contains another makes no coterie, and is told; mutual exclusion needs only
// that sets meet.
func TestNestedSets(t *testing.T) {
	for _, x := range []struct {
		text   string
		nested [][2]dme.NodeID
		remark string // "" for none
	}{
		{"1: 1 2\n2: 2\n3: 2 3", [][2]dme.NodeID{{1, 2}, {3, 2}}, "S_1 contains S_2, and 1 more request sets contain a smaller one: "},
		{"1: 1 2 3\n2: 2 3\n3: 1 3", [][2]dme.NodeID{{1, 2}, {1, 3}}, "S_1 contains S_2, and 1 more"},
		{"1: 1 2\n2: 1 2\n3: 1 2 3", [][2]dme.NodeID{{3, 1}, {3, 2}}, "S_3 contains S_1, and 1 more"},
		{"1: 1 3\n2: 1 2 3\n3: 2 3", [][2]dme.NodeID{{2, 1}, {2, 3}}, "S_2 contains S_1, and 1 more"},
		{"1: 1 2\n2: 2 3\n3: 1 3", nil, ""},
		{"1: 2\n2: 2\n3: 2", nil, ""},
		{"1 2\n1 2 3", [][2]dme.NodeID{{2, 1}, {3, 1}}, "S_2 contains S_1, and 1 more"},
		{"1: 1 2\n2: 1 2\n3: 1 2", nil, ""},
	} {
		s, err := fromText(3, x.text)
		if err != nil {
			t.Errorf("%q: %v", x.text, err)
			continue
		}
		checkFamily(t, s)
		p := s.Properties()
		if !slices.Equal(p.Nested, x.nested) || p.NestedPairs != len(x.nested) || p.Minimal() != (x.nested == nil) || !p.Intersecting() {
			t.Errorf("%q: nested %v, %d; want %v", x.text, p.Nested, p.NestedPairs, x.nested)
		}
		said := strings.Join(s.Remarks(), "\n")
		if !strings.Contains(said, x.remark) || (said == "") != (x.remark == "") {
			t.Errorf("%q: %q", x.text, said)
		}
	}
}

func TestFileRefused(t *testing.T) {
	for want, text := range map[string]string{
		"there are no sets":                "# nothing\n",
		"line 2: \"4\" is not a node":      "1 2\n2 4\n",
		"line 1: \"x\" is not a node":      "1 x\n",
		"line 1: \"0\" is not a node":      "0: 1\n",
		"line 1: the set is empty":         "1: # nobody\n",
		"line 1: the set names node 2":     "2 1 2\n",
		"line 2: some lines begin with":    "1: 1 2\n2 3\n",
		"line 3: S_1 is on line 1 already": "1: 1 2\n2: 2 3\n1: 1 3\n",
		"there is no set of node 2 of 3":   "1: 1 2\n3: 1 3\n",
		"there is no set of node 1 of 3":   "2: 1 2\n3: 1 3\n",
	} {
		if _, err := fromText(3, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: want an error that says %q, got %v", text, want, err)
		}
	}
	absent := func(string) ([]byte, error) { return nil, fs.ErrNotExist }
	if _, err := New("file:other", Config{Nodes: 3, ReadFile: absent}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}
