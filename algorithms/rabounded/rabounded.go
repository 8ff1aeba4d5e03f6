package rabounded

import (
	"cmp"
	"slices"

	"dmebench/dme"
)

type system struct {
	nodes       int
	modulus     uint64
	asPublished bool
}

func (s system) Node(id dme.NodeID) dme.Node {
	return &node{me: id, system: s, awaitingReply: dme.MakeNodeSet(s.nodes)}
}

// less compares two numbers of which only the residues are known.
func (s system) less(a, b uint64) bool {
	if max(a, b)-min(a, b) >= uint64(s.nodes) {
		if a < b {
			a += s.modulus
		} else {
			b += s.modulus
		}
	}
	return a < b
}

// precedes reports whether request a has priority over b.
func (s system) precedes(a, b dme.Stamp) bool {
	return s.less(a.Clock, b.Clock) || a.Clock == b.Clock && a.Node < b.Node
}

type node struct {
	me dme.NodeID
	system

	// All numbers are residues.
	ourSequenceNumber         uint64 // of the pending request, while there is one
	highestSequenceNumber     uint64 // in any REQUEST sent or received; as published, received
	requestingCriticalSection bool   // from the request to the release

	awaitingReply dme.NodeSet // who has still to reply to our request
	replyDeferred []dme.Stamp // the requests that wait for our release, by node in ascending order
}

// Request is the first process of section 2.2 up to its WAITFOR.
func (n *node) Request(out *dme.Outbox) {
	n.requestingCriticalSection = true
	n.ourSequenceNumber = (n.highestSequenceNumber + 1) % n.modulus
	if !n.asPublished {
		n.highestSequenceNumber = n.ourSequenceNumber
	}
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
	switch {
	case m.Clock >= n.modulus:
		out.Refuse("sequence number that is no residue")
	case m.Kind == kindRequest:
		n.receiveRequest(dme.Stamp{Clock: m.Clock, Node: from}, out)
	default:
		n.receiveReply(from, m.Clock, out)
	}
}

// receiveRequest is the second process.
func (n *node) receiveRequest(r dme.Stamp, out *dme.Outbox) {
	if n.less(n.highestSequenceNumber, r.Clock) {
		n.highestSequenceNumber = r.Clock
	}
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
	return n.requestingCriticalSection && n.precedes(dme.Stamp{Clock: n.ourSequenceNumber, Node: n.me}, r)
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
		out.Enter(dme.Stamp{})
	}
}

func byNode(a, b dme.Stamp) int { return cmp.Compare(a.Node, b.Node) }

func (n *node) State(v *dme.Visitor) {
	v.Uint("Our_Sequence_Number", &n.ourSequenceNumber)
	v.Uint("Highest_Sequence_Number", &n.highestSequenceNumber)
	v.Bool("Requesting_Critical_Section", &n.requestingCriticalSection)
	v.Set("Awaiting_Reply", &n.awaitingReply)
	v.Stamps("Reply_Deferred", &n.replyDeferred)
}
