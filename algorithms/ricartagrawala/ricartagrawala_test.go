package ricartagrawala

import (
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
	"dmebench/internal/search/check"
	"dmebench/internal/testkit/suite"
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

func TestAlgorithm(t *testing.T) {
	type msgs = []dme.Message
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
	message := func(kind dme.Kind, number uint64) dme.Message { return dme.Message{Kind: kind, Clock: number} }
	request := func(number uint64) dme.Message { return message(kindRequest, number) }
	reply := func(number uint64) dme.Message { return message(kindReply, number) }
	list := func(vec ...uint64) dme.Message { return dme.Message{Kind: kindReply, Vec: vec} }
	about := func(kind dme.Kind, number uint64, node dme.NodeID) dme.Message {
		return dme.Message{Kind: kind, Clock: number, Node: node}
	}
	round := func(number uint64, node dme.NodeID, notes ...uint64) dme.Message {
		return dme.Message{Kind: kindRequest, Req: dme.Stamp{Clock: number, Node: node}, Vec: notes}
	}
	replies := []suite.Refused{
		{What: "REPLY to an earlier request", Series: msgs{reply(1)}},
		{What: "REPLY to a request not made", Series: msgs{reply(3)}},
		{What: "REPLY twice", Series: msgs{reply(2), reply(2)}},
	}
	requests := []suite.Refused{
		{What: "REQUEST without a number", Series: msgs{request(0)}},
		{What: "REQUEST twice", Series: msgs{request(9), request(9)}},
	}
	// refused arrive from node 2 at node 1 of three, which has been served and asks again.
	refused := func(a *dme.Algorithm, set map[string]string, messages ...[]suite.Refused) suite.Refusals {
		return suite.Refusals{Start: second(t, a, 3, set, 1), From: 2, To: 1, Messages: slices.Concat(messages...)}
	}
	onRing := func(form string, messages ...suite.Refused) suite.Refusals {
		return suite.Refusals{Start: second(t, Ring(), 4, map[string]string{"form": form}, 2), To: 2, Messages: messages}
	}
	onMedium := func(nodes, requests int) suite.Search {
		return suite.Search{Options: check.Options{Nodes: nodes, Requests: requests, Set: map[string]string{"form": "sequenced"}}}
	}
	suite.Run(t,
		suite.Suite{
			Algorithm: Algorithm(),
			Breaches:  []conformance.Breach{both, lost, twice, far},
			Refusals:  []suite.Refusals{refused(Algorithm(), nil, requests, replies)},
		},
		suite.Suite{
			Algorithm: Implicit(),
			Refusals: []suite.Refusals{refused(Implicit(), nil, requests, []suite.Refused{
				{What: "DEFERRED of an earlier request", Series: msgs{message(kindDeferred, 1)}},
				{What: "DEFERRED twice", Series: msgs{message(kindDeferred, 2), message(kindDeferred, 2)}},
				{What: "REPLY of an earlier request", Series: msgs{message(kindExplicitReply, 1)}},
				{What: "REPLY twice, and no DEFERRED", Series: msgs{message(kindExplicitReply, 2), message(kindExplicitReply, 2)}},
			})},
		},
		suite.Suite{
			Algorithm: Broadcast(),
			Breaches:  []conformance.Breach{both, lost, twice, far},
			Refusals: []suite.Refusals{
				refused(Broadcast(), nil, requests, replies, []suite.Refused{
					{What: "REPLY twice, once in a list", Series: msgs{list(3, 7, 1, 2), reply(2)}},
					{What: "a list without numbers", Series: msgs{list(1)}},
				}),
				refused(Broadcast(), map[string]string{"form": "sequenced"}, []suite.Refused{
					{What: "REQUEST twice on the medium", Series: msgs{request(0), request(0)}},
					{What: "REPLY without a REQUEST", Series: msgs{reply(0)}},
				}),
			},
			Searches: []suite.Search{onMedium(1, 3), onMedium(2, 6), onMedium(3, 4)},
		},
		suite.Suite{
			Algorithm: Ring(),
			Breaches: []conformance.Breach{
				{
					Invariant: "one REQUEST", Nodes: 3, Says: "node 2 is requesting: 1 REQUESTs of it are on their way, 1 are deferred",
					Fault: func(n *conformance.Net) {
						n.Request(2)
						n.Host(1).Made().(*echoNode).replyDeferred.Add(dme.Stamp{Clock: 1, Node: 2})
					},
				},
				{
					Invariant: "one REQUEST", Nodes: 3, Set: map[string]string{"form": "notes"},
					Says:  "node 2 is requesting: 1 REQUESTs of it are on their way, 0 are deferred, and 1 have come home",
					Fault: func(n *conformance.Net) { n.Request(2); n.Host(2).Made().(*notesNode).home = true },
				},
			},
			Refusals: []suite.Refusals{
				onRing("echo",
					suite.Refused{What: "no number", From: 1, Series: msgs{round(0, 1)}},
					suite.Refused{What: "no node", From: 1, Series: msgs{round(5, 9)}},
					suite.Refused{What: "an earlier one of its own", From: 1, Series: msgs{round(1, 2)}},
					suite.Refused{What: "deferred twice", From: 1, Series: msgs{round(5, 4), round(5, 4)}},
					suite.Refused{What: "home twice", From: 1, Series: msgs{round(2, 2), round(2, 2)}},
					suite.Refused{What: "REPLY", From: 1, Series: msgs{reply(2)}},
					suite.Refused{What: "not by the predecessor", From: 3, Series: msgs{round(5, 3)}},
				),
				onRing("notes",
					suite.Refused{What: "home twice", From: 1, Series: msgs{round(2, 2, 3), round(2, 2, 3)}},
					suite.Refused{What: "note by nobody", From: 1, Series: msgs{round(2, 2, 9)}},
					suite.Refused{What: "note by itself", From: 1, Series: msgs{round(2, 2, 2)}},
					suite.Refused{What: "notes against the ring", From: 1, Series: msgs{round(2, 2, 4, 3)}},
					suite.Refused{What: "note by one who comes later", From: 1, Series: msgs{round(5, 4, 3)}},
					suite.Refused{What: "REPLY to an earlier request", From: 3, Series: msgs{reply(1)}},
					suite.Refused{What: "REPLY twice", From: 3, Series: msgs{reply(2), reply(2)}},
				),
			},
		},
		suite.Suite{
			Algorithm: Bounded(),
			Breaches:  []conformance.Breach{both, lost, twice, apart},
			Refusals: []suite.Refusals{refused(Bounded(), nil, replies, []suite.Refused{
				{What: "REQUEST beyond the modulus", Series: msgs{request(5)}},
				{What: "REPLY beyond the modulus", Series: msgs{reply(7)}},
				{What: "REQUEST twice", Series: msgs{request(3), request(3)}},
			})},
		},
		suite.Suite{
			Algorithm: Priority(),
			Breaches:  []conformance.Breach{both, lost},
			Refusals:  []suite.Refusals{refused(Priority(), map[string]string{"most": "1"}, requests, replies)},
		},
		suite.Suite{
			Algorithm: ReadersWriters(),
			Breaches:  []conformance.Breach{both, lost, twice},
			Refusals: []suite.Refusals{refused(ReadersWriters(), nil, requests, replies, []suite.Refused{
				{What: "REQUEST by neither", Series: msgs{{Kind: kindRequest, Clock: 9, Flags: 2}}},
			})},
		},
		suite.Suite{
			Algorithm: Robust(),
			Refusals: []suite.Refusals{refused(Robust(), nil, []suite.Refused{
				{What: "REQUEST without a number", Series: msgs{request(0)}},
				{What: "REPLY to a request not made", Series: msgs{reply(3)}},
				{What: "REPLY twice, and to one to come", Series: msgs{reply(2), reply(2), reply(9)}},
				{What: "FAILED of nobody", Series: msgs{about(kindFailed, 0, 9)}},
				{What: "INSERT of nobody", Series: msgs{about(kindInsert, 1, 0)}},
			})},
		},
		suite.Suite{Algorithm: BoundedAsPublished()},
		suite.Suite{Algorithm: RobustAsPublished()},
	)
}

// second returns a network in which node id has been served, and asks again,
// with number 2.
func second(t *testing.T, a *dme.Algorithm, nodes int, set map[string]string, id dme.NodeID) func() *conformance.Net {
	return func() *conformance.Net {
		net := conformance.Make(t, a, nodes, set)
		if _, err := net.Serve(id); err != nil {
			t.Fatal(err)
		}
		net.Request(id)
		return net
	}
}

func TestSchedules(t *testing.T) { suite.Schedules(t, all()...) }

func TestMutants(t *testing.T) { suite.Mutants(t) }

// Values of options, and whether they are taken for a system of some nodes.
func TestValues(t *testing.T) {
	for _, x := range []struct {
		a      *dme.Algorithm
		option string
		nodes  int
		good   []string
		bad    map[string]string // with what the error says, in part
	}{
		{Implicit(), "bound", 2, []string{"auto", "1ns", "500ms", "1h"}, refusedFor("", "61m", "0s", "-1s", "5", "", "soon")},
		{Priority(), "hold", 2, []string{"0s", "3ms"}, refusedFor("", "-1ms", "5", "x")},
		{Priority(), "most", 2, []string{"1", "8", "1048576"}, refusedFor("", "1048577", "0", "-1", "x", "")},
		{Robust(), "names", 2, []string{"auto", "7,5", "2,1"}, refusedFor("", "5,5", "0,1", "0,2", "1,2,3", "a,b", "", "1,4294967296")},
		{Bounded(), "modulus", 5, []string{"auto", "9", "64", "9223372036854775807"}, map[string]string{"8": "want at least 2N−1 = 9"}},
		{Bounded(), "modulus", 1, nil, refusedFor("not a positive number",
			"0", "-5", "18446744073709551615", "9223372036854775808", "1a", "many")},
		{BoundedAsPublished(), "modulus", 5, []string{"9"}, map[string]string{"8": "want at least 2N−1 = 9"}},
	} {
		take := func(value string) error {
			_, err := x.a.New(x.nodes, 1, map[string]string{x.option: value})
			return err
		}
		for _, value := range x.good {
			if err := take(value); err != nil {
				t.Errorf("%s: %s=%s: %v", x.a.Name, x.option, value, err)
			}
		}
		for value, want := range x.bad {
			if err := take(value); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %s=%s: %v, want %q", x.a.Name, x.option, value, err, want)
			}
		}
	}
}

// refusedFor says the same of several values.
func refusedFor(says string, values ...string) map[string]string {
	all := make(map[string]string)
	for _, v := range values {
		all[v] = says
	}
	return all
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

func all() []*dme.Algorithm {
	return []*dme.Algorithm{
		Algorithm(), Implicit(), Broadcast(), Ring(), Bounded(), Priority(), ReadersWriters(), BoundedAsPublished(),
		Robust(), RobustAsPublished(),
	}
}

// pair is the algorithm with bounded numbers beside the original, which keeps
// them all: both go through the same schedule, and must do the same.
type pair struct {
	bounded *conformance.Net
	nodes   int
	modulus uint64
	widest  uint64
}

// follow does in the bounded algorithm what the original has done, and compares
// them.
func (p *pair) follow(original *conformance.Net, e *vnet.Event) error {
	switch e.Step.Kind {
	case vnet.Ask:
		p.bounded.Request(e.Node)
	case vnet.Exit:
		p.bounded.Release(e.Node)
	case vnet.Deliver:
		p.bounded.Deliver(e.From, e.Node, e.Index)
	}
	if err := p.compare(original); err != nil {
		return fmt.Errorf("M=%d: %w\n%s", p.modulus, err, p.bounded.States())
	}
	return nil
}

// compare says how the two differ, nil if they do not, and notes how far apart
// the numbers on the way are.
func (p *pair) compare(original *conformance.Net) error {
	lowest, highest := ^uint64(0), uint64(0)
	for from := dme.NodeID(1); int(from) <= p.nodes; from++ {
		for to := dme.NodeID(1); int(to) <= p.nodes; to++ {
			a, b := p.bounded.InFlight(from, to), original.InFlight(from, to)
			if len(a) != len(b) {
				return fmt.Errorf("from %d to %d: %v, the original %v", from, to, a, b)
			}
			for i := range a {
				if a[i].Kind != b[i].Kind || a[i].Clock != b[i].Clock%p.modulus {
					return fmt.Errorf("from %d to %d: %v, the original %v", from, to, a[i], b[i])
				}
				if b[i].Kind == kindRequest {
					lowest, highest = min(lowest, b[i].Clock), max(highest, b[i].Clock)
				}
			}
		}
	}
	if highest > 0 {
		p.widest = max(p.widest, highest-lowest)
	}
	if a, b := p.bounded.Inside(), original.Inside(); !slices.Equal(a, b) {
		return fmt.Errorf("%v are in the critical section, of the original %v", a, b)
	}
	return nil
}

// Nobody can tell the bounded algorithm from the original, message by message;
// and numbers lie between x and x+N−1, and do reach both.
func TestTwin(t *testing.T) {
	for _, nodes := range []int{1, 2, 3, 4, 6} {
		widest := uint64(0)
		for _, modulus := range []uint64{smallest(nodes), 2*uint64(nodes) + 3} {
			for seed := range uint64(150) {
				set := map[string]string{"modulus": fmt.Sprint(modulus)}
				p := &pair{bounded: conformance.Make(t, Bounded(), nodes, set), nodes: nodes, modulus: modulus}
				_, err := conformance.Walk{
					Algorithm: Algorithm(), Nodes: nodes, Requests: func(id dme.NodeID) int { return 1 + int(seed+uint64(id)*5)%8 },
					Load: vnet.Churn, Reorder: true, Seed: seed, Look: p.follow,
				}.Run()
				if err != nil {
					t.Fatal(err)
				}
				widest = max(widest, p.widest)
			}
		}
		if widest > uint64(nodes)-1 {
			t.Errorf("N=%d: numbers from x to x+%d, want at most x+%d", nodes, widest, nodes-1)
		}
		if nodes <= 3 && widest < uint64(nodes)-1 {
			t.Errorf("N=%d: numbers never more than %d apart; the schedules are too tame", nodes, widest)
		}
	}
}

// withModulus returns the algorithm with a modulus that may be too small.
func withModulus(a *dme.Algorithm, m uint64) *dme.Algorithm {
	a.Options[0].Default = fmt.Sprint(m)
	a.ValidNodes = nil
	return a
}

// M = 2N−1 is enough, and tight: with 2N−2 the search finds a fault.
func TestModulusIsTight(t *testing.T) {
	for _, nodes := range []int{2, 3, 4} {
		enough := smallest(nodes)
		if err := conformance.Search(withModulus(Bounded(), enough), nodes, nil, 400); err != nil {
			t.Errorf("N=%d, M=2N−1: %v", nodes, err)
		}
		if err := conformance.Search(withModulus(Bounded(), enough-1), nodes, nil, 4000); err == nil {
			t.Errorf("N=%d, M=2N−2: no fault found", nodes)
		}
	}
}

// As published it is unsafe for every M: here up to four times the nodes, and
// one that no run comes near.
func TestAsPublishedIsUnsafeForEveryModulus(t *testing.T) {
	for _, nodes := range []int{2, 3} {
		moduli := []uint64{1 << 40}
		for m := smallest(nodes); m <= 4*uint64(nodes); m++ {
			moduli = append(moduli, m)
		}
		for _, m := range moduli {
			if err := conformance.Search(withModulus(BoundedAsPublished(), m), nodes, nil, 4000); err == nil {
				t.Errorf("N=%d, M=%d: no fault found", nodes, m)
			}
		}
	}
}

// The way to it, for any number of nodes and any modulus. Node 1 enters with
// number 1 and forgets it. Nodes 2, 3, …, N ask, each having heard the one
// before, with numbers up to N. Node 1 hears of N first, which differs from its
// Highest_Sequence_Number, 0, by N: it replies, and takes it for an old number.
// When all before node N have been served, node 1 has heard of N−1 at most. It
// asks with N, and has priority over node N, which is inside.
func TestHowAsPublishedFails(t *testing.T) {
	for _, nodes := range []dme.NodeID{2, 3, 5, 8} {
		for _, m := range []uint64{smallest(int(nodes)), 2 * uint64(nodes), 1000} {
			net := conformance.Make(t, BoundedAsPublished(), int(nodes), map[string]string{"modulus": fmt.Sprint(m)})
			if _, err := net.Serve(1); err != nil {
				t.Fatal(err)
			}
			for j := dme.NodeID(2); j <= nodes; j++ {
				net.Request(j)
				for k := j + 1; k <= nodes; k++ {
					net.Deliver(j, k, 0)
				}
			}
			net.Deliver(nodes, 1, 0)
			for j := dme.NodeID(2); j <= nodes; j++ {
				net.Settle()
				if !slices.Equal(net.Inside(), []dme.NodeID{j}) {
					t.Fatalf("N=%d, M=%d: %v are in the critical section, want node %d\n%s", nodes, m, net.Inside(), j, net.States())
				}
				if j < nodes {
					net.Release(j)
				}
			}
			net.Request(1)
			net.Settle()
			want := fmt.Sprintf("are in the critical section: 1 and %d", nodes)
			if err := net.Err(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("N=%d, M=%d: %v\n%s", nodes, m, err, net.States())
			}
		}
	}
}

// The comparison of section 6.4 agrees with that of the whole numbers, for any
// two that are less than N apart; with M = 2N−2 it cannot.
func TestComparison(t *testing.T) {
	for _, nodes := range []int{1, 2, 3, 5, 8} {
		for m := max(1, smallest(nodes)-1); m <= smallest(nodes)+3; m++ {
			s := residues{nodes: nodes, modulus: m}
			agrees := true
			for a := range 5 * m {
				for d := range uint64(nodes) {
					b := a + d
					agrees = agrees && s.less(a%m, b%m) == (a < b) && !s.less(b%m, a%m)
				}
			}
			if agrees != (m >= smallest(nodes)) {
				t.Errorf("N=%d, M=%d: agrees: %v", nodes, m, agrees)
			}
		}
	}
}

// A number fits into log2(2N−1) bits, rounded up, however long the run.
func TestNumbersStaySmall(t *testing.T) {
	const nodes = 5
	net := conformance.Make(t, Bounded(), nodes, nil)
	seen := map[uint64]bool{}
	for k := range 100 {
		if messages, err := net.Serve(dme.NodeID(k%nodes + 1)); err != nil || messages != 2*(nodes-1) {
			t.Fatalf("entry %d: %d messages, %v", k, messages, err)
		}
		for i := dme.NodeID(1); i <= nodes; i++ {
			n := net.Host(i).Node().(*boundedNode)
			seen[n.highestSequenceNumber] = true
		}
	}
	if len(seen) != 2*nodes-1 {
		t.Errorf("%d different numbers, want all %d", len(seen), 2*nodes-1)
	}
	for x := range seen {
		if got, want := bits.Len64(x), bits.Len64(2*nodes-2); got > want {
			t.Errorf("number %d takes %d bits, want at most %d", x, got, want)
		}
	}
}

// Section 6.4: numbers that are at most N−1 apart take 2N−1 residues. With one less, the
// same two residues are N−1 apart both ways round.
func TestSmallestModulus(t *testing.T) {
	for n := 1; n <= 9; n++ {
		if m, ok := smallestAccepted(dme.Setting{Nodes: n}); !ok || m != float64(2*n-1) {
			t.Errorf("N=%d: %v, %v; want %d", n, m, ok, 2*n-1)
		}
		if n > 1 && tellsApart(residues{nodes: n, modulus: uint64(2*n - 2)}) {
			t.Errorf("N=%d: %d residues tell all numbers apart", n, 2*n-2)
		}
	}
}
