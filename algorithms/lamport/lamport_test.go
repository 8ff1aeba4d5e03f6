package lamport

import (
	"fmt"
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
	"dmebench/internal/testkit/suite"
)

func both() []*dme.Algorithm { return []*dme.Algorithm{Algorithm(), Optimized()} }

func at(net *conformance.Net, i dme.NodeID) *site { return net.Host(i).Node().(*site) }

// sent returns the number of messages of a kind that site i has sent.
func sent(net *conformance.Net, i dme.NodeID, k dme.Kind) uint64 {
	return net.Host(i).Counts().SentOf[k]
}

// Section 9.3, performance: N−1 of each kind for a site that asks alone, with
// and without the optimization.
func TestSerialCost(t *testing.T) {
	for _, a := range both() {
		for _, n := range []int{1, 2, 3, 8, 13} {
			net := conformance.Make(t, a, n, nil)
			for k := range 5 * n {
				id := dme.NodeID(k*k%n + 1)
				if got, err := net.Serve(id); err != nil || got != uint64(3*(n-1)) {
					t.Fatalf("%s, N=%d: %d messages, %v; want %d", a.Name, n, got, err, 3*(n-1))
				}
			}
			for _, k := range []dme.Kind{kindRequest, kindReply, kindRelease} {
				if got, want := net.SentOf(k), uint64(5*n*(n-1)); got != want {
					t.Errorf("%s, N=%d: %d of kind %s, want %d", a.Name, n, got, a.KindName(k), want)
				}
			}
		}
	}
}

// Section 9.3, an optimization: when all requests cross, S_i gets a REPLY from
// each site whose request precedes its own, and from no other. The first one
// costs 2(N−1) messages, the last one 3(N−1), all together 5N(N−1)/2.
func TestBurstCost(t *testing.T) {
	for _, n := range []int{2, 3, 8} {
		for _, a := range both() {
			net := conformance.Make(t, a, n, nil)
			for i := range n {
				net.Request(dme.NodeID(i + 1))
			}
			net.Settle()
			for i := range n {
				id := dme.NodeID(i + 1)
				want := n - 1
				if a.Name == Optimized().Name {
					want = n - 1 - i // the sites whose requests follow id's
				}
				if got := sent(net, id, kindReply); got != uint64(want) {
					t.Errorf("%s, N=%d: S_%d replied %d times, want %d", a.Name, n, id, got, want)
				}
				if !slices.Equal(net.Inside(), []dme.NodeID{id}) {
					t.Fatalf("%s, N=%d: %v execute, want S_%d", a.Name, n, net.Inside(), id)
				}
				net.Release(id)
				net.Settle()
			}
			want := uint64(3 * n * (n - 1))
			if a.Name == Optimized().Name {
				want = uint64(5 * n * (n - 1) / 2)
			}
			if err := net.Err(); err != nil || net.Sent() != want {
				t.Errorf("%s, N=%d: %d messages, want %d; %v", a.Name, n, net.Sent(), want, err)
			}
		}
	}
}

// BenchmarkHandlers measures the handlers alone, per message received.
func BenchmarkHandlers(b *testing.B) { suite.Benchmark(b, Algorithm()) }

func TestAlgorithm(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *site { return n.Host(id).Made().(*site) }
	request := dme.Message{Kind: kindRequest, Clock: 9}
	start := func() *conformance.Net { return conformance.Make(t, Algorithm(), 3, nil) }
	say := func(a *dme.Algorithm) suite.Suite {
		return suite.Suite{
			Algorithm: a, AllocatesNothing: true,
			Breaches: []conformance.Breach{
				{
					Invariant: "request queues", Nodes: 3, Says: "the request of node 2 is (1,2), and the queue of node 3 holds []",
					Fault: func(n *conformance.Net) { n.Request(2); n.Deliver(2, 3, 0); at(n, 3).requestQueue.Remove(2) },
				},
				{
					Invariant: "request queues", Nodes: 3, Says: "the request of node 2 is none, and the queue of node 3 holds [(1,2)]",
					Fault: func(n *conformance.Net) { at(n, 3).requestQueue.Insert(dme.Stamp{Clock: 1, Node: 2}) },
				},
				{
					Invariant: "nothing earlier on its way", Nodes: 3, Says: "node 2, whose request is (1,2), awaits nothing of node 1 any more, " +
						"and the REQUEST (1,1)",
					Fault: func(n *conformance.Net) { n.Request(1); n.Request(2); at(n, 2).awaiting.Remove(1) },
				},
			},
			Refusals: []suite.Refusals{
				{
					Start: start,
					From:  2, To: 1,
					Messages: []suite.Refused{
						{What: "REQUEST without a timestamp", Series: []dme.Message{{Kind: kindRequest}}},
						{What: "REPLY without a timestamp", Series: []dme.Message{{Kind: kindReply}}},
						{What: "REQUEST twice", Series: []dme.Message{request, request}},
						{What: "RELEASE without REQUEST", Series: []dme.Message{{Kind: kindRelease, Clock: 9}}},
						{What: "RELEASE twice", Series: []dme.Message{request, {Kind: kindRelease, Clock: 10}, {Kind: kindRelease, Clock: 11}}},
					},
				},
			},
		}
	}
	suite.Run(t, say(Algorithm()), say(Optimized()))
}

func TestSchedules(t *testing.T) { suite.Schedules(t, both()...) }

func TestMutants(t *testing.T) { suite.Mutants(t) }

// Exercise 9.3, second half: when no message is on its way, the executing
// site's request is at the top of every queue. Exercise 9.7: entries are in the
// order of timestamps.
func TestExercises93And97(t *testing.T) {
	for _, a := range both() {
		silent := 0
		look := func(net *conformance.Net, _ *vnet.Event) error {
			if k := len(net.Entries) - 1; k > 0 && net.Entries[k].Stamp.Precedes(net.Entries[k-1].Stamp) {
				return fmt.Errorf("%v entered after %v", net.Entries[k].Stamp, net.Entries[k-1].Stamp)
			}
			if len(net.Flying()) > 0 || len(net.Inside()) == 0 {
				return nil
			}
			silent++
			i := net.Inside()[0]
			for j := dme.NodeID(1); j <= 4; j++ {
				if top := at(net, j).requestQueue[0]; top.Node != i {
					return fmt.Errorf("S_%d executes, nothing is on its way, and the top of S_%d's queue is %v", i, j, top)
				}
			}
			return nil
		}
		for seed := range uint64(200) {
			w := conformance.Walk{Algorithm: a, Nodes: 4, Requests: conformance.Each(3), Load: vnet.Churn, Seed: seed, Look: look}
			if _, err := w.Run(); err != nil {
				t.Fatal(err)
			}
		}
		if silent == 0 {
			t.Errorf("%s: a site never executed while no message was on its way", a.Name)
		}
	}
}

// Section 9.3: "communication channels deliver messages in FIFO order". Where a
// REPLY overtakes the REQUEST that was sent before it, L1 concludes too much.
func TestReplyThatOvertakesRequest(t *testing.T) {
	net := conformance.Make(t, Algorithm(), 2, nil)
	net.Request(1)
	net.Request(2)
	net.Deliver(2, 1, 0) // S_2's REQUEST is the larger: S_1 enters, and replies behind its own REQUEST
	if !slices.Equal(net.Inside(), []dme.NodeID{1}) {
		t.Fatalf("%v execute, want S_1", net.Inside())
	}
	net.Deliver(1, 2, 1) // the REPLY, to S_2, which has not heard of S_1's request
	if err := net.Err(); err == nil || len(net.Inside()) != 2 {
		t.Errorf("%v execute, want both; %v", net.Inside(), err)
	}
}

// While site 1 executes, the queues of the others are counted that have no request or
// another one at the top, and in silence only what is seen with no message on its way.
func TestQueuesWithAnotherRequestAtTheTop(t *testing.T) {
	for _, g := range gauges() {
		if g.Quantity != NotAtTop.ID && g.Quantity != NotAtTopInSilence.ID {
			continue
		}
		m := g.Begin(dme.Setting{Nodes: 3})
		note := func(id dme.NodeID, executing bool, onTheWay int, top ...dme.Stamp) {
			m.Note(&dme.Event{ID: id, OnTheWay: onTheWay, Node: &site{executing: executing, requestQueue: top}})
		}
		first, second := dme.Stamp{Clock: 1, Node: 1}, dme.Stamp{Clock: 1, Node: 2}
		note(2, false, 1, second, first)
		if x, ok := m.Value(); ok {
			t.Errorf("%s: %v, and nobody executes", g.Quantity, x)
		}
		note(1, true, 1, first)          // site 2 has its own at the top, site 3 nothing
		note(2, false, 1, first, second) // site 3 alone
		note(3, false, 0, second)
		want := 2.0
		if g.Quantity == NotAtTopInSilence.ID {
			want = 1
		}
		if x, ok := m.Value(); x != want || !ok {
			t.Errorf("%s: %v, %v; want %v", g.Quantity, x, ok, want)
		}
		if g.Begin(dme.Setting{Nodes: mostFollowed + 1}) != nil || g.Begin(dme.Setting{Nodes: mostFollowed}) == nil {
			t.Errorf("%s is followed on other numbers of sites than up to %d", g.Quantity, mostFollowed)
		}
	}
}
