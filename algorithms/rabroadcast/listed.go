package rabroadcast

import (
	"cmp"
	"slices"

	"dmebench/algorithms"
)

// system is that of form=listed.
type system struct{ nodes int }

func (s system) Node(id algorithms.NodeID) algorithms.Node {
	return &node{me: id, n: s.nodes, awaitingReply: algorithms.MakeNodeSet(s.nodes)}
}

type node struct {
	me algorithms.NodeID
	n  int

	ourSequenceNumber         uint64 // of the pending request, while there is one
	highestSequenceNumber     uint64 // in any REQUEST sent or received
	requestingCriticalSection bool   // from the request to the release

	awaitingReply algorithms.NodeSet // who has still to reply to our request
	replyDeferred []algorithms.Stamp // the requests that wait for our release, by node in ascending order
}

// Request is step 1.
func (n *node) Request(out *algorithms.Outbox) {
	n.requestingCriticalSection = true
	n.ourSequenceNumber = n.highestSequenceNumber + 1
	n.highestSequenceNumber = n.ourSequenceNumber
	for j := algorithms.NodeID(1); int(j) <= n.n; j++ {
		if j != n.me {
			n.awaitingReply.Add(j)
		}
	}
	out.Broadcast(algorithms.Message{Kind: kindRequest, Clock: n.ourSequenceNumber})
	n.enterIfAllReplied(out) // alone, a node awaits nobody
}

// Release is step 3.
func (n *node) Release(out *algorithms.Outbox) {
	n.requestingCriticalSection = false
	if len(n.replyDeferred) == 0 {
		return
	}
	list := make([]uint64, 0, 2*len(n.replyDeferred))
	for _, r := range n.replyDeferred {
		list = append(list, uint64(r.Node), r.Clock)
	}
	n.replyDeferred = n.replyDeferred[:0]
	out.Broadcast(algorithms.Message{Kind: kindReply, Vec: list})
}

// Receive is steps 2 and 4.
func (n *node) Receive(from algorithms.NodeID, m algorithms.Message, out *algorithms.Outbox) {
	switch {
	case m.Kind == kindRequest:
		n.receiveRequest(algorithms.Stamp{Clock: m.Clock, Node: from}, out)
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
func recipient(list []uint64, j algorithms.NodeID) (number uint64, listed bool) {
	for i := 0; i < len(list); i += 2 {
		if list[i] == uint64(j) {
			return list[i+1], true
		}
	}
	return 0, false
}

// receiveRequest is step 2.
func (n *node) receiveRequest(r algorithms.Stamp, out *algorithms.Outbox) {
	if r.Clock == 0 {
		out.Refuse("REQUEST without a sequence number")
		return
	}
	n.highestSequenceNumber = max(n.highestSequenceNumber, r.Clock)
	if !n.defers(r) {
		out.Send(r.Node, algorithms.Message{Kind: kindReply, Clock: r.Clock})
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
func (n *node) defers(r algorithms.Stamp) bool {
	return n.requestingCriticalSection && n.ourRequest().Precedes(r)
}

// receiveReply is step 4.
func (n *node) receiveReply(from algorithms.NodeID, number uint64, out *algorithms.Outbox) {
	if number != n.ourSequenceNumber || !n.awaitingReply.Has(from) {
		out.Refuse("REPLY that is not awaited")
		return
	}
	n.awaitingReply.Remove(from)
	n.enterIfAllReplied(out)
}

func (n *node) enterIfAllReplied(out *algorithms.Outbox) {
	if n.awaitingReply.Empty() {
		out.Enter(n.ourRequest())
	}
}

func (n *node) ourRequest() algorithms.Stamp {
	return algorithms.Stamp{Clock: n.ourSequenceNumber, Node: n.me}
}

func byNode(a, b algorithms.Stamp) int { return cmp.Compare(a.Node, b.Node) }

func (n *node) State(v *algorithms.Visitor) {
	v.Uint("Our_Sequence_Number", &n.ourSequenceNumber)
	v.Uint("Highest_Sequence_Number", &n.highestSequenceNumber)
	v.Bool("Requesting_Critical_Section", &n.requestingCriticalSection)
	v.Set("Awaiting_Reply", &n.awaitingReply)
	v.Stamps("Reply_Deferred", &n.replyDeferred)
}
