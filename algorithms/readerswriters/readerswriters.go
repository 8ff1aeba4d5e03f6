// Package readerswriters is the algorithm of Ricart and Agrawala for readers
// and writers: section 6.6 of TR-869 (G. Ricart, A. K. Agrawala, An Algorithm
// for Mutual Exclusion in Computer Networks, University of Maryland, 1980).
// Several readers may be in the critical section at once, a writer is in it
// alone. One rule is added to section 2.2:
//
//   - A reader, from its request to its release, never defers the REQUEST of
//     another reader; it replies at once. Writers follow the original algorithm.
//
// What that is, and is not:
//
//   - The text speaks of writers that are given priority. They are not: a
//     writer and a reader go in the order of their numbers, like any two
//     requests, and a reader that has asked first goes first. It is true that
//     readers who ask after a writer wait for it, so that a stream of readers
//     cannot shut a writer out.
//   - Readers have no order among themselves. A reader that all writers have
//     let pass, but whose last REPLY is still on its way, may see others enter
//     any number of times.
//
// Departures from the printed text: a REQUEST says whether it is a reader's,
// since its receiver must know; Highest_Sequence_Number covers the node's own
// numbers, replies are a set of nodes and no count, a REPLY names the request
// that it answers, and the reaction to an event is one atomic step. Readers
// enter without a timestamp: checks of the order of entries are about writers.
// Links need not keep order.
package readerswriters

import (
	"cmp"
	"slices"

	"dmebench/dme"
)

const (
	kindRequest dme.Kind = iota + 1 // Clock: the sequence number; Flags: who asks
	kindReply                       // Clock: the sequence number that it answers
)

// Flags of a REQUEST.
const (
	byWriter uint8 = iota
	byReader
)

// Algorithm describes the algorithm.
func Algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name:     "readers-writers",
		Title:    "Ricart–Agrawala, readers and writers",
		Citation: "G. Ricart, A. K. Agrawala: An Algorithm for Mutual Exclusion in Computer Networks, University of Maryland TR-869, 1980, section 6.6",
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
	me dme.NodeID
	n  int

	ourSequenceNumber         uint64 // of the pending request, while there is one
	highestSequenceNumber     uint64 // in any REQUEST sent or received
	requestingCriticalSection bool   // from the request to the release
	reading                   bool   // that request is a reader's

	awaitingReply dme.NodeSet // who has still to reply to our request
	replyDeferred []dme.Stamp // the requests that wait for our release, by node in ascending order
}

// Request is the first process of section 2.2 up to its WAITFOR, for a writer.
func (n *node) Request(out *dme.Outbox) { n.request(byWriter, out) }

// RequestShared is the same for a reader.
func (n *node) RequestShared(out *dme.Outbox) { n.request(byReader, out) }

func (n *node) request(who uint8, out *dme.Outbox) {
	n.requestingCriticalSection = true
	n.reading = who == byReader
	n.ourSequenceNumber = n.highestSequenceNumber + 1
	n.highestSequenceNumber = n.ourSequenceNumber
	for j := dme.NodeID(1); int(j) <= n.n; j++ {
		if j != n.me {
			n.awaitingReply.Add(j)
		}
	}
	out.Broadcast(dme.Message{Kind: kindRequest, Clock: n.ourSequenceNumber, Flags: who})
	n.enterIfAllReplied(out) // alone, a node awaits nobody
}

// Release is the rest of the first process.
func (n *node) Release(out *dme.Outbox) {
	n.requestingCriticalSection, n.reading = false, false
	for _, r := range n.replyDeferred {
		out.Send(r.Node, dme.Message{Kind: kindReply, Clock: r.Clock})
	}
	n.replyDeferred = n.replyDeferred[:0]
}

// Receive is the second and the third process.
func (n *node) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if m.Kind == kindRequest {
		n.receiveRequest(dme.Stamp{Clock: m.Clock, Node: from}, m.Flags, out)
	} else {
		n.receiveReply(from, m.Clock, out)
	}
}

// receiveRequest is the second process.
func (n *node) receiveRequest(r dme.Stamp, who uint8, out *dme.Outbox) {
	if r.Clock == 0 || who > byReader {
		out.Refuse("REQUEST without a sequence number, or by neither reader nor writer")
		return
	}
	n.highestSequenceNumber = max(n.highestSequenceNumber, r.Clock)
	if !n.defers(r, who) {
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

// defers is the decision table of section 2.2, whether our own request has
// priority over r, but for two readers.
func (n *node) defers(r dme.Stamp, who uint8) bool {
	if n.reading && who == byReader {
		return false
	}
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
	switch {
	case !n.awaitingReply.Empty():
	case n.reading:
		out.Enter(dme.Stamp{})
	default:
		out.Enter(n.ourRequest())
	}
}

func (n *node) ourRequest() dme.Stamp {
	return dme.Stamp{Clock: n.ourSequenceNumber, Node: n.me}
}

func byNode(a, b dme.Stamp) int { return cmp.Compare(a.Node, b.Node) }

func (n *node) State(v *dme.Visitor) {
	v.Uint("Our_Sequence_Number", &n.ourSequenceNumber)
	v.Uint("Highest_Sequence_Number", &n.highestSequenceNumber)
	v.Bool("Requesting_Critical_Section", &n.requestingCriticalSection)
	v.Bool("Reading", &n.reading)
	v.Set("Awaiting_Reply", &n.awaitingReply)
	v.Stamps("Reply_Deferred", &n.replyDeferred)
}
