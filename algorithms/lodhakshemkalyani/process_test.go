package lodhakshemkalyani

import (
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

func TestRefusals(t *testing.T) {
	stamp := func(clock uint64, node dme.NodeID) dme.Stamp {
		return dme.Stamp{Clock: clock, Node: node}
	}
	request := func(number uint64, done dme.Stamp) dme.Message {
		return dme.Message{Kind: kindRequest, Clock: number, Done: done}
	}
	reply := func(to, done dme.Stamp) dme.Message {
		return dme.Message{Kind: kindReply, Req: to, Done: done}
	}
	mine, none := stamp(2, 1), dme.Stamp{}
	start := func() *conformance.Net {
		net := conformance.Make(t, Algorithm(), 3, nil)
		if _, err := net.Serve(1); err != nil {
			t.Fatal(err)
		}
		net.Request(1) // with number 2
		return net
	}
	conformance.TestRefusals(t, 2, 1, start, map[string][]dme.Message{
		"REQUEST without a number":                {request(0, none)},
		"REQUEST of a number that would overflow": {request(latest+1, none)},
		"REQUEST while one is deferred":           {request(2, none), request(3, none), request(4, none)},
		"REPLY to an earlier request":             {reply(stamp(1, 1), none)},
		"REPLY to another process":                {reply(stamp(2, 3), none)},
		"REPLY twice":                             {reply(mine, none), reply(mine, none)},
		"REPLY after an implicit one":             {request(2, none), reply(mine, none)},
		"REPLY that knows of our pending request": {reply(mine, mine)},
		"REQUEST that knows of a later one":       {request(9, stamp(8, 3))},
		"FLUSH in the name of another":            {{Kind: kindFlush, Done: stamp(1, 3)}},
	})
}

func TestStateHasTheTextsNames(t *testing.T) {
	net := conformance.Make(t, Algorithm(), 3, nil)
	if _, err := net.Serve(3); err != nil {
		t.Fatal(err)
	}
	net.Request(1)
	net.Request(2)
	net.Deliver(2, 1, 0)
	const want = "My_Sequence_Number=2 RV={1,2} LRQ=[(2,1) (2,2)] Highest_Sequence_Number_Seen=2 " +
		"requesting=true executing=false deferred=[] done=-"
	if got := dme.DescribeState(net.Host(1).Node()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// cycle is what one entry costs under saturation: the request, the REQUEST of
// every second other process, all replies, a deferred REQUEST of each of the
// others, and the release.
func cycle(p *process, out *dme.Outbox) {
	p.Request(out)
	number := p.mySequenceNumber
	for j := dme.NodeID(2); int(j) <= p.n; j++ {
		out.Reset()
		if j%2 == 0 {
			p.Receive(j, dme.Message{Kind: kindRequest, Clock: number, Done: p.done}, out)
		} else {
			p.Receive(j, dme.Message{Kind: kindReply, Req: p.myRequest(), Done: p.done}, out)
			out.Reset()
			p.Receive(j, dme.Message{Kind: kindRequest, Clock: number + 1, Done: p.done}, out)
		}
	}
	out.Reset()
	p.Release(out)
	out.Reset()
}

func TestNoAllocationPerEvent(t *testing.T) {
	p := newProcess(64, 1).(*process)
	var out dme.Outbox
	cycle(p, &out) // the lists grow to their length
	if got := testing.AllocsPerRun(100, func() { cycle(p, &out) }); got != 0 {
		t.Errorf("%v allocations per entry", got)
	}
}

// BenchmarkHandlers measures the handlers alone, per message received.
func BenchmarkHandlers(b *testing.B) {
	p := newProcess(64, 1).(*process)
	var out dme.Outbox
	cycle(p, &out)
	messages := 0
	for b.Loop() {
		cycle(p, &out)
		messages += 63 + 31
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(messages), "ns/message")
}
