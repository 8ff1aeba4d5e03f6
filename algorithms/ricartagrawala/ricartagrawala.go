// Package ricartagrawala is the algorithm of G. Ricart and A. K. Agrawala, An
// Algorithm for Mutual Exclusion in Computer Networks, University of Maryland
// Technical Report TR-869, 1980, section 2 (also Communications of the ACM
// 24(1), 1981).
//
// A node enters its critical section after all other nodes have replied to its
// request. Section 2.2 has three processes:
//
//   - The first invokes mutual exclusion: it chooses a number above any that
//     it has seen and sends REQUEST to everybody; enters when everybody has
//     replied; and afterwards sends the replies that it owes.
//   - The second receives a REQUEST. It replies at once, unless it is itself
//     requesting with priority: the smaller number, or the smaller node number
//     among equals. Then it defers the reply.
//   - The third receives a REPLY and counts it.
//
// Departures from the printed text:
//
//   - The three processes share variables under a semaphore, but the decision
//     to defer is recorded after the semaphore is given back, and the loop that
//     sends the deferred replies does not take it: a reply deferred in between
//     is never sent. Here each process's reaction to one event is one atomic
//     step.
//   - Highest_Sequence_Number covers the numbers that the node sent itself, as
//     the comment in the text says and its code does not. Without it a node can
//     use a number twice, and the bound of the appendix on overtaking fails.
//   - Outstanding_Reply_Count is the set Awaiting_Reply of section 7.4, and a
//     REPLY names the request that it answers by its number: a reply that is
//     not awaited is refused, instead of being taken for another node's.
//   - Reply_Deferred holds the number of each deferred request, for that REPLY.
//
// Links need not keep order (section 1; the textbook's section 9.4 says FIFO,
// which is not needed), but must neither lose nor duplicate messages.
package ricartagrawala

import (
	"slices"

	"dmebench/dme"
)

const (
	kindRequest dme.Kind = iota + 1 // Clock: the sequence number
	kindReply                       // Clock: the sequence number that it answers
)

// Algorithm describes the algorithm of Ricart and Agrawala.
func Algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name:     "ricart-agrawala",
		Title:    "Ricart–Agrawala",
		Citation: "G. Ricart, A. K. Agrawala: An Algorithm for Mutual Exclusion in Computer Networks, University of Maryland TR-869, 1980, section 2.2",
		Class:    dme.Permission,
		Needs:    dme.Always(dme.Needs{Reliable: true}),
		Kinds:    []string{"REQUEST", "REPLY"},
		Claims:   claims(),
		Prepare: func(c dme.Config) (dme.System, error) {
			return system{nodes: c.Nodes}, nil
		},
	}
}

type system struct{ nodes int }

func (s system) Node(id dme.NodeID) dme.Node {
	return &node{me: id, n: s.nodes, awaitingReply: dme.MakeNodeSet(s.nodes)}
}

type node struct {
	me dme.NodeID // this node's number
	n  int        // the number of nodes

	ourSequenceNumber         uint64 // of the pending request, while there is one
	highestSequenceNumber     uint64 // in any REQUEST sent or received
	requestingCriticalSection bool   // from the request to the release

	awaitingReply dme.NodeSet // who has still to reply to our request
	replyDeferred []dme.Stamp // the requests that wait for our release, by node in ascending order
}

// Request is the first process up to its WAITFOR.
func (n *node) Request(out *dme.Outbox) {
	n.requestingCriticalSection = true
	n.ourSequenceNumber = n.highestSequenceNumber + 1
	n.highestSequenceNumber = n.ourSequenceNumber
	for j := dme.NodeID(1); int(j) <= n.n; j++ {
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
	at, deferred := n.find(r.Node)
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

// find returns where j is, or belongs, in replyDeferred.
func (n *node) find(j dme.NodeID) (at int, deferred bool) {
	low, high := 0, len(n.replyDeferred)
	for low < high {
		if middle := int(uint(low+high) >> 1); n.replyDeferred[middle].Node < j {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, low < len(n.replyDeferred) && n.replyDeferred[low].Node == j
}

func (n *node) State(v *dme.Visitor) {
	v.Uint("Our_Sequence_Number", &n.ourSequenceNumber)
	v.Uint("Highest_Sequence_Number", &n.highestSequenceNumber)
	v.Bool("Requesting_Critical_Section", &n.requestingCriticalSection)
	v.Set("Awaiting_Reply", &n.awaitingReply)
	v.Stamps("Reply_Deferred", &n.replyDeferred)
}
