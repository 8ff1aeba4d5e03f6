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

// The invariants can be broken: each of these states breaks one.
func TestInvariants(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *node { return n.Host(id).Made().(party).base() }
	both := conformance.Breach{
		Invariant: "one reply of two", Nodes: 3, Says: "nodes 1 and 3 are requesting or inside",
		Fault: func(n *conformance.Net) {
			n.Request(1)
			n.Request(3)
			at(n, 1).awaitingReply.Remove(3)
			at(n, 3).awaitingReply.Remove(1)
		},
	}
	lost := conformance.Breach{
		Invariant: "one answer", Nodes: 3, Says: "node 2 awaits 0 replies of node 1, which has deferred 0, with 1 REQUESTs and 0 REPLYs",
		Fault: func(n *conformance.Net) { n.Request(2); at(n, 2).awaitingReply.Remove(1) },
	}
	twice := conformance.Breach{
		Invariant: "one answer", Nodes: 3, Says: "node 2 awaits 1 replies of node 1, which has deferred 1, with 0 REQUESTs and 1 REPLYs",
		Fault: func(n *conformance.Net) {
			n.Request(2)
			n.Deliver(2, 1, 0)
			at(n, 1).replyDeferred.Add(dme.Stamp{Clock: 1, Node: 2})
		},
	}
	far := conformance.Breach{
		Invariant: "numbers within N", Nodes: 3, Says: "requests of nodes 2 and 3",
		Fault: func(n *conformance.Net) { n.Request(2); n.Request(3); at(n, 3).ourSequenceNumber = 4 },
	}
	apart := conformance.Breach{
		Invariant: "numbers within N", Nodes: 3, Says: "requests of nodes [1 2 3] do not lie among N",
		Fault: func(n *conformance.Net) {
			for id := dme.NodeID(1); id <= 3; id++ {
				n.Request(id)
				at(n, id).ourSequenceNumber = 2*uint64(id) - 2
			}
		},
	}
	for _, x := range []struct {
		a        *dme.Algorithm
		breaches []conformance.Breach
	}{
		{Algorithm(), []conformance.Breach{both, lost, twice, far}},
		{Broadcast(), []conformance.Breach{both, lost, twice, far}},
		{ReadersWriters(), []conformance.Breach{both, lost, twice}},
		{Priority(), []conformance.Breach{both, lost}},
		{Bounded(), []conformance.Breach{both, lost, twice, apart}},
	} {
		t.Run(x.a.Name, func(t *testing.T) { conformance.TestInvariants(t, x.a, x.breaches...) })
	}
}

// Two readers may have each other's reply; a reader and a writer may not.
func TestReadersHaveEachOthersReplies(t *testing.T) {
	meet := func(ask func(n *conformance.Net)) *conformance.Net {
		net := conformance.Make(t, ReadersWriters(), 2, nil)
		net.Host(1).RequestShared()
		ask(net)
		for id := dme.NodeID(1); id <= 2; id++ {
			net.Host(id).Made().(party).base().awaitingReply.Clear()
		}
		return net
	}
	if v := meet(func(n *conformance.Net) { n.Host(2).RequestShared() }).Broken(); v == nil || v.Property != "one answer" {
		t.Error("two readers:", v) // whose replies are still on their way
	}
	if v := meet(func(n *conformance.Net) { n.Request(2) }).Broken(); v == nil || v.Property != "one reply of two" {
		t.Error("a reader and a writer:", v)
	}
}

func TestInvariantsOfTheRing(t *testing.T) {
	conformance.TestInvariants(t, Ring(),
		conformance.Breach{
			Invariant: "one REQUEST", Nodes: 3, Says: "node 2 is requesting: 1 REQUESTs of it are on their way, 1 are deferred",
			Fault: func(n *conformance.Net) {
				n.Request(2)
				n.Host(1).Made().(*echoNode).replyDeferred.Add(dme.Stamp{Clock: 1, Node: 2})
			},
		},
		conformance.Breach{
			Invariant: "one REQUEST", Nodes: 3, Set: map[string]string{"form": "notes"},
			Says:  "node 2 is requesting: 1 REQUESTs of it are on their way, 0 are deferred, and 1 have come home",
			Fault: func(n *conformance.Net) { n.Request(2); n.Host(2).Made().(*notesNode).home = true },
		},
	)
}

func all() []*dme.Algorithm {
	return []*dme.Algorithm{
		Algorithm(), Implicit(), Broadcast(), Ring(), Bounded(), Priority(), ReadersWriters(), BoundedAsPublished(),
		Robust(), RobustAsPublished(),
	}
}

func TestConformance(t *testing.T) {
	for _, a := range all() {
		t.Run(a.Name, func(t *testing.T) { conformance.Test(t, a) })
	}
}

// TestMutantsAreCaught shows that the tests can fail: they must, for every rule
// taken out. That a REPLY names its request is redundant where links are
// reliable, and tested by hand.
func TestMutantsAreCaught(t *testing.T) {
	const (
		residues = ">= uint64(s.nodes)"
		bothRead = "n.reading && who == byReader"
	)
	for test, mutants := range map[string][]conformance.Mutant{
		"^TestConformance$/^ricart-agrawala$": {
			{Name: "no deferral", File: "ricartagrawala.go", Caught: conformance.Unsafe,
				Old: "return n.requestingCriticalSection && n.ourRequest().Precedes(r)", New: "return false"},
			{Name: "no order among equal numbers", File: "ricartagrawala.go", Caught: conformance.Stalled,
				Old: "n.ourRequest().Precedes(r)", New: "n.ourSequenceNumber <= r.Clock"},
			{Name: "replies received do not count", File: "ricartagrawala.go", Caught: "one answer: ",
				Old: "\tn.awaitingReply.Remove(from)\n", New: ""},
			{Name: "numbers of others do not count", File: "ricartagrawala.go", Caught: "entries out of timestamp order",
				Old: "max(n.highestSequenceNumber, r.Clock)", New: "n.highestSequenceNumber"},
			{Name: "own numbers do not count", File: "ricartagrawala.go", Caught: "claim bypass upper bound",
				Old: "\tn.highestSequenceNumber = number\n", New: ""},
			{Name: "a deferred REPLY is lost", File: "ricartagrawala.go", Caught: "one answer: ",
				Old: "added := n.replyDeferred.Add(r)", New: "added := !n.replyDeferred.Has(r.Node)"},
		},
		"^TestConformance$/^ricart-agrawala-implicit$": {
			{Name: "no bound", File: "implicit.go", Caught: "ricart-agrawala-implicit: on 2 nodes",
				Old: "Reliable: true, BoundedDelay: true", New: "Reliable: true"},
			{Name: "one leg", File: "implicit.go", Caught: conformance.Unsafe,
				Old: "const legs = 2", New: "const legs = 1"},
			{Name: "REPLY before its DEFERRED is lost", File: "balance.go", Caught: conformance.Stalled,
				Old: "\t\tb.repliedFirst.Add(j) // the news of its deferral is still to come\n", New: ""},
			{Name: "no DEFERRED", File: "implicit.go", Caught: "REPLY that is not awaited",
				Old: "\t\tout.Send(r.Node, dme.Message{Kind: kindDeferred, Clock: r.Clock})\n", New: ""},
		},
		"^(TestConformance|TestReplyIsForTheListed)$/^ricart-agrawala-broadcast$": {
			{Name: "a broadcast REPLY is everybody's", File: "broadcast.go", Caught: "node 2 takes it for its own",
				Old: "if number, listed := recipient(m.Vec, n.me); listed {\n\t\t\tn.receiveReply(from, number, out)\n\t\t}",
				New: "if n.awaitingReply.Has(from) {\n\t\t\tn.receiveReply(from, n.ourSequenceNumber, out)\n\t\t}"},
			{Name: "the old entry stays until its REPLY is heard", File: "sequenced.go", Caught: "ricart-agrawala-broadcast: on",
				Old: "\tl.waiting.Remove(l.me)\n\tout", New: "\tout"},
			{Name: "a request's place is that of its sending", File: "sequenced.go", Caught: conformance.Unsafe,
				Old: "\tout.Broadcast(dme.Message{Kind: kindRequest})\n}\n",
				New: "\tout.Broadcast(dme.Message{Kind: kindRequest})\n\tl.hear(l.me)\n\tl.enterIfFirst(out)\n}\n"},
		},
		"^TestConformance$/^ricart-agrawala-ring$": {
			{Name: "the count is then set", File: "ring.go", Caught: conformance.Stalled,
				Old: "n.owed.deferred(dme.NodeID(by))", New: "n.owed.deferredBy.Add(dme.NodeID(by))"},
			{Name: "no note", File: "ring.go", Caught: "REPLY that is not awaited",
				Old: "\t\tm.Vec = append(m.Vec, uint64(n.me)) // 'DEFERRED by node me'\n", New: ""},
			{Name: "an echo that never waits", File: "ring.go", Caught: conformance.Unsafe,
				Old: "\tif n.defers(m.Req) {\n\t\tn.keep(m.Req, out)\n\t\treturn\n\t}\n\tn.pass(m.Req, nil, out)",
				New: "\tn.pass(m.Req, nil, out)"},
		},
		"^TestConformance$/^ricart-agrawala-bounded$": {
			{Name: "own numbers do not count", File: "ricartagrawala.go", Caught: conformance.Unsafe,
				Old: "\tn.highestSequenceNumber = number\n", New: ""},
			{Name: "residues are compared as numbers", File: "bounded.go", Caught: "ricart-agrawala-bounded: on",
				Old: residues, New: ">= s.modulus"},
			{Name: "the difference may be N", File: "bounded.go", Caught: "ricart-agrawala-bounded: on",
				Old: residues, New: "> uint64(s.nodes)"},
		},
		"^TestAskingAfterReplyingIsBehind$": {
			{Name: "increments from 0", File: "priority.go", Caught: "[2 1] are in the critical section",
				Old: "n.highestSequenceNumber + n.increments.of(n.me, n.requests)",
				New: "max(1, n.highestSequenceNumber+n.increments.of(n.me, n.requests)-1)"},
		},
		"^TestConformance$/^ricart-agrawala-priority$": {
			{Name: "what is drawn is not saved", File: "ricartagrawala.go", Caught: "ricart-agrawala-priority: on",
				Old: "\tv.ClockWhile(n.requestingCriticalSection, dme.None, \"Our_Sequence_Number\", &n.ourSequenceNumber)\n", New: ""},
		},
		"^TestConformance$/^readers-writers$": {
			{Name: "readers do not defer writers either", File: "readers.go", Caught: conformance.Unsafe,
				Old: bothRead, New: "n.reading"},
			{Name: "the REQUEST does not say who asks", File: "readers.go", Caught: conformance.Unsafe,
				Old: "Flags: who}", New: "Flags: byReader}"},
		},
		"^TestReadersShare$": {
			{Name: "nobody shares", File: "readers.go", Caught: conformance.Unsafe + ", want [1 2 3 4]",
				Old: bothRead, New: "false"},
		},
	} {
		conformance.TestMutants(t, test, mutants...)
	}
}
