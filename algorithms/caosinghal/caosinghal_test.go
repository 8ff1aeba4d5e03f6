package caosinghal

import (
	"slices"
	"testing"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/search/check"
	"dmebench/internal/testkit"
	"dmebench/internal/testkit/suite"
)

func newNet(t *testing.T, nodes int, construction string) *conformance.Net {
	t.Helper()
	return conformance.Make(t, Algorithm(), nodes, map[string]string{quorum.OptionQuorum: construction})
}

// A lone request costs three messages for each member but the node itself.
func TestSerialCost(t *testing.T) {
	for _, x := range []struct {
		construction string
		nodes        int
	}{{"plane", 1}, {"plane", 2}, {"plane", 7}, {"plane", 10}, {"grid", 12}, {"tree", 7}, {"hierarchical", 9}, {"singleton", 3}} {
		net := newNet(t, x.nodes, x.construction)
		for id := range dme.NodeID(x.nodes) {
			id++
			others := uint64(0)
			for _, j := range net.Setting.System.(*system).RequestSet(id) {
				others += uint64(dme.Count(j != id))
			}
			if got, err := net.Serve(id); err != nil || got != 3*others {
				t.Errorf("%s of %d, node %d: %d messages, %v; want %d", x.construction, x.nodes, id, got, err, 3*others)
			}
		}
	}
}

// A permission takes one message from an exit to the next entry, where Maekawa's algorithm
// takes two: the node that exits sends it, and not the member.
func TestHandoverIsOneMessage(t *testing.T) {
	net := newNet(t, 3, "singleton") // all ask node 1
	net.Request(2)
	net.Settle()
	net.Request(3)
	net.Settle()
	net.Release(2)
	net.Deliver(2, 3, 0)
	if !slices.Contains(net.Inside(), 3) {
		t.Error("node 3 is not inside after the first message from node 2")
	}
}

func TestAlgorithm(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *node { return n.Host(id).Made().(*node) }
	random := func(schedules, nodes int, construction string) suite.Search {
		if testkit.Long() {
			schedules *= 10
		}
		return suite.Search{Options: check.Options{
			Nodes: nodes, Requests: 4 * nodes, Schedules: schedules, Set: map[string]string{quorum.OptionQuorum: construction},
		}}
	}
	suite.Run(t, suite.Suite{
		Algorithm: Algorithm(),
		Searches: []suite.Search{
			{Options: check.Options{Nodes: 3, Requests: 4}},
			{Options: check.Options{Nodes: 3, Requests: 4, Set: map[string]string{quorum.OptionQuorum: "majority"}}},
			{Options: check.Options{Nodes: 3, Requests: 5, Set: map[string]string{quorum.OptionQuorum: "singleton"}}},
			random(300, 7, "plane"), random(100, 13, "plane"), random(100, 9, "grid"), random(100, 5, "majority"), random(100, 7, "tree"),
		},
		Breaches: []conformance.Breach{
			{
				Invariant: "one permission", Nodes: 3, Says: "the permission of node 1 is in 2 places",
				Fault: func(n *conformance.Net) { x := at(n, 2); x.ready(); x.held.Add(x.MemberIndex(1)) },
				Set:   map[string]string{quorum.OptionQuorum: "singleton"},
			},
			{
				Invariant: "one REQUEST", Nodes: 3, Says: "has 2 places at member 1",
				Fault: func(n *conformance.Net) { n.Request(2); at(n, 1).waiting.Insert(dme.Stamp{Clock: 1, Node: 2}) },
				Set:   map[string]string{quorum.OptionQuorum: "singleton"},
			},
		},
		Refusals: []suite.Refusals{
			{
				// Node 2 is inside, and node 3 waits at node 1.
				Start: func() *conformance.Net {
					net := newNet(t, 3, "singleton")
					net.Request(2)
					net.Settle()
					net.Request(3)
					net.Settle()
					return net
				},
				Messages: []suite.Refused{
					{What: "second REQUEST of the holder", From: 2, To: 1, Series: []dme.Message{{Kind: kindRequest, Clock: 9}}},
					{What: "second REQUEST of a node that waits", From: 3, To: 1, Series: []dme.Message{{Kind: kindRequest, Clock: 9}}},
					{What: "REQUEST to a node that is no member", From: 3, To: 2, Series: []dme.Message{{Kind: kindRequest, Clock: 9}}},
					{What: "no clock", From: 3, To: 1, Series: []dme.Message{{Kind: kindRelease, Num: 1}}},
					{What: "REPLY for another request", From: 1, To: 3,
						Series: []dme.Message{{Kind: kindReply, Clock: 9, Node: 1, Num: 2, Req: dme.Stamp{Clock: 9, Node: 3}}}},
					{What: "REPLY of a node that is no member", From: 2, To: 3,
						Series: []dme.Message{{Kind: kindReply, Clock: 9, Node: 2, Num: 2, Req: dme.Stamp{Clock: 3, Node: 3}}}},
					{What: "YIELD without INQUIRE", From: 2, To: 1, Series: []dme.Message{{Kind: kindYield, Clock: 9, Num: 1}}},
					{What: "RELEASE of a node that waits", From: 3, To: 1, Series: []dme.Message{{Kind: kindRelease, Clock: 9, Num: 1}}},
					{What: "RELEASE of a later permission", From: 2, To: 1, Series: []dme.Message{{Kind: kindRelease, Clock: 9, Num: 3}}},
					{What: "RELEASE to a node that does not wait", From: 2, To: 1,
						Series: []dme.Message{{Kind: kindRelease, Clock: 9, Num: 1, Req: dme.Stamp{Clock: 8, Node: 3}}}},
					{What: "FAIL of a node that is no member", From: 3, To: 2, Series: []dme.Message{{Kind: kindFail, Clock: 9}}},
					{What: "TRANSFER to the receiver", From: 1, To: 2,
						Series: []dme.Message{{Kind: kindTransfer, Clock: 9, Num: 1, Req: dme.Stamp{Clock: 1, Node: 2}}}},
					{What: "TRANSFER of a permission that was not given", From: 1, To: 2,
						Series: []dme.Message{{Kind: kindTransfer, Clock: 9, Num: 2, Req: dme.Stamp{Clock: 3, Node: 3}}}},
				},
			},
		},
	})
}

func TestMutants(t *testing.T) { suite.Mutants(t) }

func TestSchedules(t *testing.T) { suite.Schedules(t, Algorithm()) }
