package neilsenmizuno

import (
	"math"
	"math/rand/v2"
	"testing"

	"dmebench/algorithms/spanning"
	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/search/check"
	"dmebench/internal/testkit/suite"
)

func newNet(t *testing.T, nodes int, tree string) *conformance.Net {
	t.Helper()
	return conformance.Make(t, Algorithm(), nodes, map[string]string{spanning.OptTree: tree})
}

// distance is the number of edges between two nodes, by their ways to the root.
func distance(t *spanning.Tree, a, b dme.NodeID) (edges int) {
	depth := func(id dme.NodeID) (d int) {
		for ; t.Parent(id) != dme.None; id = t.Parent(id) {
			d++
		}
		return d
	}
	for a != b {
		if depth(a) < depth(b) {
			a, b = b, a
		}
		a = t.Parent(a)
		edges++
	}
	return edges
}

// A lone request costs a message for each edge to the node that entered last, and one
// more for the token; nothing where that is the same node. On average that is what the
// claims say.
func TestSerialCost(t *testing.T) {
	rng := rand.New(rand.NewPCG(1991, 11))
	for _, tree := range []string{"star", "line", "binary", "radiating:4"} {
		for _, n := range []int{1, 2, 7, 16} {
			net := newNet(t, n, tree)
			shape := net.Setting.System.(*system).tree
			last := spanning.Root
			const entries = 6000
			var total uint64
			for range entries {
				id := dme.NodeID(1 + rng.IntN(n))
				want := uint64(0)
				if id != last {
					want = uint64(distance(shape, id, last) + 1)
				}
				got, err := net.Serve(id)
				if err != nil || got != want {
					t.Fatalf("%s of %d: from %d to %d: %d messages, %v; want %d", tree, n, last, id, got, err, want)
				}
				total += got
				last = id
			}
			mean, want := float64(total)/entries, shape.MeanDistance()+1-1/float64(n)
			if math.Abs(mean-want) > 0.03*want {
				t.Errorf("%s of %d: %v messages on average, want about %v", tree, n, mean, want)
			}
		}
	}
}

func TestAlgorithm(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *node { return n.Host(id).Made().(*node) }
	on := func(nodes, requests int, tree string) suite.Search {
		return suite.Search{Options: check.Options{
			Nodes: nodes, Requests: requests, Set: map[string]string{spanning.OptTree: tree}, Unordered: true,
		}}
	}
	suite.Run(t, suite.Suite{
		Algorithm: Algorithm(),
		Searches:  []suite.Search{on(3, 6, "star"), on(3, 6, "line"), on(4, 5, "star"), on(4, 5, "line"), on(5, 4, "binary")},
		Breaches: []conformance.Breach{
			{
				Invariant: "one token", Nodes: 3, Says: "no node has the token",
				Fault: func(n *conformance.Net) { at(n, 1).holding = false },
			},
			{
				Invariant: "directed edges", Nodes: 3, Says: "LAST is 2 at node 1 and 1 at node 2",
				Fault: func(n *conformance.Net) { at(n, 1).last = 2 },
			},
			{
				Invariant: "directed edges", Nodes: 3, Says: "LAST is 0 at node 1 and 0 at node 3, with 0 REQUESTs",
				Fault: func(n *conformance.Net) { at(n, 3).last = dme.None },
			},
			{
				Invariant: "directed edges", Nodes: 3, Says: "LAST is 0 at node 1 and 2 at node 3",
				Fault: func(n *conformance.Net) { at(n, 3).last = 2 },
			},
			{
				Invariant: "one place in the queue", Nodes: 3, Says: "node 2 is requesting, and has 2 places in the queue",
				Fault: func(n *conformance.Net) { n.Request(2); at(n, 3).follow = 2 },
			},
			{
				Invariant: "one place in the queue", Nodes: 3, Says: "node 3 is idle",
				Fault: func(n *conformance.Net) { at(n, 1).follow = 3 },
			},
		},
		Refusals: []suite.Refusals{
			{
				Start: func() *conformance.Net {
					net := newNet(t, 3, "star")
					net.Request(1)
					return net
				},
				Messages: []suite.Refused{
					{What: "REQUEST of nobody", From: 2, To: 1, Series: []dme.Message{{Kind: kindRequest}}},
					{What: "REQUEST of a node that does not exist", From: 2, To: 1, Series: []dme.Message{{Kind: kindRequest, Node: 4}}},
					{What: "REQUEST of the receiver", From: 2, To: 1, Series: []dme.Message{{Kind: kindRequest, Node: 1}}},
					{What: "REQUEST from a node that is no neighbour", From: 2, To: 3, Series: []dme.Message{{Kind: kindRequest, Node: 2}}},
					{What: "REQUEST against the direction", From: 1, To: 2, Series: []dme.Message{{Kind: kindRequest, Node: 3}}},
					{What: "PRIVILEGE to a node that did not ask", From: 1, To: 3, Series: []dme.Message{{Kind: kindPrivilege}}},
					{What: "PRIVILEGE to a node that has it", From: 2, To: 1, Series: []dme.Message{{Kind: kindPrivilege}}},
				},
			},
		},
	})
}

func TestMutants(t *testing.T) { suite.Mutants(t) }

func TestSchedules(t *testing.T) { suite.Schedules(t, Algorithm()) }
