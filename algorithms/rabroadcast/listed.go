package rabroadcast

import (
	"cmp"
	"slices"

	"dmebench/dme"
)

// system is that of form=listed.
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

	awaitingReply dme.NodeSet // who has still to reply to our request
	replyDeferred []dme.Stamp // the requests that wait for our release, by node in ascending order
}

// Request is step 1.
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

// Release is step 3.
func (n *node) Release(out *dme.Outbox) {
	n.requestingCriticalSection = false
	if len(n.replyDeferred) == 0 {
		return
	}
	list := make([]uint64, 0, 2*len(n.replyDeferred))
	for _, r := range n.replyDeferred {
		list = append(list, uint64(r.Node), r.Clock)
	}
	n.replyDeferred = n.replyDeferred[:0]
	out.Broadcast(dme.Message{Kind: kindReply, Vec: list})
}

// Receive is steps 2 and 4.
func (n *node) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch {
	case m.Kind == kindRequest:
		n.receiveRequest(dme.Stamp{Clock: m.Clock, Node: from}, out)
	case len(m.Vec) == 0:
		n.receiveReply(from, m.Clock, out)
	case len(m.Vec)%2 != 0:
		out.Refuse("REPLY whose list of recipients is cut off")
	default:
		if number, listed := recipient(m.Vec, n.me); listed {
			n.receiveReply(from, number, out)
		}
	}
}

// recipient looks j up in the list of a broadcast REPLY.
func recipient(list []uint64, j dme.NodeID) (number uint64, listed bool) {
	for i := 0; i < len(list); i += 2 {
		if list[i] == uint64(j) {
			return list[i+1], true
		}
	}
	return 0, false
}

// receiveRequest is step 2.
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

// receiveReply is step 4.
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
	v.Uint("Our_Sequence_Number", &n.ourSequenceNumber)
	v.Uint("Highest_Sequence_Number", &n.highestSequenceNumber)
	v.Bool("Requesting_Critical_Section", &n.requestingCriticalSection)
	v.Set("Awaiting_Reply", &n.awaitingReply)
	v.Stamps("Reply_Deferred", &n.replyDeferred)
}
