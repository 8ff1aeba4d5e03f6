package naimitrehel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"dmebench/dme"
	"dmebench/dme/collections"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
	"dmebench/internal/testkit/suite"
)

func newNet(t *testing.T, nodes int) *conformance.Net {
	t.Helper()
	return conformance.Make(t, Algorithm(), nodes, nil)
}

// twin is the tree at rest: a request reverses its path to the root and costs a
// message for each of its edges, and one more for the token.
type twin []dme.NodeID // father, at the node's number; none at the root

func newTwin(n int) twin {
	w := make(twin, n+1)
	for i := 2; i <= n; i++ {
		w[i] = elected
	}
	return w
}

func (w twin) serve(id dme.NodeID) (messages uint64) {
	for j := w[id]; j != dme.None; messages++ {
		w[j], j = id, w[j]
	}
	w[id] = dme.None
	if messages > 0 {
		messages++
	}
	return messages
}

// A lone request, one by one; and on average H_{N−1} messages.
func TestSerialCost(t *testing.T) {
	rng := rand.New(rand.NewPCG(1987, 7))
	for _, n := range []int{1, 2, 3, 8, 32} {
		net, w := newNet(t, n), newTwin(n)
		var total uint64
		const entries = 8000
		for now := range 8*n + entries {
			id := dme.NodeID(1 + rng.IntN(n))
			want := w.serve(id)
			got, err := net.Serve(id)
			if err != nil || got != want {
				t.Fatalf("N=%d, entry %d: %d messages, %v; want %d", n, now, got, err, want)
			}
			if now >= 8*n {
				total += got
			}
		}
		mean, want := float64(total)/entries, harmonic(n-1)
		if math.Abs(mean-want) > 0.03*want {
			t.Errorf("N=%d: %v messages on average, want about %v", n, mean, want)
		}
	}
}

// On links without order, a REQUEST visits each node but its origin at most
// once: so N messages for an entry, with the token, are the most.
func TestRequestVisitsANodeOnce(t *testing.T) {
	const n, requests = 6, 4
	longest := 0
	for seed := range uint64(300) {
		visits := make([]collections.NodeSet, n+1) // of each node's pending REQUEST
		for i := range visits {
			visits[i] = collections.MakeNodeSet(n)
		}
		look := func(_ *conformance.Net, e *vnet.Event) error {
			switch origin := e.Msg.Node; {
			case e.Step.Kind == dme.Request:
				visits[e.Node].Clear()
			case e.Step.Kind != dme.Receive || e.Msg.Kind != kindRequest:
			case origin == e.Node || visits[origin].Has(e.Node):
				return fmt.Errorf("node %d's REQUEST comes to node %d again", origin, e.Node)
			default:
				visits[origin].Add(e.Node)
				longest = max(longest, visits[origin].Len())
			}
			return nil
		}
		w := conformance.Walk{
			Algorithm: Algorithm(), Nodes: n, Requests: conformance.Each(requests), Load: vnet.Churn, Reorder: true, Seed: seed, Look: look,
		}
		if _, err := w.Run(); err != nil {
			t.Fatal(err)
		}
	}
	if longest != n-1 {
		t.Errorf("the longest way of a REQUEST was %d, never the %d that it can be", longest, n-1)
	}
}

func TestAlgorithm(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *node { return n.Host(id).Made().(*node) }
	suite.Run(t, suite.Suite{
		Algorithm: Algorithm(),
		Breaches: []conformance.Breach{
			{
				Invariant: "one token", Nodes: 3, Says: "no node has the token",
				Fault: func(n *conformance.Net) { at(n, 1).tokenPresent = false },
			},
			{
				Invariant: "father trees", Nodes: 3, Says: "they lead from node 2 to no root",
				Fault: func(n *conformance.Net) { at(n, 2).father, at(n, 3).father = 3, 2 },
			},
			{
				Invariant: "father trees", Nodes: 3, Says: "there are 2 roots, and 0 REQUESTs",
				Fault: func(n *conformance.Net) { at(n, 3).father = dme.None },
			},
			{
				Invariant: "one place in the queue", Nodes: 3, Says: "node 2 is requesting: 1 REQUESTs for it and 0 TOKENs to it are on their way, " +
					"and it is the next of 1 nodes",
				Fault: func(n *conformance.Net) { n.Request(2); at(n, 3).next = 2 },
			},
			{
				Invariant: "one place in the queue", Nodes: 3, Says: "node 3 is idle",
				Fault: func(n *conformance.Net) { at(n, 1).next = 3 },
			},
		},
		Refusals: []suite.Refusals{
			{
				Start: func() *conformance.Net {
					net := newNet(t, 3)
					net.Request(1)
					return net
				},
				Messages: []suite.Refused{
					{What: "REQUEST of nobody", From: 2, To: 1, Series: []dme.Message{{Kind: kindRequest}}},
					{What: "REQUEST of a node that does not exist", From: 2, To: 1, Series: []dme.Message{{Kind: kindRequest, Node: 4}}},
					{What: "REQUEST of the receiver", From: 2, To: 1, Series: []dme.Message{{Kind: kindRequest, Node: 1}}},
					{What: "REQUEST of the node that asked last", From: 2, To: 3, Series: []dme.Message{{Kind: kindRequest, Node: 1}}},
					{What: "TOKEN to a node that did not ask", From: 2, To: 3, Series: []dme.Message{{Kind: kindToken}}},
					{What: "TOKEN to a node that has it", From: 2, To: 1, Series: []dme.Message{{Kind: kindToken}}},
				},
			},
		},
	})
}

func TestSchedules(t *testing.T) { suite.Schedules(t, Algorithm()) }
