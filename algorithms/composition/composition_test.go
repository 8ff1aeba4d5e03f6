package composition

import (
	"testing"

	"dmebench/algorithms/lamport"
	"dmebench/algorithms/naimitrehel"
	"dmebench/algorithms/raymond"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/suzukikasami"
	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/search/check"
	"dmebench/internal/testkit"
	"dmebench/internal/testkit/suite"
)

// composed composes any two of five algorithms.
func composed() *dme.Algorithm {
	return Algorithm(Parts([]*dme.Algorithm{
		naimitrehel.Algorithm(), ricartagrawala.Algorithm(), suzukikasami.Algorithm(), raymond.Algorithm(), lamport.Algorithm(),
		ricartagrawala.Robust(), // which does not say whether it is wanted
	}))
}

func TestParts(t *testing.T) {
	a := composed()
	if o := a.Options[0]; len(o.Words) != 5 || o.Default != "naimi-trehel" {
		t.Errorf("%s: %v, by default %s", o.Name, o.Words, o.Default)
	}
	for set, want := range map[string]bool{"naimi-trehel": false, "lamport": true} {
		opt, err := a.Resolve(map[string]string{OptionBetween: set})
		if err != nil || a.Needs(opt).FIFO != want {
			t.Errorf("with %s between, it needs order: %v, %v", set, a.Needs(opt).FIFO, err)
		}
	}
}

func newNet(t *testing.T, nodes int, groups string) *conformance.Net {
	t.Helper()
	net := conformance.Make(t, composed(), nodes, map[string]string{OptionGroups: groups})
	net.Settle()
	return net
}

// Groups are of nodes that follow one another, as the blocks of sites are.
func TestGroups(t *testing.T) {
	for nodes := 1; nodes <= 40; nodes++ {
		for groups := 1; groups <= nodes+1; groups++ {
			s := &system{nodes: nodes, groups: min(groups, nodes)}
			all := 0
			for g := range s.groups {
				if s.groupOf(s.head(g)) != g || g > 0 && s.groupOf(s.head(g)-1) != g-1 {
					t.Fatalf("%d nodes, %d groups: node %d is the head of group %d", nodes, groups, s.head(g), g)
				}
				if n := s.size(g); n < nodes/s.groups || n > nodes/s.groups+1 {
					t.Fatalf("%d nodes, %d groups: %d nodes in group %d", nodes, groups, n, g)
				}
				all += s.size(g)
			}
			if all != nodes {
				t.Fatalf("%d nodes, %d groups: %d nodes in them", nodes, groups, all)
			}
		}
	}
}

// While a group has the outer lock, its nodes enter without a message to another group.
func TestEntriesOfOneGroup(t *testing.T) {
	net := newNet(t, 6, "2")
	for _, x := range []struct {
		id      dme.NodeID
		between uint64 // messages, in all
	}{{2, 0}, {3, 0}, {5, 2}, {6, 2}, {4, 2}, {1, 4}} {
		if _, err := net.Serve(x.id); err != nil || net.SentOf(kindBetween) != x.between {
			t.Errorf("after the entry of node %d: %d messages between groups, %v; want %d", x.id, net.SentOf(kindBetween), err, x.between)
		}
	}
}

func TestAlgorithm(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *node { return n.Host(id).Made().(*node) }
	var searches []suite.Search
	for _, pair := range [][2]string{
		{"naimi-trehel", "naimi-trehel"}, {"ricart-agrawala", "suzuki-kasami"}, {"suzuki-kasami", "ricart-agrawala"},
		{"raymond", "lamport"}, {"lamport", "raymond"},
	} {
		set := map[string]string{OptionInside: pair[0], OptionBetween: pair[1]}
		requests, schedules := 3, 100
		if testkit.Long() {
			requests, schedules = 4, 1000
		}
		three := map[string]string{OptionInside: pair[0], OptionBetween: pair[1], OptionGroups: "3"}
		ordered := pair[0] == "lamport" || pair[1] == "lamport"
		searches = append(searches,
			suite.Search{Options: check.Options{Nodes: 4, Requests: 3, Set: set, Unordered: !ordered}},
			suite.Search{Options: check.Options{Nodes: 3, Requests: requests, Set: three, Unordered: !ordered}},
			suite.Search{Options: check.Options{Nodes: 8, Requests: 40, Schedules: schedules, Set: three, Unordered: !ordered}})
	}
	suite.Run(t, suite.Suite{
		Algorithm: composed(),
		Searches:  searches,
		Breaches: []conformance.Breach{
			{
				Invariant: "one outer lock", Nodes: 4, Says: "the coordinators of the nodes 1 and 3 both have the outer lock",
				Fault: func(n *conformance.Net) {
					at(n, 1).coordinator.outer.has, at(n, 3).coordinator.outer.has = true, true
				},
			},
			{
				Invariant: "inside by the outer lock", Nodes: 4, Says: "node 2 is inside, and its coordinator has the inner lock: true",
				Fault: func(n *conformance.Net) { n.Settle(); at(n, 2).own.has = true },
			},
		},
		Refusals: []suite.Refusals{
			{
				Start: func() *conformance.Net { return newNet(t, 4, "2") },
				Messages: []suite.Refused{
					{What: "INSIDE of another group", From: 3, To: 2, Series: []dme.Message{{Kind: kindInside, Flags: 1}}},
					{What: "INSIDE of no kind", From: 1, To: 2, Series: []dme.Message{{Kind: kindInside}}},
					{What: "INSIDE to a coordinator that is none", From: 1, To: 2, Series: []dme.Message{{Kind: kindInside, Flags: 1 | toCoordinator}}},
					{What: "INSIDE of a coordinator that is none", From: 2, To: 1, Series: []dme.Message{{Kind: kindInside, Flags: 1 | fromCoordinator}}},
					{What: "INSIDE that its algorithm refuses", From: 1, To: 2, Series: []dme.Message{{Kind: kindInside, Flags: 2 | fromCoordinator}}},
					{What: "BETWEEN to a node that is no head", From: 3, To: 2, Series: []dme.Message{{Kind: kindBetween, Flags: 1}}},
					{What: "BETWEEN of a node that is no head", From: 4, To: 1, Series: []dme.Message{{Kind: kindBetween, Flags: 1}}},
					{What: "BETWEEN of no kind", From: 3, To: 1, Series: []dme.Message{{Kind: kindBetween, Flags: 9}}},
					{What: "BETWEEN with a mark", From: 3, To: 1, Series: []dme.Message{{Kind: kindBetween, Flags: 1 | toCoordinator}}},
				},
			},
		},
	})
}

func TestMutants(t *testing.T) { suite.Mutants(t) }
