package carvalhoroucairol

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

func TestConformance(t *testing.T) { conformance.Test(t, Algorithm()) }

func serve(t *testing.T, net *conformance.Net, id dme.NodeID) uint64 {
	t.Helper()
	got, err := net.Serve(id)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func request(number uint64) dme.Message {
	return dme.Message{Kind: kindRequest, Clock: number}
}

func reply(number uint64) dme.Message {
	return dme.Message{Kind: kindReply, Clock: number}
}

func expect(t *testing.T, net *conformance.Net, from, to dme.NodeID, want ...dme.Message) {
	t.Helper()
	got := net.InFlight(from, to)
	same := slices.EqualFunc(got, want, func(a, b dme.Message) bool { return a.Kind == b.Kind && a.Clock == b.Clock })
	if !same {
		t.Fatalf("from node %d to node %d: %+v, want %+v", from, to, got, want)
	}
}

// A lone request costs two messages for each node whose permission is missing:
// those that never gave it, and those that have entered since. The twin knows
// who entered last of each two.
func TestSerialCost(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 2))
	for _, n := range []int{1, 2, 3, 8, 13} {
		net := conformance.Make(t, Algorithm(), n, nil)
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

// Both ends of the range: 0 for a node that asks again, 2(N−1) for one that has
// not asked since all others did.
func TestRange(t *testing.T) {
	const n = 7
	net := conformance.Make(t, Algorithm(), n, nil)
	for i := range n {
		if got := serve(t, net, dme.NodeID(i+1)); got != 2*(n-1) {
			t.Errorf("the first request of node %d: %d messages, want %d", i+1, got, 2*(n-1))
		}
	}
	if got := serve(t, net, n); got != 0 {
		t.Errorf("node %d again: %d messages, want none", n, got)
	}
	if got := serve(t, net, 1); got != 2*(n-1) {
		t.Errorf("node 1 after all others: %d messages, want %d", got, 2*(n-1))
	}
}

// conflict lets node 2 wait for node 3 with the permission of node 1 in hand,
// when node 1 asks with priority.
func conflict(t *testing.T) *conformance.Net {
	net := conformance.Make(t, Algorithm(), 3, nil)
	serve(t, net, 2)
	serve(t, net, 3)
	net.Request(1)
	net.Request(2)
	expect(t, net, 1, 2, request(3))
	expect(t, net, 2, 3, request(3))
	expect(t, net, 2, 1) // it has that permission
	net.Deliver(1, 2, 0)
	return net
}

// Step 3: a permission given up while requesting is asked for again, with the
// number that the request has had all along.
func TestPermissionGivenUpIsAskedForAgain(t *testing.T) {
	net := conflict(t)
	expect(t, net, 2, 1, reply(3), request(3))
	net.Settle()
	if !slices.Equal(net.Inside(), []dme.NodeID{1}) {
		t.Fatalf("%v inside, want node 1", net.Inside())
	}
	net.Release(1)
	net.Settle()
	if !slices.Equal(net.Inside(), []dme.NodeID{2}) {
		t.Errorf("%v inside, want node 2; %v", net.Inside(), net.Err())
	}
}

// The second REQUEST may overtake the REPLY: node 1 has priority and defers it.
func TestRequestOvertakesReply(t *testing.T) {
	net := conflict(t)
	net.Deliver(2, 1, 1)
	expect(t, net, 1, 2) // deferred
	net.Settle()
	net.Release(1)
	expect(t, net, 1, 2, reply(3))
	net.Settle()
	if !slices.Equal(net.Inside(), []dme.NodeID{2}) || net.Refused() != 0 {
		t.Errorf("%v inside, want node 2; %d refused, %v", net.Inside(), net.Refused(), net.Err())
	}
}

// Clocks meet only where messages flow: node 2 enters with 1, 2 and 3, and then
// node 1, which has heard of the first alone, with 2.
func TestEntriesAreNotInTimestampOrder(t *testing.T) {
	net := conformance.Make(t, Algorithm(), 2, nil)
	for _, id := range []dme.NodeID{2, 2, 2, 1} {
		serve(t, net, id)
	}
	var got []dme.Stamp
	for _, e := range net.Entries {
		got = append(got, e.Stamp)
	}
	want := []dme.Stamp{{Clock: 1, Node: 2}, {Clock: 2, Node: 2}, {Clock: 3, Node: 2}, {Clock: 2, Node: 1}}
	if !slices.Equal(got, want) {
		t.Errorf("entries %v, want %v", got, want)
	}
}

func TestRefusals(t *testing.T) {
	start := func() *conformance.Net {
		net := conformance.Make(t, Algorithm(), 3, nil)
		for _, id := range []dme.NodeID{1, 2, 3} {
			serve(t, net, id)
		}
		n := net.Host(1).Node().(*node)
		n.highestSequenceNumber = 1
		net.Request(1) // with number 2
		return net
	}
	conformance.TestRefusals(t, 2, 1, start, map[string][]dme.Message{
		"REQUEST without a number":    {request(0)},
		"REQUEST twice":               {request(9), request(9)},
		"REPLY to an earlier request": {reply(1)},
		"REPLY to a request not made": {reply(3)},
		"REPLY twice":                 {reply(2), reply(2)},
	})
	net := conformance.Make(t, Algorithm(), 3, nil)
	m := reply(0)
	net.Host(1).Receive(2, &m)
	if net.Refused() != 1 {
		t.Error("REPLY without any request: not refused")
	}
}

func TestState(t *testing.T) {
	net := conflict(t)
	net.Deliver(2, 1, 1)
	const want = "Our_Sequence_Number=3 Highest_Sequence_Number=3 Requesting=true Executing=false Lacking={2,3} Reply_Deferred=[(3,2)]"
	if got := dme.DescribeState(net.Host(1).Node()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// cycle is what one entry costs node 1 when all others ask every time.
func cycle(n *node, nodes dme.NodeID, out *dme.Outbox) {
	n.Request(out)
	number := n.ourSequenceNumber
	for j := dme.NodeID(2); j <= nodes; j++ {
		out.Reset()
		n.Receive(j, reply(number), out)
	}
	for j := nodes; j >= 2; j-- {
		out.Reset()
		n.Receive(j, request(number+1), out)
	}
	out.Reset()
	n.Release(out)
	out.Reset()
}

func TestNoAllocationPerEvent(t *testing.T) {
	n := newNode(64, 1).(*node)
	var out dme.Outbox
	cycle(n, 64, &out) // the lists grow to their length
	if got := testing.AllocsPerRun(100, func() { cycle(n, 64, &out) }); got != 0 {
		t.Errorf("%v allocations per entry", got)
	}
}

// TestMutantsAreCaught shows that TestConformance can fail: it must, for every
// rule taken out.
func TestMutantsAreCaught(t *testing.T) {
	const file = "carvalhoroucairol.go"
	conformance.TestMutants(t, "^TestConformance$",
		conformance.Mutant{Name: "step 2: executing defers", File: file, Old: "if n.executing || ", New: "if ", Caught: conformance.Unsafe},
		conformance.Mutant{Name: "step 3: asking again", File: file, Caught: "one answer: ",
			Old: "if n.requesting && had {", New: "if false && had {"},
		conformance.Mutant{Name: "step 3: a permission given is lost", File: file, Caught: "one permission: ",
			Old: "\tn.lacking.Add(r.Node)\n", New: ""},
	)
}

// The invariants can be broken: each of these states breaks one.
func TestInvariants(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *node { return n.Host(id).Made().(*node) }
	conformance.TestInvariants(t, Algorithm(),
		conformance.Breach{
			Invariant: "one permission", Nodes: 3, Says: "nodes 1 and 3 have each other's permission, counting 0 REPLYs",
			Fault: func(n *conformance.Net) { at(n, 1).lacking.Remove(3); at(n, 3).lacking.Remove(1) },
		},
		conformance.Breach{
			Invariant: "one permission", Nodes: 3, Says: "nodes 1 and 2 have each other's permission, counting 1 REPLYs",
			Fault: func(n *conformance.Net) { n.Request(2); n.Deliver(2, 1, 0); at(n, 1).lacking.Remove(2) },
		},
		conformance.Breach{
			Invariant: "one answer", Nodes: 3, Says: "node 2 awaits 0 REPLYs of node 1, which has deferred 0, with 1 REQUESTs",
			Fault: func(n *conformance.Net) { n.Request(2); at(n, 2).lacking.Remove(1) },
		},
		conformance.Breach{
			Invariant: "one answer", Nodes: 3, Says: "node 2 awaits 0 REPLYs of node 1, which has deferred 1",
			Fault: func(n *conformance.Net) { at(n, 1).replyDeferred.Add(dme.Stamp{Clock: 1, Node: 2}) },
		},
	)
}
