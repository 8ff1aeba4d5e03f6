package ricartagrawala

import (
	"slices"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/collections"
)

// CarvalhoRoucairol describes the algorithm of O. S. F. Carvalho and G. Roucairol, On Mutual
// Exclusion in Computer Networks, technical correspondence, Communications of the ACM 26(2), 1983,
// pages 146–147: that of Ricart and Agrawala, in which a permission, once given, lasts until it is
// asked back.
//
// Of any two nodes, at most one has the other's permission. A node enters when it has the
// permission of all others; afterwards it keeps those that have not been asked for, and needs no
// message to use them again.
//
//  1. A node that invokes mutual exclusion chooses a number above any that it has seen and sends
//     REQUEST to the nodes whose permission it lacks.
//  2. A node that receives a REQUEST and is executing, or is requesting with priority (the smaller
//     number, or the smaller node number among equals), defers it.
//  3. Otherwise it replies, and lacks the sender's permission from then on. If it is itself
//     requesting and had that permission, it asks for it again at once, with the number that its
//     request has had all along: a new number would let others pass it for ever.
//  4. A node that receives a REPLY has the sender's permission. When it lacks none, it enters.
//  5. A node that leaves replies to the deferred requests, and lacks the permissions of those nodes
//     from then on.
//
// Details that the correspondence leaves to the algorithm of Ricart and Agrawala, and that are
// decided here:
//
//   - At the beginning no node has another's permission.
//   - Highest_Sequence_Number covers the numbers that the node sent itself.
//   - A REPLY names the request that it answers by its number, and permissions are a set of nodes,
//     not a count.
//
// Links need not keep order. A REQUEST can then overtake a REPLY of its sender; but the sender has
// seen the receiver's pending number before, so that its own has no priority and is deferred until
// the REPLY is there. Loss and duplication are not tolerated.
//
// Entries are not in the order of numbers: a node that has all permissions enters without
// announcing its number, and clocks meet only where messages flow.
func CarvalhoRoucairol() *dme.Algorithm {
	return &dme.Algorithm{
		Name:  "carvalho-roucairol",
		Title: "Carvalho–Roucairol",
		Description: "Ricart-Agrawala with permissions that last: a reply is good until its giver asks for it back. A node that enters again " +
			"and again, while nobody else does, needs no message at all. An entry costs between 0 and 2(N-1) messages: few when a " +
			"few nodes do most of the asking, and as many as with Ricart-Agrawala when all do. A handover takes one delay. Entries " +
			"are not in timestamp order. Good for uneven load.",
		Citation:   "O. S. F. Carvalho, G. Roucairol: On Mutual Exclusion in Computer Networks, CACM 26(2), 1983, pages 146–147",
		Class:      dme.Permission,
		Dynamic:    true,
		Needs:      dme.Always(dme.Needs{Reliable: true}),
		Kinds:      []string{"REQUEST", "REPLY"},
		Claims:     claim.Lazy(lastingClaims),
		Invariants: lastingInvariants(),
		Waits:      dme.OfNode(waiter.Waits),
		Prepare:    dme.Unshared(newLastingNode),
		Clocks:     dme.ClockInMessages,
	}
}

type lastingNode struct {
	me dme.NodeID // this node's number

	ourSequenceNumber     uint64 // of the pending request, while there is one
	highestSequenceNumber uint64 // in any REQUEST sent or received
	requesting            bool   // waiting for permissions
	executing             bool   // the critical section

	lacking       collections.NodeSet  // nodes whose permission is missing; while this node waits, it has asked them
	replyDeferred collections.Deferred // the requests that wait for our release
}

func newLastingNode(n int, id dme.NodeID) dme.Node {
	node := &lastingNode{me: id, lacking: collections.MakeNodeSet(n)}
	node.lacking.AddOthers(n, id)
	return node
}

// Request is step 1.
func (n *lastingNode) Request(out *dme.Outbox) {
	n.requesting = true
	n.ourSequenceNumber = n.highestSequenceNumber + 1
	n.highestSequenceNumber = n.ourSequenceNumber
	for j := range n.lacking.All() {
		n.ask(j, out)
	}
	n.enterIfPermitted(out)
}

// Release is step 5.
func (n *lastingNode) Release(out *dme.Outbox) {
	n.executing = false
	for _, r := range n.replyDeferred {
		n.permit(r, out)
	}
	n.replyDeferred.Clear()
}

func (n *lastingNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if m.Kind == kindRequest {
		n.receiveRequest(dme.Stamp{Clock: m.Clock, Node: from}, out)
	} else {
		n.receiveReply(from, m.Clock, out)
	}
}

// receiveRequest is steps 2 and 3.
func (n *lastingNode) receiveRequest(r dme.Stamp, out *dme.Outbox) {
	if r.Clock == 0 {
		out.Refuse("REQUEST without a sequence number")
		return
	}
	n.highestSequenceNumber = max(n.highestSequenceNumber, r.Clock)
	if n.executing || n.requesting && n.ourRequest().Precedes(r) {
		if !n.replyDeferred.Add(r) {
			out.Refuse("REQUEST from a node whose REQUEST is deferred")
		}
		return
	}
	had := !n.lacking.Has(r.Node)
	n.permit(r, out)
	if n.requesting && had {
		n.ask(r.Node, out)
	}
}

// receiveReply is step 4.
func (n *lastingNode) receiveReply(from dme.NodeID, number uint64, out *dme.Outbox) {
	if !n.requesting || number != n.ourSequenceNumber || !n.lacking.Has(from) {
		out.Refuse("REPLY that is not awaited")
		return
	}
	n.lacking.Remove(from)
	n.enterIfPermitted(out)
}

func (n *lastingNode) enterIfPermitted(out *dme.Outbox) {
	if n.lacking.Empty() {
		n.requesting, n.executing = false, true
		out.Enter(n.ourRequest())
	}
}

// ask sends the pending request to j.
func (n *lastingNode) ask(j dme.NodeID, out *dme.Outbox) {
	out.Send(j, dme.Message{Kind: kindRequest, Clock: n.ourSequenceNumber})
}

// permit gives our permission to r's node, and with it up that node's.
func (n *lastingNode) permit(r dme.Stamp, out *dme.Outbox) {
	n.lacking.Add(r.Node)
	out.Send(r.Node, dme.Message{Kind: kindReply, Clock: r.Clock})
}

func (n *lastingNode) ourRequest() dme.Stamp {
	return dme.Stamp{Clock: n.ourSequenceNumber, Node: n.me}
}

func (n *lastingNode) State(v *dme.Visitor) {
	v.ClockWhile(n.requesting || n.executing, dme.None, "Our_Sequence_Number", &n.ourSequenceNumber)
	v.Clock("Highest_Sequence_Number", &n.highestSequenceNumber)
	v.Bool("Requesting", &n.requesting)
	v.Bool("Executing", &n.executing)
	n.lacking.Show(v, "Lacking")
	n.replyDeferred.Show(v, "Reply_Deferred")
}

// Waits names those whose permission a requesting node lacks.
func (n *lastingNode) Waits() []dme.Wait {
	return dme.WaitIf(n.requesting, "REPLY", slices.Collect(n.lacking.All())...)
}
