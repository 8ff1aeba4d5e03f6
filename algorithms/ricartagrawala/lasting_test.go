package ricartagrawala

import (
	"math"
	"math/rand/v2"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/testkit/suite"
)

func serve(t *testing.T, net *conformance.Net, id dme.NodeID) uint64 {
	t.Helper()
	got, err := net.Serve(id)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// A lone request costs two messages for each node whose permission is missing:
// those that never gave it, and those that have entered since. The twin knows
// who entered last of each two.
func TestLastingSerialCost(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 2))
	for _, n := range []int{1, 2, 3, 8, 13} {
		net := conformance.Make(t, CarvalhoRoucairol(), n, nil)
		last := make([]int, n+1) // when each node entered last, 0 where never
		var total uint64
		const warm, entries = 200, 4000
		for now := 1; now <= entries; now++ {
			id := dme.NodeID(1 + rng.IntN(n))
			var want uint64
			for j := 1; j <= n; j++ {
				if j != int(id) && (last[id] == 0 || last[j] > last[id]) {
					want += 2
				}
			}
			got := serve(t, net, id)
			if got != want {
				t.Fatalf("N=%d, entry %d: %d messages, want %d", n, now, got, want)
			}
			last[id] = now
			if now > warm {
				total += got
			}
		}
		// The mean that the claim gives.
		if mean := float64(total) / (entries - warm); math.Abs(mean-float64(n-1)) > 0.05*float64(n) {
			t.Errorf("N=%d: %v messages on average, want about %d", n, mean, n-1)
		}
	}
}

// lasting says of permissions that last what [suite.Run] tests.
func lasting(t *testing.T) suite.Suite {
	at := func(n *conformance.Net, id dme.NodeID) *lastingNode { return n.Host(id).Made().(*lastingNode) }
	request := func(number uint64) dme.Message { return dme.Message{Kind: kindRequest, Clock: number} }
	reply := func(number uint64) dme.Message { return dme.Message{Kind: kindReply, Clock: number} }
	start := func() *conformance.Net {
		net := conformance.Make(t, CarvalhoRoucairol(), 3, nil)
		for _, id := range []dme.NodeID{1, 2, 3} {
			serve(t, net, id)
		}
		net.Host(1).Node().(*lastingNode).highestSequenceNumber = 1
		net.Request(1) // with number 2
		return net
	}
	return suite.Suite{
		Algorithm: CarvalhoRoucairol(), AllocatesNothing: true,
		Breaches: []conformance.Breach{
			{
				Invariant: "one permission", Nodes: 3, Says: "nodes 1 and 3 have each other's permission, counting 0 REPLYs",
				Fault: func(n *conformance.Net) { at(n, 1).lacking.Remove(3); at(n, 3).lacking.Remove(1) },
			},
			{
				Invariant: "one permission", Nodes: 3, Says: "nodes 1 and 2 have each other's permission, counting 1 REPLYs",
				Fault: func(n *conformance.Net) { n.Request(2); n.Deliver(2, 1, 0); at(n, 1).lacking.Remove(2) },
			},
			{
				Invariant: "one answer", Nodes: 3, Says: "node 2 awaits 0 REPLYs of node 1, which has deferred 0, with 1 REQUESTs",
				Fault: func(n *conformance.Net) { n.Request(2); at(n, 2).lacking.Remove(1) },
			},
			{
				Invariant: "one answer", Nodes: 3, Says: "node 2 awaits 0 REPLYs of node 1, which has deferred 1",
				Fault: func(n *conformance.Net) { at(n, 1).replyDeferred.Add(dme.Stamp{Clock: 1, Node: 2}) },
			},
		},
		Refusals: []suite.Refusals{
			{
				Start: start,
				From:  2, To: 1,
				Messages: []suite.Refused{
					{What: "REQUEST without a number", Series: []dme.Message{request(0)}},
					{What: "REQUEST twice", Series: []dme.Message{request(9), request(9)}},
					{What: "REPLY to an earlier request", Series: []dme.Message{reply(1)}},
					{What: "REPLY to a request not made", Series: []dme.Message{reply(3)}},
					{What: "REPLY twice", Series: []dme.Message{reply(2), reply(2)}},
				},
			},
			{
				Start:    func() *conformance.Net { return conformance.Make(t, CarvalhoRoucairol(), 3, nil) },
				Messages: []suite.Refused{{What: "REPLY without a request", From: 2, To: 1, Series: []dme.Message{reply(0)}}},
			},
		},
	}
}
