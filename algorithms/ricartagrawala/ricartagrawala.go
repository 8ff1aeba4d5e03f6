// Package ricartagrawala is the algorithm of G. Ricart and A. K. Agrawala, An Algorithm for Mutual
// Exclusion in Computer Networks, University of Maryland Technical Report TR-869, 1980 (also
// Communications of the ACM 24(1), 1981), with the modifications of its section 6, each in a file
// of its own: implicit.go (6.1), broadcast.go (6.2), ring.go (6.3), bounded.go (6.4), priority.go
// (6.5), readers.go (6.6), and its section 7 on nodes that fail, return, join and leave, in the
// files that begin with robust. Literal texts are in published.go. A modification takes over what
// it leaves as it is in section 2, which this file holds. The modification of Carvalho and
// Roucairol, in which permissions last, is in lasting.go.
//
// A node enters its critical section after all other nodes have replied to its request. Section 2.2
// has three processes:
//
//   - The first invokes mutual exclusion: it chooses a number above any that it has seen and sends
//     REQUEST to all others; enters when all have replied; and afterwards sends the replies that it
//     owes.
//   - The second receives a REQUEST. It replies at once, unless it is itself requesting with
//     priority: the smaller number, or the smaller node number among equals. Then it defers the
//     reply.
//   - The third receives a REPLY and counts it.
//
// Departures from the printed text, here and in the modifications:
//
//   - The three processes share variables under a semaphore, but the decision to defer is recorded
//     after the semaphore is given back, and the loop that sends the deferred replies does not take
//     it: a reply deferred in between is never sent. Here each process's reaction to one event is
//     one atomic step.
//   - Highest_Sequence_Number covers the numbers that the node sent itself, as the comment in the
//     text says and its code does not. Without it a node can use a number twice, and the bound of
//     the appendix on overtaking fails.
//   - Outstanding_Reply_Count is the set Awaiting_Reply of section 7.4, and a REPLY names the
//     request that it answers by its number: a reply that is not awaited is refused, instead of
//     being taken for another node's.
//   - Reply_Deferred holds the number of each deferred request, for that REPLY.
//
// Links need not keep order (section 1; the textbook's section 9.4 says FIFO, which is not needed),
// but must neither lose nor duplicate messages.
package ricartagrawala

import (
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/collections"
)

const (
	// Clock: the sequence number. Ring: Req: whose it is and its number; Vec: the nodes that have
	// noted a deferral. Readers: Flags: reader or writer.
	kindRequest dme.Kind = iota + 1
	// Clock: the sequence number that it answers. Broadcast: Vec: node, number,
	// node, number, …
	kindReply
)

// Algorithm describes the algorithm of section 2.
func Algorithm() *dme.Algorithm {
	a := describe("ricart-agrawala", "Ricart–Agrawala", "2.2")
	a.Description = "A node asks all others for permission and enters when all have replied. A node that is inside, or that has asked " +
		"earlier itself, defers its reply until it has left; so a reply is a release as well, and an entry costs exactly 2(N-1) " +
		"messages under any load. Entries come in the order of the timestamps, a handover takes one delay, and the work is the " +
		"same at every node. A good choice for up to some ten nodes, and where fairness matters. It does not survive the " +
		"failure of any node."
	a.Claims = claim.Lazy(claims)
	a.Invariants = invariants[*node]()
	a.Gauges = []dme.Gauge{
		{Quantity: EntriesAfterProcessing.ID, Begin: newAfterProcessing},
		{Quantity: LaterFirst.ID, Begin: laterFirst}, {Quantity: TieLaterFirst.ID, Begin: tieLaterFirst},
	}
	a.Wanted = dme.OfNode(func(n *node) bool { return len(n.replyDeferred) > 0 })
	a.Prepare = dme.Unshared(func(n int, id dme.NodeID) dme.Node {
		node := newNode(n, id)
		return &node
	})
	return a
}

// describe says what the algorithms of all sections have in common.
func describe(name, title, section string) *dme.Algorithm {
	return &dme.Algorithm{
		Name:  name,
		Title: title,
		Citation: "G. Ricart, A. K. Agrawala: An Algorithm for Mutual Exclusion in Computer Networks, " +
			"University of Maryland TR-869, 1980, section " + section,
		Class: dme.Permission,
		Needs: dme.Always(dme.Needs{Reliable: true}),
		Kinds: []string{"REQUEST", "REPLY"},

		Waits:  dme.OfNode(waiter.Waits),
		Clocks: dme.ClockInMessages,
	}
}

// waiter is a node of any section.
type waiter interface{ Waits() []dme.Wait }

// variables are those that the three processes share in every section.
type variables struct {
	me dme.NodeID // this node's number
	n  int        // the number of nodes

	ourSequenceNumber         uint64 // of the pending request, while there is one
	highestSequenceNumber     uint64 // in any REQUEST sent or received
	requestingCriticalSection bool   // from the request to the release

	replyDeferred collections.Deferred // the requests that wait for our release
}

// choose begins a request with a number, which exceeds any that was seen.
func (n *variables) choose(number uint64) {
	n.requestingCriticalSection = true
	n.ourSequenceNumber = number
	n.highestSequenceNumber = number
}

func (n *variables) ourRequest() dme.Stamp {
	return dme.Stamp{Clock: n.ourSequenceNumber, Node: n.me}
}

// defers is the decision table of section 2.2: whether our own request has
// priority over r.
func (n *variables) defers(r dme.Stamp) bool {
	return n.requestingCriticalSection && n.ourRequest().Precedes(r)
}

// keep defers the answer to r until the release. It reports false, and refuses r, if one to its
// node is deferred already.
func (n *variables) keep(r dme.Stamp, out *dme.Outbox) bool {
	added := n.replyDeferred.Add(r)
	if !added {
		out.Refuse("REQUEST from a node whose REQUEST is deferred")
	}
	return added
}

// release ends the request and sends the replies that are owed.
func (n *variables) release(reply dme.Kind, out *dme.Outbox) {
	n.requestingCriticalSection = false
	for _, r := range n.replyDeferred {
		out.Send(r.Node, dme.Message{Kind: reply, Clock: r.Clock})
	}
	n.replyDeferred.Clear()
}

func (n *variables) show(v *dme.Visitor) {
	v.ClockWhile(n.requestingCriticalSection, dme.None, "Our_Sequence_Number", &n.ourSequenceNumber)
	v.Clock("Highest_Sequence_Number", &n.highestSequenceNumber)
	v.Bool("Requesting_Critical_Section", &n.requestingCriticalSection)
}

// node is a node of section 2.
type node struct {
	variables
	awaitingReply collections.NodeSet // nodes that have yet to reply to our request
}

func newNode(n int, id dme.NodeID) node {
	return node{variables: variables{me: id, n: n}, awaitingReply: collections.MakeNodeSet(n)}
}

// Request is the first process up to its WAITFOR.
func (n *node) Request(out *dme.Outbox) {
	if n.ask(dme.Message{Kind: kindRequest, Clock: n.highestSequenceNumber + 1}, out) {
		out.Enter(n.ourRequest())
	}
}

// ask sends a REQUEST to all others, and reports whether no reply must be awaited.
func (n *node) ask(request dme.Message, out *dme.Outbox) bool {
	n.choose(request.Clock)
	n.awaitingReply.AddOthers(n.n, n.me)
	out.Broadcast(request)
	return n.awaitingReply.Empty()
}

// Release is the rest of the first process.
func (n *node) Release(out *dme.Outbox) { n.release(kindReply, out) }

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
	n.answer(r, n.defers(r), out)
}

// answer ends the second process: it defers the reply to r, or sends it.
func (n *node) answer(r dme.Stamp, deferred bool, out *dme.Outbox) {
	if deferred {
		n.keep(r, out)
		return
	}
	out.Send(r.Node, dme.Message{Kind: kindReply, Clock: r.Clock})
}

// receiveReply is the third process, and ends the first one's WAITFOR.
func (n *node) receiveReply(from dme.NodeID, number uint64, out *dme.Outbox) {
	if n.isLastReply(from, number, out) {
		out.Enter(n.ourRequest())
	}
}

// isLastReply counts a REPLY, and reports whether all have replied.
func (n *node) isLastReply(from dme.NodeID, number uint64, out *dme.Outbox) bool {
	if number != n.ourSequenceNumber || !n.awaitingReply.Has(from) {
		out.Refuse("REPLY that is not awaited")
		return false
	}
	n.awaitingReply.Remove(from)
	return n.awaitingReply.Empty()
}

func (n *node) State(v *dme.Visitor) {
	n.show(v)
	n.awaitingReply.Show(v, "Awaiting_Reply")
	n.replyDeferred.Show(v, "Reply_Deferred")
}
