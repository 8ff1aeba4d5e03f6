package lamport

import (
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

func TestConformance(t *testing.T) {
	for _, a := range both() {
		t.Run(a.Name, func(t *testing.T) { conformance.Test(t, a) })
	}
}

func both() []*dme.Algorithm { return []*dme.Algorithm{Algorithm(), Optimized()} }

func at(net *conformance.Net, i dme.NodeID) *site { return net.Host(i).Node().(*site) }

func stamp(clock uint64, i dme.NodeID) dme.Stamp {
	return dme.Stamp{Clock: clock, Node: i}
}

// The example of section 9.3, figure by figure.
func TestFigures93To96(t *testing.T) {
	for _, c := range []struct {
		algorithm *dme.Algorithm
		replies   int    // from S_2 to S_1 in figure 9.4
		messages  uint64 // in all
	}{
		{Algorithm(), 1, 2 * 3 * 2},
		{Optimized(), 0, 2*3*2 - 1}, // S_1 takes S_2's REQUEST for its REPLY
	} {
		net := conformance.Make(t, c.algorithm, 3, nil)
		expect := func(figure string, queue []dme.Stamp, inside ...dme.NodeID) {
			t.Helper()
			if got := net.Inside(); !slices.Equal(got, inside) {
				t.Errorf("%s, figure %s: %v execute, want %v", c.algorithm.Name, figure, got, inside)
			}
			for i := dme.NodeID(1); i <= 3; i++ {
				if got := at(net, i).requestQueue; !slices.Equal(got, queue) {
					t.Errorf("%s, figure %s: request_queue of S_%d is %v, want %v", c.algorithm.Name, figure, i, got, queue)
				}
			}
		}
		first, second := stamp(1, 1), stamp(1, 2)

		net.Request(1)
		net.Request(2)
		for _, link := range [][2]dme.NodeID{{1, 2}, {1, 3}, {2, 1}, {2, 3}} {
			got := net.InFlight(link[0], link[1])
			if len(got) != 1 || got[0].Kind != kindRequest || got[0].Clock != 1 {
				t.Errorf("%s, figure 9.3: from S_%d to S_%d: %+v", c.algorithm.Name, link[0], link[1], got)
			}
		}

		for _, link := range [][2]dme.NodeID{{1, 2}, {2, 1}, {1, 3}, {2, 3}} {
			net.Deliver(link[0], link[1], 0)
		}
		if got := net.InFlight(2, 1); len(got) != c.replies {
			t.Errorf("%s, figure 9.4: S_2 answers S_1 with %+v", c.algorithm.Name, got)
		}
		net.Settle()
		expect("9.4", []dme.Stamp{first, second}, 1)

		net.Release(1)
		for _, j := range []dme.NodeID{2, 3} {
			if got := net.InFlight(1, j); len(got) != 1 || got[0].Kind != kindRelease || got[0].Clock <= 1 {
				t.Errorf("%s, figure 9.5: from S_1 to S_%d: %+v", c.algorithm.Name, j, got)
			}
		}

		net.Settle()
		expect("9.6", []dme.Stamp{second}, 2)
		net.Release(2)
		net.Settle()
		expect("the end", nil)
		if err := net.Err(); err != nil || net.Sent() != c.messages {
			t.Errorf("%s: %d messages, want %d; %v", c.algorithm.Name, net.Sent(), c.messages, err)
		}
	}
}

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

func TestRefusals(t *testing.T) {
	request := dme.Message{Kind: kindRequest, Clock: 9}
	start := func() *conformance.Net { return conformance.Make(t, Algorithm(), 3, nil) }
	conformance.TestRefusals(t, 2, 1, start, map[string][]dme.Message{
		"REQUEST without a timestamp": {{Kind: kindRequest}},
		"REPLY without a timestamp":   {{Kind: kindReply}},
		"REQUEST twice":               {request, request},
		"RELEASE without REQUEST":     {{Kind: kindRelease, Clock: 9}},
		"RELEASE twice":               {request, {Kind: kindRelease, Clock: 10}, {Kind: kindRelease, Clock: 11}},
	})
}

func TestStateHasThePapersNames(t *testing.T) {
	net := conformance.Make(t, Algorithm(), 3, nil)
	net.Request(1)
	net.Request(3)
	net.Deliver(3, 1, 0)
	const want = "clock=2 request=(1,1) executing=false awaiting={2} request_queue=[(1,1) (1,3)]"
	if got := dme.DescribeState(at(net, 1)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// cycle is what one entry of S_1 and one of each other site cost S_1.
func cycle(s *site, out *dme.Outbox) {
	s.Request(out)
	for _, k := range []dme.Kind{kindReply, kindRequest} {
		for j := dme.NodeID(s.n); j >= 2; j-- {
			out.Reset()
			s.Receive(j, dme.Message{Kind: k, Clock: s.clock}, out)
		}
	}
	out.Reset()
	s.Release(out)
	for j := dme.NodeID(2); int(j) <= s.n; j++ {
		out.Reset()
		s.Receive(j, dme.Message{Kind: kindRelease, Clock: s.clock}, out)
	}
	out.Reset()
}

func TestNoAllocationPerEvent(t *testing.T) {
	s := newSite(64, 1, false)
	var out dme.Outbox
	cycle(s, &out) // the lists grow to their length
	if got := testing.AllocsPerRun(100, func() { cycle(s, &out) }); got != 0 {
		t.Errorf("%v allocations for a round", got)
	}
}

// BenchmarkHandlers measures the handlers alone, per message received.
func BenchmarkHandlers(b *testing.B) {
	s := newSite(64, 1, false)
	var out dme.Outbox
	cycle(s, &out)
	messages := 0
	for b.Loop() {
		cycle(s, &out)
		messages += 3 * 63
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(messages), "ns/message")
}
