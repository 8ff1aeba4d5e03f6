package ricartagrawala

import (
	"runtime"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// The decision table of TR-869, section 2.2.
func TestDecisionTable(t *testing.T) {
	const me, ours = 5, 10
	for _, c := range []struct {
		rule       string
		requesting bool
		number     uint64
		from       dme.NodeID
		deferred   bool
	}{
		{"1: not requesting", false, 10, 2, false},
		{"2: smaller number", true, 9, 8, false},
		{"3: larger number", true, 11, 2, true},
		{"4: equal number, smaller node", true, 10, 4, false},
		{"5: equal number, larger node", true, 10, 6, true},
	} {
		n := newNode(9, me)
		n.highestSequenceNumber = ours - 1
		var out dme.Outbox
		if c.requesting {
			n.Request(&out)
			out.Reset()
		}
		n.Receive(c.from, dme.Message{Kind: kindRequest, Clock: c.number}, &out)
		if replied := len(out.Effects()) == 1; replied == c.deferred {
			t.Errorf("rule %s: replied is %v", c.rule, replied)
		}
		if deferred := n.replyDeferred.Has(c.from); deferred != c.deferred {
			t.Errorf("rule %s: deferred is %v", c.rule, deferred)
		}
	}
}

// The example of TR-869, section 2.3, figure by figure.
func TestFiguresAToJ(t *testing.T) {
	net := conformance.Make(t, Algorithm(), 3, nil)
	inside := func(figure string, want ...dme.NodeID) {
		t.Helper()
		if in := net.Inside(); len(in) != len(want) || len(in) == 1 && in[0] != want[0] {
			t.Fatalf("figure %s: %v are in the critical section, want %v", figure, in, want)
		}
	}
	onTheWay := func(figure string, from, to dme.NodeID, want ...dme.Message) {
		t.Helper()
		got := net.InFlight(from, to)
		if len(got) != len(want) {
			t.Fatalf("figure %s: from %d to %d: %+v, want %+v", figure, from, to, got, want)
		}
		for i := range got {
			if got[i].Kind != want[i].Kind || got[i].Clock != want[i].Clock {
				t.Fatalf("figure %s: from %d to %d: %+v, want %+v", figure, from, to, got, want)
			}
		}
	}
	request := func(number uint64) dme.Message {
		return dme.Message{Kind: kindRequest, Clock: number}
	}
	reply := func(number uint64) dme.Message {
		return dme.Message{Kind: kindReply, Clock: number}
	}

	net.Request(3)
	onTheWay("A", 3, 1, request(1))
	onTheWay("A", 3, 2, request(1))

	net.Request(2)
	onTheWay("B", 2, 1, request(1))
	onTheWay("B", 2, 3, request(1))

	net.Deliver(2, 1, 0)
	net.Deliver(2, 3, 0)
	net.Deliver(3, 2, 0)
	onTheWay("C", 1, 2, reply(1)) // node 1 does not request
	onTheWay("C", 3, 2, reply(1)) // node 2 wins the tie
	onTheWay("C", 2, 3)           // deferred

	net.Request(1)
	onTheWay("D", 1, 2, reply(1), request(2))
	onTheWay("D", 1, 3, request(2))
	net.Deliver(1, 2, 1) // the REQUEST overtakes the REPLY
	onTheWay("D", 2, 1)  // deferred

	net.Deliver(3, 2, 0)
	net.Deliver(1, 2, 0)
	net.Deliver(1, 3, 0)
	inside("E", 2)
	onTheWay("E", 3, 1, request(1)) // deferred there, and still on its way here

	net.Release(2)
	onTheWay("F", 2, 1, reply(2))
	onTheWay("F", 2, 3, reply(1))

	net.Deliver(2, 1, 0)
	net.Deliver(2, 3, 0)
	net.Deliver(3, 1, 0)
	inside("G")
	onTheWay("G", 1, 3, reply(1))

	net.Deliver(1, 3, 0)
	inside("H", 3)

	net.Release(3)
	onTheWay("I", 3, 1, reply(2))

	net.Deliver(3, 1, 0)
	inside("J", 1)
	sent := net.Sent()
	net.Release(1)
	if net.Sent() != sent {
		t.Error("figure J: node 1 sends something on leaving")
	}
	if err := net.Err(); err != nil || sent != 3*4 {
		t.Errorf("%d messages for 3 entries, want 12; %v", sent, err)
	}
}

// TR-869, appendix: without order, N(N+1)/2 − 1 entries may come before one's
// own. For two nodes that is 2, and it happens.
func TestOvertakingBoundIsTight(t *testing.T) {
	net := conformance.Make(t, Algorithm(), 2, nil)
	net.Request(1)
	net.Deliver(1, 2, 0) // node 2 has heard of 1
	net.Request(2)       // and asks with 2; its REQUEST stays on the way
	net.Deliver(2, 1, 0) // the REPLY
	net.Release(1)
	net.Request(1) // with 2, too
	net.Deliver(1, 2, 0)
	net.Deliver(2, 1, 1) // the second REPLY
	net.Release(1)
	net.Request(1) // with 3: deferred
	net.Settle()
	last := net.Entries[len(net.Entries)-1]
	if last.Node != 2 || last.Bypass != 2 || last.Stamp.Clock != 2 {
		t.Errorf("%+v, want node 2 after 2 entries of others; %v", net.Entries, net.Err())
	}
}

// A node awaits each node's reply, not so many replies.
func TestRepliesAreASet(t *testing.T) {
	net := conformance.Make(t, Algorithm(), 3, nil)
	net.Request(1)
	m := dme.Message{Kind: kindReply, Clock: 1}
	net.Host(1).Receive(2, &m)
	net.Host(1).Receive(2, &m)
	if len(net.Inside()) != 0 {
		t.Error("two replies of one node stand for those of two")
	}
	net.Host(1).Receive(3, &m)
	if len(net.Inside()) != 1 {
		t.Error("all have replied and node 1 is outside")
	}
}

func TestStateHasThePapersNames(t *testing.T) {
	net := conformance.Make(t, Algorithm(), 3, nil)
	net.Request(1)
	net.Request(3)
	net.Deliver(3, 1, 0)
	got := dme.DescribeState(net.Host(1).Node())
	const want = "Our_Sequence_Number=1 Highest_Sequence_Number=1 Requesting_Critical_Section=true " +
		"Awaiting_Reply={2,3} Reply_Deferred=[(1,3)]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if strings.Contains(got, "\n") {
		t.Error("a state is one line")
	}
}

// cycle is what one entry costs node 1 under saturation: its request, all
// replies, all requests of the others, deferred, and its release.
func cycle(n *node, out *dme.Outbox) {
	n.Request(out)
	number := n.ourSequenceNumber
	for j := dme.NodeID(2); int(j) <= n.n; j++ {
		out.Reset()
		n.Receive(j, dme.Message{Kind: kindReply, Clock: number}, out)
	}
	// From the highest node to the lowest: the worst order for the list.
	for j := dme.NodeID(n.n); j >= 2; j-- {
		out.Reset()
		n.Receive(j, dme.Message{Kind: kindRequest, Clock: number + 1}, out)
	}
	out.Reset()
	n.Release(out)
	out.Reset()
}

func TestNoAllocationPerEvent(t *testing.T) {
	n := newNode(64, 1)
	var out dme.Outbox
	cycle(&n, &out) // the lists grow to their length
	if got := testing.AllocsPerRun(100, func() { cycle(&n, &out) }); got != 0 {
		t.Errorf("%v allocations per entry", got)
	}
}

// Ten thousand nodes fit in memory: an idle node is a bitset and little else.
func TestSizeOfAnIdleNode(t *testing.T) {
	const nodes, sample = 10_000, 200
	sys, err := Algorithm().New(nodes, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	made := make([]dme.Node, sample)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range made {
		made[i] = sys.Node(dme.NodeID(i + 1))
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / sample; got > nodes/8+512 {
		t.Errorf("a node of %d takes %d bytes, want about %d", nodes, got, nodes/8)
	}
	runtime.KeepAlive(made)
}

// BenchmarkHandlers measures the handlers alone, per message received.
func BenchmarkHandlers(b *testing.B) {
	n := newNode(64, 1)
	var out dme.Outbox
	cycle(&n, &out)
	messages := 0
	for b.Loop() {
		cycle(&n, &out)
		messages += 2 * 63
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(messages), "ns/message")
}
