package quorum

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
)

func mustWeigh(t *testing.T, votes ...uint64) *System {
	t.Helper()
	s, err := New("weighted", Config{Nodes: len(votes), Weights: votes})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Maekawa 1985, section 1: "if a particular node has a full weight and all
// others have no weight, the algorithm is reduced to a centralized control".
func TestFullWeightIsCentralizedControl(t *testing.T) {
	for _, votes := range [][]uint64{{0, 0, 1, 0, 0}, {1, 1, 9, 1, 1}, {0, 0, 1 << 63, 0, 0}} {
		s := mustWeigh(t, votes...)
		for id := dme.NodeID(1); int(id) <= s.Nodes(); id++ {
			if got := s.RequestSet(id); !slices.Equal(got, []dme.NodeID{3}) {
				t.Errorf("votes %v: S_%d = %v, want node 3 alone", votes, id, got)
			}
		}
	}
}

func TestWeightedExample(t *testing.T) {
	// Eleven votes: six are a majority.
	s := mustWeigh(t, 4, 1, 1, 1, 1, 1, 1, 1)
	for i, want := range [][]dme.NodeID{{1, 2, 3}, {1, 2, 3}, {1, 3, 4}, {1, 4, 5}, {1, 5, 6}, {1, 6, 7}, {1, 7, 8}, {1, 2, 8}} {
		if got := s.RequestSet(dme.NodeID(i + 1)); !slices.Equal(got, want) {
			t.Errorf("S_%d = %v, want %v", i+1, got, want)
		}
	}
}

// A node asks itself rather than another wherever its vote helps, and not where it does
// not.
func TestWeightedSetsBeginAtHome(t *testing.T) {
	for _, x := range []struct {
		votes []uint64
		want  [][]dme.NodeID
	}{
		{[]uint64{2, 2, 1}, [][]dme.NodeID{{1, 2}, {1, 2}, {1, 3}}}, // 3 of 5
		{[]uint64{3, 3, 1}, [][]dme.NodeID{{1, 2}, {1, 2}, {1, 3}}}, // 4 of 7
		{[]uint64{5, 3, 1}, [][]dme.NodeID{{1}, {1}, {1}}},
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

// A substitute keeps the members that are up and has a majority without any that could
// be spared: seven of thirteen votes.
func TestWeightedSubstitutes(t *testing.T) {
	s := mustWeigh(t, 3, 3, 3, 4)
	for _, x := range []struct {
		down dme.NodeID
		want []dme.NodeID
	}{{dme.None, []dme.NodeID{1, 2, 3}}, {3, []dme.NodeID{1, 4}}, {1, []dme.NodeID{2, 4}}} {
		got, ok := s.Substitute(1, []dme.NodeID{1, 2, 3}, func(id dme.NodeID) bool { return id != x.down })
		if !ok || !slices.Equal(got, x.want) {
			t.Errorf("node %d is down: %v, %v; want %v", x.down, got, ok, x.want)
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
				for other := dme.NodeID(0); int(other) <= n+1; other++ {
					if got, want := site.MemberIndex(other), slices.Index(site.Members, other); got != want {
						t.Errorf("%s of %d: %d is member %d of S_%d = %v, want %d", name, n, other, got, id, site.Members, want)
					}
					if got, want := site.Serves(other), slices.Contains(site.Served, other); got != want {
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
		site.TellSelf(&dme.Message{Num: 1})
		site.TellSelf(&dme.Message{Num: 2})
		var got []uint64
		site.HandleLocal(func(from dme.NodeID, m dme.Message, _ *dme.Outbox) {
			if from != 3 {
				t.Errorf("from node %d", from)
			}
			if got = append(got, m.Num); m.Num == 1 {
				site.TellSelf(&dme.Message{Num: 3})
			}
		}, nil)
		if want := []uint64{1, 2, 3}; !slices.Equal(got, want) {
			t.Errorf("round %d: handled %v, want %v", round, got, want)
		}
	}
}
