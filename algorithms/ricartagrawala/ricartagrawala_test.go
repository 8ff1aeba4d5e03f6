package ricartagrawala

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/search/check"
	"dmebench/internal/testkit/suite"
)

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
func BenchmarkHandlers(b *testing.B) { suite.Benchmark(b, Algorithm()) }

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
			Algorithm: Algorithm(), AllocatesNothing: true,
			Breaches: []conformance.Breach{both, lost, twice, far},
			Refusals: []suite.Refusals{refused(Algorithm(), nil, requests, replies)},
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
				{What: "FAILED of no node", Series: msgs{about(kindFailed, 0, 9)}},
				{What: "INSERT of no node", Series: msgs{about(kindInsert, 1, 0)}},
			})},
		},
		lasting(t),
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
		{Bounded(), "modulus", 1, nil, refusedFor("not a whole number of at least 1",
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
		Robust(), RobustAsPublished(), CarvalhoRoucairol(),
	}
}
