// Package raimplicit is the implicit reply: the modification of the algorithm of
// Ricart and Agrawala in section 6.1 of TR-869 (G. Ricart, A. K. Agrawala, An
// Algorithm for Mutual Exclusion in Computer Networks, University of Maryland,
// 1980). A reply carries one bit. Where transmission times have a bound, silence
// can carry it:
//
//  1. A node that asks chooses a number above any that it has seen, sends
//     REQUEST to all others and starts to wait.
//  2. A node that receives a REQUEST and has priority (it is requesting itself,
//     with the smaller number, or among equals the smaller node number) defers:
//     it answers DEFERRED. A node that does not defer says nothing.
//  3. When a request has been on its way, and an answer could have come back, a
//     node that has not said DEFERRED has replied.
//  4. A node that leaves sends an explicit REPLY to everybody whom it deferred.
//  5. A node enters when the wait is over and every node that said DEFERRED has
//     sent its REPLY.
//
// The wait of step 3 is one longest round trip, in two legs of the bound on a
// transmission: after the first, the REQUEST has arrived everywhere; after the
// second, so has every DEFERRED. It is as long for a node that nobody hinders:
// the saving in messages is paid for with the difference between the longest
// round trip and a usual one.
//
// Departures from the printed text, and what it leaves open:
//
//   - Links need not keep order, so that a REPLY may overtake the DEFERRED that
//     it follows. Whoever counts «deferred, then replied» waits for ever; here a
//     balance is kept for each node.
//   - A deferral costs two messages, the DEFERRED and the later REPLY. The text
//     counts one: its 2(N−1) is the most for requests that are all made at once,
//     since of two nodes only one defers the other. Under saturation every
//     request is deferred by everybody, and costs 3(N−1).
//   - Highest_Sequence_Number covers the node's own numbers.
//
// The links must deliver every message, within the bound; if one is lost or late
// its silence is taken for permission, and two nodes enter.
package raimplicit

import (
	"cmp"
	"slices"
	"time"

	"dmebench/dme"
)

const (
	kindRequest  dme.Kind = iota + 1 // Clock: the sequence number
	kindDeferred                     // Clock: the sequence number that it answers
	kindReply                        // Clock: the sequence number that it answers
)

// waited is the timer of a node's wait.
const waited dme.TimerID = 1

// legs of a round trip: the way there and the way back.
const legs = 2

type system struct {
	nodes     int
	bound     time.Duration // on the transmission of a message
	broadcast bool          // the REQUEST is one transmission
}

func (s system) Node(id dme.NodeID) dme.Node {
	return &node{
		me: id, system: s,
		deferredBy:   dme.MakeNodeSet(s.nodes),
		repliedFirst: dme.MakeNodeSet(s.nodes),
	}
}

type node struct {
	me dme.NodeID
	system

	ourSequenceNumber         uint64 // of the pending request, while there is one
	highestSequenceNumber     uint64 // in any REQUEST sent or received
	requestingCriticalSection bool   // from the request to the release
	inside                    bool   // the critical section

	legsToWait   uint64      // of the round trip after which silence is a reply
	deferredBy   dme.NodeSet // who has said DEFERRED and not yet REPLY
	repliedFirst dme.NodeSet // whose REPLY has overtaken its DEFERRED

	replyDeferred []dme.Stamp // the requests that wait for our release, by node in ascending order
}

// Request is step 1.
func (n *node) Request(out *dme.Outbox) {
	n.requestingCriticalSection = true
	n.ourSequenceNumber = n.highestSequenceNumber + 1
	n.highestSequenceNumber = n.ourSequenceNumber
	if n.nodes == 1 {
		n.enterIfPermitted(out)
		return
	}
	n.sendRequest(out)
	// After the REQUESTs: the wait counts from when they are on their way.
	n.legsToWait = legs
	out.SetTimer(waited, n.bound)
}

func (n *node) sendRequest(out *dme.Outbox) {
	m := dme.Message{Kind: kindRequest, Clock: n.ourSequenceNumber}
	if n.broadcast {
		out.Broadcast(m)
		return
	}
	for j := dme.NodeID(1); int(j) <= n.nodes; j++ {
		if j != n.me {
			out.Send(j, m)
		}
	}
}

// Timeout is step 3.
func (n *node) Timeout(_ dme.TimerID, out *dme.Outbox) {
	n.legsToWait--
	if n.legsToWait > 0 {
		out.SetTimer(waited, n.bound)
		return
	}
	n.enterIfPermitted(out)
}

// Release is step 4.
func (n *node) Release(out *dme.Outbox) {
	n.requestingCriticalSection, n.inside = false, false
	for _, r := range n.replyDeferred {
		out.Send(r.Node, dme.Message{Kind: kindReply, Clock: r.Clock})
	}
	n.replyDeferred = n.replyDeferred[:0]
}

// Receive is steps 2 and 5.
func (n *node) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch m.Kind {
	case kindRequest:
		n.receiveRequest(dme.Stamp{Clock: m.Clock, Node: from}, out)
	case kindDeferred:
		n.receiveDeferred(from, m.Clock, out)
	case kindReply:
		n.receiveReply(from, m.Clock, out)
	}
}

// receiveRequest is step 2.
func (n *node) receiveRequest(r dme.Stamp, out *dme.Outbox) {
	if r.Clock == 0 {
		out.Refuse("REQUEST without a sequence number")
		return
	}
	n.highestSequenceNumber = max(n.highestSequenceNumber, r.Clock)
	if !n.defers(r) {
		return // silence is the reply
	}
	at, deferred := slices.BinarySearchFunc(n.replyDeferred, r, byNode)
	if deferred {
		out.Refuse("REQUEST from a node whose REQUEST is deferred")
		return
	}
	n.replyDeferred = slices.Insert(n.replyDeferred, at, r)
	out.Send(r.Node, dme.Message{Kind: kindDeferred, Clock: r.Clock})
}

// defers is the decision table of section 2.2: whether our own request has
// priority over r.
func (n *node) defers(r dme.Stamp) bool {
	return n.requestingCriticalSection && n.ourRequest().Precedes(r)
}

func (n *node) receiveDeferred(from dme.NodeID, number uint64, out *dme.Outbox) {
	switch {
	case !n.pending(number) || n.deferredBy.Has(from):
		out.Refuse("DEFERRED that no pending request explains")
	case n.repliedFirst.Has(from):
		n.repliedFirst.Remove(from)
	default:
		n.deferredBy.Add(from)
	}
}

func (n *node) receiveReply(from dme.NodeID, number uint64, out *dme.Outbox) {
	switch {
	case !n.pending(number) || n.repliedFirst.Has(from):
		out.Refuse("REPLY that is not awaited")
	case n.deferredBy.Has(from):
		n.deferredBy.Remove(from)
		n.enterIfPermitted(out)
	default:
		n.repliedFirst.Add(from) // its DEFERRED is still to come
	}
}

// pending reports whether our request of that number waits.
func (n *node) pending(number uint64) bool {
	return n.requestingCriticalSection && !n.inside && number == n.ourSequenceNumber
}

// enterIfPermitted is step 5.
func (n *node) enterIfPermitted(out *dme.Outbox) {
	if n.legsToWait > 0 || !n.deferredBy.Empty() {
		return
	}
	n.inside = true
	n.repliedFirst.Clear() // empty where the bound holds
	out.Enter(n.ourRequest())
}

func (n *node) ourRequest() dme.Stamp {
	return dme.Stamp{Clock: n.ourSequenceNumber, Node: n.me}
}

func byNode(a, b dme.Stamp) int { return cmp.Compare(a.Node, b.Node) }

func (n *node) State(v *dme.Visitor) {
	v.Uint("Our_Sequence_Number", &n.ourSequenceNumber)
	v.Uint("Highest_Sequence_Number", &n.highestSequenceNumber)
	v.Bool("Requesting_Critical_Section", &n.requestingCriticalSection)
	v.Bool("Inside", &n.inside)
	v.Uint("Legs_To_Wait", &n.legsToWait)
	v.Set("Deferred_By", &n.deferredBy)
	v.Set("Replied_First", &n.repliedFirst)
	v.Stamps("Reply_Deferred", &n.replyDeferred)
}
