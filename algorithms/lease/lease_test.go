package lease

import (
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/search/check"
	"dmebench/internal/testkit"
	"dmebench/internal/testkit/suite"
)

func of(n *conformance.Net, id dme.NodeID) *node { return n.Host(id).Made().(*node) }

// begin returns a network of three in which node 1 is inside and node 2 waits.
func begin(t *testing.T) *conformance.Net {
	t.Helper()
	n := conformance.Make(t, Algorithm(), 3, nil)
	n.Request(1)
	n.Settle()
	n.Request(2)
	n.Settle()
	return n
}

func TestAlgorithm(t *testing.T) {
	request := func(node dme.NodeID, clock uint64) dme.Stamp { return dme.Stamp{Clock: clock, Node: node} }
	message := func(kind dme.Kind, clock uint64, of dme.Stamp, token uint64) []dme.Message {
		return []dme.Message{{Kind: kind, Clock: clock, Req: of, Num: token}}
	}
	schedules := 100
	if testkit.Long() {
		schedules = 300
	}
	suite.Run(t, suite.Suite{
		Algorithm:        Algorithm(),
		AllocatesNothing: true,
		Breaches: []conformance.Breach{
			{
				Invariant: "distinct fencing tokens", Nodes: 3, Says: "nodes 1 and 2 are inside with one fencing token, 2",
				Fault: func(n *conformance.Net) {
					n.Request(1)
					n.Settle()
					for id := dme.NodeID(1); int(id) <= n.Setting.Nodes; id++ {
						of(n, id).holder, of(n, id).nextToken = dme.Stamp{}, 2
					}
					n.Request(2)
					n.Settle()
					of(n, 1).token = 2
				},
			},
			{
				Invariant: "confirmed by a majority", Nodes: 5, Says: "node 1 is inside with token 1, which 3 of 5 nodes have not seen",
				Fault: func(n *conformance.Net) {
					n.Request(1)
					n.Settle()
					for id := dme.NodeID(1); int(id) <= n.Setting.Nodes; id++ {
						if id > 2 {
							of(n, id).nextToken = 1
						}
					}
				},
			},
		},
		Refusals: []suite.Refusals{{
			Start: func() *conformance.Net { return begin(t) }, From: 2, To: 1,
			Messages: []suite.Refused{
				{What: "a GRANT to another", Series: message(kindGrant, 9, request(2, 2), 1), Says: "no request of this node"},
				{What: "a REQUEST of another", Series: message(kindRequest, 9, request(3, 9), 0), Says: "no request of this node"},
				{What: "a GRANT without a token", Series: message(kindGrant, 9, request(1, 1), 0), Says: "token"},
				{What: "a CONFIRM without a token", Series: message(kindConfirm, 9, request(2, 2), 0), Says: "token"},
				{What: "a RECALL with a token", Series: message(kindRecall, 9, request(1, 1), 1), Says: "token"},
				{What: "a token that cannot be", Series: message(kindConfirm, 9, request(2, 2), 1<<63), Says: "token"},
				{What: "a GRANT of what was not asked", Series: message(kindGrant, 99, request(1, 98), 1), Says: "not made"},
				{What: "a request after its message", Series: message(kindRequest, 3, request(2, 4), 0), Says: "no request"},
				{What: "no clock", Series: message(kindRequest, 0, request(2, 4), 0), Says: "clock"},
				{What: "no such kind", Series: message(kindRelease+1, 9, request(2, 4), 0), Says: "no such kind"},
			},
		}},
		Searches: []suite.Search{
			{Options: check.Options{Nodes: 2, Requests: 4}},
			{Options: check.Options{Nodes: 2, Requests: 3, Faults: 1}},
			{Nodes: []int{3, 5, 9}, Options: check.Options{Schedules: schedules}},
		},
	})
}

func TestSchedules(t *testing.T) { suite.Schedules(t, Algorithm()) }

func TestMutants(t *testing.T) { suite.Mutants(t) }

// Without tokens a node that stays inside for longer than its lease is overtaken, and
// nothing tells the two apart.
func TestWithoutFencing(t *testing.T) {
	o := check.Defaults(Algorithm(), 2, map[string]string{optFencing: "false"})
	r, err := check.Exhaustive(t.Context(), Algorithm(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Err(); err == nil {
		t.Error("two nodes are never inside")
	}
}

// A message for each other node asks, grants and gives back; a round trip to each other
// member of a majority confirms.
func TestMessages(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 13} {
		net := conformance.Make(t, Algorithm(), n, nil)
		for id := dme.NodeID(1); int(id) <= n; id++ {
			before := net.Sent()
			net.Request(id)
			net.Settle()
			in := slices.Clone(net.Inside())
			net.Release(id)
			net.Settle()
			if got := net.Sent() - before; !slices.Equal(in, []dme.NodeID{id}) || got != uint64(3*(n-1)+2*(n/2)) || net.Err() != nil {
				t.Errorf("N=%d, node %d: %d messages, %v inside, %v", n, id, got, in, net.Err())
			}
		}
	}
}

// A majority is enough, and less is not.
func TestFailedNodes(t *testing.T) {
	for _, n := range []int{2, 3, 4, 5} {
		for mask := range 1 << n {
			var down []dme.NodeID
			asks := dme.None
			for id := dme.NodeID(1); int(id) <= n; id++ {
				if mask>>(id-1)&1 == 1 {
					down = append(down, id)
				} else if asks == dme.None {
					asks = id
				}
			}
			if asks == dme.None {
				continue
			}
			net := conformance.Make(t, Algorithm(), n, nil)
			for _, id := range down {
				net.Crash(id)
			}
			net.Request(asks)
			net.Settle()
			want := 2*(n-len(down)) > n
			if in := len(net.Inside()) == 1; in != want || want != net.Algorithm.Survives(net.Setting, down) {
				t.Errorf("N=%d, %v down: node %d is in: %v", n, down, asks, in)
			}
		}
	}
}

func TestOptions(t *testing.T) {
	for _, x := range []struct{ option, good, bad string }{
		{optBound, "5ms", "0s"}, {optLease, "1h", "61m"}, {optDrift, "0", "-1"}, {optDrift, "1000000", "1000001"}, {optFencing, "false", "no"},
	} {
		if _, err := Algorithm().New(3, 1, map[string]string{x.option: x.good}); err != nil {
			t.Error(err)
		}
		if _, err := Algorithm().New(3, 1, map[string]string{x.option: x.bad}); err == nil {
			t.Errorf("%s=%s is accepted", x.option, x.bad)
		}
	}
}

func BenchmarkHandlers(b *testing.B) { suite.Benchmark(b, Algorithm()) }
