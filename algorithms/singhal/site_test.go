package singhal

import (
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

func TestRefusals(t *testing.T) {
	request := func(clock uint64) dme.Message {
		return dme.Message{Kind: kindRequest, Clock: clock}
	}
	reply := func(number uint64) dme.Message {
		return dme.Message{Kind: kindReply, Clock: 9, Req: dme.Stamp{Clock: number, Node: 3}}
	}
	start := func() *conformance.Net {
		net := conformance.Make(t, Algorithm(), 3, nil)
		if _, err := net.Serve(3); err != nil {
			t.Fatal(err)
		}
		for _, i := range []dme.NodeID{1, 2} { // so that site 3 must ask them again
			if _, err := net.Serve(i); err != nil {
				t.Fatal(err)
			}
		}
		at(net, 3).c = 1
		net.Request(3) // with clock 2
		return net
	}
	conformance.TestRefusals(t, 1, 3, start, map[string][]dme.Message{
		"REQUEST without a clock":                {request(0)},
		"REQUEST of a clock that would overflow": {request(latest + 1)},
		"REQUEST twice":                          {request(9), request(9)},
		"REPLY to an earlier request":            {reply(1)},
		"REPLY to another site's request":        {{Kind: kindReply, Clock: 9, Req: dme.Stamp{Clock: 2, Node: 2}}},
		"REPLY twice":                            {reply(2), reply(2)},
	})
}

func TestStateHasTheTextsNames(t *testing.T) {
	net := conformance.Make(t, Algorithm(), 3, nil)
	net.Request(2)
	net.Request(3)
	net.Deliver(3, 2, 0)
	const want = "C=1 R={1} I=[(1,3)] Requesting=true Executing=false request=(1,2)"
	if got := dme.DescribeState(net.Host(2).Node()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// cycle is what one entry costs under saturation: the request, all replies, all
// requests of the others, and the release.
func cycle(s *site, n int, out *dme.Outbox) {
	s.Request(out)
	for j := dme.NodeID(1); int(j) <= n; j++ {
		if s.r.Has(j) {
			out.Reset()
			s.Receive(j, dme.Message{Kind: kindReply, Clock: s.c, Req: s.request}, out)
		}
	}
	for j := dme.NodeID(n); j >= 1; j-- { // the worst order for the list
		if j != s.i {
			out.Reset()
			s.Receive(j, dme.Message{Kind: kindRequest, Clock: s.c}, out)
		}
	}
	out.Reset()
	s.Release(out)
	out.Reset()
}

func TestNoAllocationPerEvent(t *testing.T) {
	const n = 64
	s := system{nodes: n}.Node(n).(*site)
	var out dme.Outbox
	cycle(s, n, &out) // the list grows to its length
	if got := testing.AllocsPerRun(100, func() { cycle(s, n, &out) }); got != 0 {
		t.Errorf("%v allocations per entry", got)
	}
}

// BenchmarkHandlers measures the handlers alone, per message received.
func BenchmarkHandlers(b *testing.B) {
	const n = 64
	s := system{nodes: n}.Node(n).(*site)
	var out dme.Outbox
	cycle(s, n, &out)
	messages := 0
	for b.Loop() {
		cycle(s, n, &out)
		messages += 2 * (n - 1)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(messages), "ns/message")
}
