package raring

import "dmebench/dme"

// notesNode is a node of form=notes.
type notesNode struct {
	node

	home         bool        // our REQUEST has gone round
	deferredBy   dme.NodeSet // who has noted a deferral of our request and not yet replied
	repliedFirst dme.NodeSet // whose REPLY was here before the REQUEST with its note
}

// Request is step 1.
func (n *notesNode) Request(out *dme.Outbox) {
	n.home = false
	if !n.request(out) {
		n.enter(out)
	}
}

// Receive is steps 2 and 4.
func (n *notesNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if m.Kind == kindReply {
		n.receiveReply(from, m.Clock, out)
		return
	}
	if !n.plausible(from, &m, out) {
		return
	}
	if !n.notesPlausible(&m) {
		out.Refuse("REQUEST with a note by nobody")
		return
	}
	if m.Req.Node == n.me {
		n.receiveHome(m.Vec, out)
		return
	}
	n.highestSequenceNumber = max(n.highestSequenceNumber, m.Req.Clock)
	if n.defers(m.Req) {
		if !n.keep(m.Req, out) {
			return
		}
		m.Vec = append(m.Vec, uint64(n.me)) // «DEFERRED by node me»
	}
	out.Send(n.successor(n.me), dme.Message{Kind: kindRequest, Req: m.Req, Vec: m.Vec})
}

// notesPlausible reports whether the notes are those of nodes that the REQUEST
// has passed, in their order on the ring.
func (n *notesNode) notesPlausible(m *dme.Message) bool {
	last := 0
	for _, by := range m.Vec {
		if by < 1 || by > uint64(n.nodes) {
			return false
		}
		hops := n.hops(m.Req.Node, dme.NodeID(by))
		if hops <= last || m.Req.Node != n.me && hops >= n.hops(m.Req.Node, n.me) {
			return false
		}
		last = hops
	}
	return true
}

// hops is how far it is from one node to another, going round.
func (n *notesNode) hops(from, to dme.NodeID) int {
	return (int(to) - int(from) + n.nodes) % n.nodes
}

// receiveHome is step 4 when the REQUEST is home.
func (n *notesNode) receiveHome(notes []uint64, out *dme.Outbox) {
	if n.home {
		out.Refuse("REQUEST of our own that has been home")
		return
	}
	n.home = true
	for _, by := range notes {
		if j := dme.NodeID(by); n.repliedFirst.Has(j) {
			n.repliedFirst.Remove(j)
		} else {
			n.deferredBy.Add(j)
		}
	}
	n.enterIfAllReplied(out)
}

// receiveReply is step 4 when a REPLY arrives.
func (n *notesNode) receiveReply(from dme.NodeID, number uint64, out *dme.Outbox) {
	awaited := n.requestingCriticalSection && !n.inside && number == n.ourSequenceNumber
	switch {
	case !awaited || n.repliedFirst.Has(from) || n.home && !n.deferredBy.Has(from):
		out.Refuse("REPLY that is not awaited")
	case !n.home:
		n.repliedFirst.Add(from)
	default:
		n.deferredBy.Remove(from)
		n.enterIfAllReplied(out)
	}
}

func (n *notesNode) enterIfAllReplied(out *dme.Outbox) {
	if n.deferredBy.Empty() {
		n.repliedFirst.Clear() // empty, unless somebody replied without a note
		n.enter(out)
	}
}

// Release is step 3.
func (n *notesNode) Release(out *dme.Outbox) {
	n.leave()
	for _, r := range n.deferred {
		out.Send(r.Node, dme.Message{Kind: kindReply, Clock: r.Clock})
	}
	n.deferred = n.deferred[:0]
}

func (n *notesNode) State(v *dme.Visitor) {
	n.node.State(v)
	v.Bool("Home", &n.home)
	v.Set("Deferred_By", &n.deferredBy)
	v.Set("Replied_First", &n.repliedFirst)
}
