// Package rapriority is the algorithm of Ricart and Agrawala with increments of
// the sequence number other than one: section 6.5 of TR-869 (G. Ricart, A. K.
// Agrawala, An Algorithm for Mutual Exclusion in Computer Networks, University
// of Maryland, 1980). All else is as in section 2.2. Increments are from 1 to D:
//
//   - increments=random: each request's is drawn anew. When requests cross, the
//     tie-breaking rule no longer favours the nodes with low numbers, as it does
//     where all of them choose the same sequence number.
//   - increments=priority: each node has its own, 1 at node 1, the highest
//     priority, and D at node N. When requests cross, the smaller increment wins.
//
// Either works between requests that cross, and only there: a node that has
// heard of a request asks with a larger number, whatever its increment. Under
// saturation every node has heard of all requests before its own, and nodes take
// turns. The text's further means, that a node of high priority delays the
// REQUESTs of others so as not to hear of them, is not built.
//
// An increment of 0 is not safe: a node that has replied to a REQUEST would ask
// with the same number and could win the tie against the node that it has let
// in. With increments up to D the numbers of all requests lie between some x and
// x + (N−1)D, so that a modulus for them (section 6.4) would have to be
// 2(N−1)D + 1.
//
// Departures from the printed text: Highest_Sequence_Number covers the node's
// own numbers, replies are a set of nodes and no count, a REPLY names the
// request that it answers, and the reaction to an event is one atomic step.
// Links need not keep order.
package rapriority

import (
	"cmp"
	"slices"

	"dmebench/dme"
)

type system struct {
	nodes      int
	increments increments
}

func (s system) Node(id dme.NodeID) dme.Node {
	return &node{me: id, system: s, awaitingReply: dme.MakeNodeSet(s.nodes)}
}

type node struct {
	me dme.NodeID
	system

	requests                  uint64 // made so far
	ourSequenceNumber         uint64 // of the pending request, while there is one
	highestSequenceNumber     uint64 // in any REQUEST sent or received
	requestingCriticalSection bool   // from the request to the release

	awaitingReply dme.NodeSet // who has still to reply to our request
	replyDeferred []dme.Stamp // the requests that wait for our release, by node in ascending order
}

// Request is the first process of section 2.2 up to its WAITFOR.
func (n *node) Request(out *dme.Outbox) {
	n.requests++
	n.requestingCriticalSection = true
	n.ourSequenceNumber = n.highestSequenceNumber + n.increments.of(n.me, n.requests)
	n.highestSequenceNumber = n.ourSequenceNumber
	for j := dme.NodeID(1); int(j) <= n.nodes; j++ {
		if j != n.me {
			n.awaitingReply.Add(j)
		}
	}
	out.Broadcast(dme.Message{Kind: kindRequest, Clock: n.ourSequenceNumber})
	n.enterIfAllReplied(out) // alone, a node awaits nobody
}

// Release is the rest of the first process.
func (n *node) Release(out *dme.Outbox) {
	n.requestingCriticalSection = false
	for _, r := range n.replyDeferred {
		out.Send(r.Node, dme.Message{Kind: kindReply, Clock: r.Clock})
	}
	n.replyDeferred = n.replyDeferred[:0]
}

// Receive is the second and the third process.
func (n *node) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if m.Kind == kindRequest {
		n.receiveRequest(dme.Stamp{Clock: m.Clock, Node: from}, out)
	} else {
		n.receiveReply(from, m.Clock, out)
	}
}

// receiveRequest is the second process.
func (n *node) receiveRequest(r dme.Stamp, out *dme.Outbox) {
	if r.Clock == 0 {
		out.Refuse("REQUEST without a sequence number")
		return
	}
	n.highestSequenceNumber = max(n.highestSequenceNumber, r.Clock)
	if !n.defers(r) {
		out.Send(r.Node, dme.Message{Kind: kindReply, Clock: r.Clock})
		return
	}
	at, deferred := slices.BinarySearchFunc(n.replyDeferred, r, byNode)
	if deferred {
		out.Refuse("REQUEST from a node whose REQUEST is deferred")
		return
	}
	n.replyDeferred = slices.Insert(n.replyDeferred, at, r)
}

// defers is the decision table of section 2.2: whether our own request has
// priority over r.
func (n *node) defers(r dme.Stamp) bool {
	return n.requestingCriticalSection && n.ourRequest().Precedes(r)
}

// receiveReply is the third process, and ends the first one's WAITFOR.
func (n *node) receiveReply(from dme.NodeID, number uint64, out *dme.Outbox) {
	if number != n.ourSequenceNumber || !n.awaitingReply.Has(from) {
		out.Refuse("REPLY that is not awaited")
		return
	}
	n.awaitingReply.Remove(from)
	n.enterIfAllReplied(out)
}

func (n *node) enterIfAllReplied(out *dme.Outbox) {
	if n.awaitingReply.Empty() {
		out.Enter(n.ourRequest())
	}
}

func (n *node) ourRequest() dme.Stamp {
	return dme.Stamp{Clock: n.ourSequenceNumber, Node: n.me}
}

func byNode(a, b dme.Stamp) int { return cmp.Compare(a.Node, b.Node) }

func (n *node) State(v *dme.Visitor) {
	v.Uint("Requests", &n.requests)
	v.Uint("Our_Sequence_Number", &n.ourSequenceNumber)
	v.Uint("Highest_Sequence_Number", &n.highestSequenceNumber)
	v.Bool("Requesting_Critical_Section", &n.requestingCriticalSection)
	v.Set("Awaiting_Reply", &n.awaitingReply)
	v.Stamps("Reply_Deferred", &n.replyDeferred)
}
