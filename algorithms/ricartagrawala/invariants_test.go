package ricartagrawala

import (
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

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
