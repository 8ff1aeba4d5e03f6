package centralized

import (
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/search/check"
	"dmebench/internal/testkit/suite"
)

func newNet(t *testing.T, nodes int) *conformance.Net {
	t.Helper()
	return conformance.Make(t, Algorithm(), nodes, nil)
}

func TestAlgorithm(t *testing.T) {
	holder := func(n *conformance.Net) *server { return n.Host(coordinator).Made().(*server) }
	exhaustive := func(nodes, requests int) suite.Search {
		return suite.Search{Options: check.Options{Nodes: nodes, Requests: requests, Unordered: true}}
	}
	suite.Run(t, suite.Suite{
		Algorithm: Algorithm(),
		Breaches: []conformance.Breach{
			{
				Invariant: "one grant", Nodes: 3, Says: "the resource is granted to node 2, and node 2 has 0 GRANTs and 0 RELEASEs",
				Fault: func(n *conformance.Net) { holder(n).holder = 2 },
			},
			{
				Invariant: "one grant", Nodes: 3, Says: "the resource is granted to node –, and node 2 has 0 GRANTs and 1 RELEASEs",
				Fault: func(n *conformance.Net) { n.Request(2); n.Settle(); n.Release(2); holder(n).holder = 0 },
			},
			{
				Invariant: "one place in line", Nodes: 3, Says: "node 3 waits, granted=false, with 1 REQUESTs on their way and 1 places",
				Fault: func(n *conformance.Net) { n.Request(2); n.Settle(); n.Request(3); holder(n).queue.Push(3) },
			},
			{
				Invariant: "one place in line", Nodes: 3, Says: "node 3 waits, granted=false, with 0 REQUESTs on their way and 0 places",
				Fault: func(n *conformance.Net) { n.Request(2); n.Request(3); n.Settle(); holder(n).queue.Pop() },
			},
			{
				Invariant: "one grant", Nodes: 3, Says: "node 1 has 0 GRANTs and 0 RELEASEs on their way, and is in the critical section",
				Fault: func(n *conformance.Net) { n.Request(1); holder(n).holder = 0 },
			},
		},
		Refusals: []suite.Refusals{{
			Start: func() *conformance.Net {
				net := newNet(t, 4)
				net.Request(2)
				net.Settle()
				net.Request(3)
				net.Deliver(3, 1, 0)
				return net
			},
			Messages: []suite.Refused{
				{What: "GRANT without a request", From: 1, To: 4, Series: []dme.Message{{Kind: kindGrant}}},
				{What: "GRANT from a node without the resource", From: 3, To: 2, Series: []dme.Message{{Kind: kindGrant}}},
				{What: "REQUEST to a node without the resource", From: 3, To: 2, Series: []dme.Message{{Kind: kindRequest}}},
				{What: "GRANT to the node with the resource", From: 2, To: 1, Series: []dme.Message{{Kind: kindGrant}}},
				{What: "RELEASE of what another node has", From: 3, To: 1, Series: []dme.Message{{Kind: kindRelease}}},
				{What: "second REQUEST", From: 3, To: 1, Series: []dme.Message{{Kind: kindRequest}}},
			},
		}},
		Searches: []suite.Search{
			exhaustive(1, 3), exhaustive(2, 6), exhaustive(3, 6), exhaustive(4, 5),
			{Nodes: []int{2, 5, 9}, Options: check.Options{Schedules: 300}},
		},
	})
}

func TestSchedules(t *testing.T) { suite.Schedules(t, Algorithm()) }

func TestMutants(t *testing.T) { suite.Mutants(t) }

func TestThreeMessages(t *testing.T) {
	net := newNet(t, 5)
	for round := range 3 {
		for id := dme.NodeID(1); id <= 5; id++ {
			want := uint64(3)
			if id == 1 {
				want = 0
			}
			if got, err := net.Serve(id); err != nil || got != want {
				t.Errorf("round %d, node %d: %d messages, %v; want %d", round, id, got, err, want)
			}
		}
	}
}
