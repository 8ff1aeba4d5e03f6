package tokenring

import (
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/conformance"
	"dmebench/internal/search/check"
	"dmebench/internal/testkit/suite"
)

func newNet(t *testing.T, nodes int, mode string) *conformance.Net {
	t.Helper()
	return conformance.Make(t, Algorithm(), nodes, map[string]string{optMode: mode})
}

// With the token d hops behind the requester: d REQUESTs and d TOKENs.
func TestDemandSerialCost(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8} {
		net := newNet(t, n, "demand")
		total := uint64(0)
		for from := range n {
			for to := range n {
				if _, err := net.Serve(dme.NodeID(from + 1)); err != nil {
					t.Fatal(err)
				}
				got, err := net.Serve(dme.NodeID(to + 1))
				if want := uint64(2 * ((to - from + n) % n)); err != nil || got != want {
					t.Errorf("N=%d: from %d to %d: %d messages, %v; want %d", n, from+1, to+1, got, err, want)
				}
				total += got
			}
		}
		// Over all pairs, N−1 each.
		if want := uint64(n * n * (n - 1)); total != want {
			t.Errorf("N=%d: %d messages in all, want %d", n, total, want)
		}
	}
}

// A REQUEST stops at a site that has asked already: a burst costs one REQUEST
// and one TOKEN for each hop.
func TestDemandBurstCost(t *testing.T) {
	const n = 6
	net := newNet(t, n, "demand")
	for id := dme.NodeID(1); id <= n; id++ {
		net.Request(id)
	}
	for range n {
		net.Settle()
		net.Release(net.Inside()[0])
	}
	net.Settle()
	if got := net.Sent(); got != 2*(n-1) {
		t.Errorf("%d messages, want %d; %v", got, 2*(n-1), net.Err())
	}
}

// Under saturation every hop of a perpetual token leads to an entry.
func TestPerpetualSaturated(t *testing.T) {
	const n = 5
	net := newNet(t, n, "perpetual") // the token leaves node 1
	for id := dme.NodeID(1); id <= n; id++ {
		net.Request(id)
	}
	for k := range 4 * n {
		net.DeliverOldest()
		want := dme.NodeID((k+1)%n + 1)
		if in := net.Inside(); len(in) != 1 || in[0] != want {
			t.Fatalf("hop %d: %v inside, want node %d", k, in, want)
		}
		net.Release(want)
		net.Request(want)
	}
}

// The token circulates while anybody may still ask, and rests when nobody will.
func TestPerpetualStops(t *testing.T) {
	const n = 4
	net := newNet(t, n, "perpetual")
	hops := func(k int) (moved int) {
		for range k {
			if !net.DeliverOldest() {
				break
			}
			moved++
		}
		return moved
	}
	if hops(10*n) != 10*n {
		t.Fatal("the token came to rest before Stop")
	}
	for _, id := range []dme.NodeID{3, 1, 2} {
		net.Host(id).Stop()
		if hops(3*n) != 3*n {
			t.Fatalf("the token came to rest before everybody was told to stop")
		}
	}
	net.Request(4)
	net.Host(4).Stop() // while its request is pending
	hops(2 * n)
	if in := net.Inside(); len(in) != 1 || in[0] != 4 {
		t.Fatalf("%v inside, want node 4", in)
	}
	net.Release(4)
	if moved := hops(10 * n); moved == 10*n || moved > n {
		t.Errorf("the token moves %d hops after the last exit, want at most %d", moved, n)
	}
	if err := net.Err(); err != nil {
		t.Error(err)
	}
}

// A stepped workload waits for silence, which mode=demand alone knows.
func TestPerpetual(t *testing.T) {
	a := Algorithm()
	stepped, err := a.Resolve(a.Stepped)
	if err != nil || a.Perpetual(stepped) {
		t.Errorf("for a stepped workload %v, %v", stepped, err)
	}
	plain, err := a.Resolve(nil)
	if err != nil || !a.Perpetual(plain) {
		t.Errorf("by default %v, %v", plain, err)
	}
}

// What is predicted from times is predicted for one mode, for two sites and more, and
// where messages take time.
func TestWhereTimesPredict(t *testing.T) {
	c := claim.Claim{Formula: "N + T + E", Applies: inMode("demand")}
	for _, x := range []struct {
		nodes int
		t     time.Duration
		mode  string
		want  bool
	}{
		{2, time.Second, "demand", true}, {2, time.Second, "perpetual", false}, {1, time.Second, "demand", false}, {2, 0, "demand", false},
	} {
		s := dme.Setting{Nodes: x.nodes, T: x.t, E: 2 * time.Second, Options: dme.Options{optMode: x.mode}}
		if got, ok := c.Prediction(s); ok != x.want || ok && got != 5 {
			t.Errorf("%+v: %v, %v", x, got, ok)
		}
	}
}

func TestAlgorithm(t *testing.T) {
	onDemand := map[string]string{optMode: "demand"}
	at := func(n *conformance.Net, id dme.NodeID) *demand { return n.Host(id).Made().(*demand) }
	in := func(mode string) map[string]string { return map[string]string{optMode: mode} }
	exhaustive := func(nodes, requests int, mode string) suite.Search {
		return suite.Search{Options: check.Options{Nodes: nodes, Requests: requests, Set: in(mode), Unordered: true}}
	}
	request, token := []dme.Message{{Kind: kindRequest}}, []dme.Message{{Kind: kindToken}}
	suite.Run(t, suite.Suite{
		Algorithm: Algorithm(),
		Breaches: []conformance.Breach{
			{
				Invariant: "one token", Nodes: 3, Says: "at node 3, on its way from node 1 to node 2",
				Fault: func(n *conformance.Net) { n.Host(3).Made().(*perpetual).token = true },
			},
			{
				Invariant: "one token", Nodes: 3, Set: onDemand, Says: "no node has the token",
				Fault: func(n *conformance.Net) { at(n, 1).token = false },
			},
			{
				Invariant: "asked once", Nodes: 3, Set: onDemand, Says: "node 2, asked=false, and node 1, owed=true",
				Fault: func(n *conformance.Net) { at(n, 1).owed = true },
			},
			{
				Invariant: "asked once", Nodes: 3, Set: onDemand, Says: "node 2, asked=true, and node 1, owed=true, with 1 REQUESTs",
				Fault: func(n *conformance.Net) { n.Request(2); at(n, 1).owed = true },
			},
		},
		Refusals: []suite.Refusals{
			{
				Start: func() *conformance.Net { return newNet(t, 4, "perpetual") },
				Messages: []suite.Refused{
					{What: "REQUEST in a perpetual ring", From: 2, To: 3, Series: request},
					{What: "TOKEN from the wrong side", From: 4, To: 3, Series: token},
				},
			},
			{
				Start: func() *conformance.Net { return newNet(t, 4, "demand") },
				Messages: []suite.Refused{
					{What: "TOKEN from the wrong side", From: 4, To: 3, Series: token},
					{What: "TOKEN that was not asked for", From: 2, To: 3, Series: token},
					{What: "REQUEST from the wrong side", From: 2, To: 3, Series: request},
				},
			},
			{
				Start: func() *conformance.Net {
					net := newNet(t, 3, "perpetual")
					net.Request(2)
					net.Deliver(1, 2, 0)
					return net
				},
				Messages: []suite.Refused{{What: "second TOKEN", From: 1, To: 2, Series: token}},
			},
			{
				Start: func() *conformance.Net {
					net := newNet(t, 3, "demand")
					net.Request(1)
					net.Request(2)
					net.Deliver(2, 1, 0)
					return net
				},
				Messages: []suite.Refused{{What: "second REQUEST", From: 2, To: 1, Series: request}},
			},
		},
		Searches: []suite.Search{
			exhaustive(2, 6, "perpetual"), exhaustive(3, 5, "perpetual"), exhaustive(3, 6, "demand"), exhaustive(5, 6, "demand"),
			{Nodes: []int{2, 7}, Options: check.Options{Schedules: 300, Set: in("perpetual")}},
			{Nodes: []int{2, 7}, Options: check.Options{Schedules: 300, Set: in("demand")}},
		},
	})
}

func TestSchedules(t *testing.T) { suite.Schedules(t, Algorithm()) }

func TestMutants(t *testing.T) { suite.Mutants(t) }
