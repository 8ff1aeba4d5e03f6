package prioritisedtoken

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"dmebench/algorithms/naimitrehel"
	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/search/check"
	"dmebench/internal/testkit/suite"
)

// A request that meets no other costs what it costs in Naimi and Trehel's algorithm.
func TestSerialCost(t *testing.T) {
	rng := rand.New(rand.NewPCG(1998, 3))
	for _, n := range []int{1, 2, 3, 8, 32} {
		net, twin := conformance.Make(t, Algorithm(), n, nil), conformance.Make(t, naimitrehel.Algorithm(), n, nil)
		for entry := range 2000 {
			id := dme.NodeID(1 + rng.IntN(n))
			got, err1 := net.Serve(id)
			want, err2 := twin.Serve(id)
			if err1 != nil || err2 != nil || got != want {
				t.Fatalf("N=%d, entry %d: %d messages, %v; naimi-trehel needs %d, %v", n, entry, got, err1, want, err2)
			}
		}
	}
}

// While all wait at the token, each time the first of the highest level is served, unless
// another has waited for its patience; with much patience, all of a level before the next.
func TestOrder(t *testing.T) {
	for _, x := range []struct{ levels, patience, order string }{
		{"1", "2", "[2 3 4 5 6 7]"},
		{"2", "9", "[2 4 6 3 5 7]"},
		{"3", "9", "[3 6 2 5 4 7]"},
		{"3", "1", "[3 2 6 4 5 7]"},
		{"2", "1", "[2 4 3 6 5 7]"},
	} {
		net := conformance.Make(t, Algorithm(), 7, map[string]string{OptionLevels: x.levels, OptionPatience: x.patience})
		net.Request(1)
		for id := dme.NodeID(2); id <= 7; id++ {
			net.Request(id)
			net.Settle()
		}
		var order []dme.NodeID
		for net.Release(1); len(order) < 6; {
			net.Settle()
			in := net.Inside()
			if len(in) != 1 {
				t.Fatalf("%v are inside after %v", in, order)
			}
			order = append(order, in...)
			net.Release(in[0])
		}
		if got := fmt.Sprint(order); got != x.order {
			t.Errorf("levels=%s patience=%s: served in the order %s, want %s", x.levels, x.patience, got, x.order)
		}
	}
}

func TestAlgorithm(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *node { return n.Host(id).Made().(*node) }
	on := func(nodes, requests int, levels, patience string) suite.Search {
		return suite.Search{Options: check.Options{
			Nodes: nodes, Requests: requests, Unordered: true, Set: map[string]string{OptionLevels: levels, OptionPatience: patience},
		}}
	}
	busy := func() *conformance.Net {
		net := conformance.Make(t, Algorithm(), 4, nil)
		net.Request(1)
		net.Request(3)
		net.Settle()
		return net
	}
	suite.Run(t, suite.Suite{
		Algorithm: Algorithm(),
		Searches:  []suite.Search{on(3, 7, "2", "1"), on(3, 6, "3", "2"), on(4, 5, "2", "2"), on(4, 5, "4", "1"), on(5, 4, "3", "2")},
		Breaches: []conformance.Breach{
			{
				Invariant: "one token", Nodes: 3, Says: "no node has the token",
				Fault: func(n *conformance.Net) { at(n, 1).tokenPresent = false },
			},
			{
				Invariant: "one place in the queue", Nodes: 3, Says: "node 2 is requesting, and its request is at 2 places",
				Fault: func(n *conformance.Net) { n.Request(2); at(n, 1).queue = []request{{by: 2}} },
			},
			{
				Invariant: "one place in the queue", Nodes: 3, Says: "node 3 is idle",
				Fault: func(n *conformance.Net) { at(n, 1).queue = []request{{by: 3}} },
			},
			{
				Invariant: "one tree", Nodes: 3, Says: "the way from node 2 goes round",
				Fault: func(n *conformance.Net) { at(n, 2).father, at(n, 3).father = 3, 2 },
			},
			{
				Invariant: "preferred at most", Nodes: 3, Says: "others were preferred to node 2 3 times",
				Fault: func(n *conformance.Net) { n.Request(2); at(n, 1).queue = []request{{by: 2, preferred: 3}} },
			},
		},
		Refusals: []suite.Refusals{
			{
				Start: busy, From: 3, To: 1,
				Messages: []suite.Refused{
					{What: "REQUEST of nobody", Series: []dme.Message{{Kind: kindRequest}}},
					{What: "REQUEST of a node that does not exist", Series: []dme.Message{{Kind: kindRequest, Node: 5}}},
					{What: "REQUEST of the receiver", Series: []dme.Message{{Kind: kindRequest, Node: 1}}},
					{What: "REQUEST that is queued", Series: []dme.Message{{Kind: kindRequest, Node: 3}}},
					{What: "REQUEST of the node that asked last", From: 3, To: 4, Series: []dme.Message{{Kind: kindRequest, Node: 1}}},
					{What: "TOKEN to a node that did not ask", From: 3, To: 4, Series: []dme.Message{{Kind: kindToken}}},
					{What: "TOKEN to a node that has it", Series: []dme.Message{{Kind: kindToken}}},
					{What: "TOKEN with half a pair", From: 1, To: 3, Series: []dme.Message{{Kind: kindToken, Vec: []uint64{2}}}},
					{What: "TOKEN that queues its receiver", From: 1, To: 3, Series: []dme.Message{{Kind: kindToken, Vec: []uint64{3, 0}}}},
					{What: "TOKEN that queues nobody", From: 1, To: 3, Series: []dme.Message{{Kind: kindToken, Vec: []uint64{5, 0}}}},
					{What: "TOKEN that queues twice", From: 1, To: 3, Series: []dme.Message{{Kind: kindToken, Vec: []uint64{2, 0, 2, 0}}}},
					{What: "TOKEN beyond patience", From: 1, To: 3, Series: []dme.Message{{Kind: kindToken, Vec: []uint64{2, 3}}}},
				},
			},
		},
	})
}

func TestMutants(t *testing.T) { suite.Mutants(t) }

func TestSchedules(t *testing.T) { suite.Schedules(t, Algorithm()) }
