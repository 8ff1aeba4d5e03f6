package raring

import (
	"cmp"
	"slices"

	"dmebench/dme"
)

// node is what both forms have in common.
type node struct {
	me dme.NodeID
	system

	ourSequenceNumber         uint64 // of the pending request, while there is one
	highestSequenceNumber     uint64 // in any REQUEST sent or received
	requestingCriticalSection bool   // from the request to the release
	inside                    bool   // the critical section

	deferred []dme.Stamp // the requests that wait for our release, by node in ascending order
}

// request is step 1. It reports whether there is a ring to send round.
func (n *node) request(out *dme.Outbox) bool {
	n.requestingCriticalSection = true
	n.ourSequenceNumber = n.highestSequenceNumber + 1
	n.highestSequenceNumber = n.ourSequenceNumber
	if n.nodes == 1 {
		return false
	}
	out.Send(n.successor(n.me), dme.Message{Kind: kindRequest, Req: n.ourRequest()})
	return true
}

// plausible reports whether a REQUEST may have come from the predecessor, and
// refuses it if not.
func (n *node) plausible(from dme.NodeID, m *dme.Message, out *dme.Outbox) bool {
	r := m.Req
	switch {
	case n.successor(from) != n.me:
		out.Refuse("REQUEST that did not come from the predecessor")
	case r.Clock == 0 || r.Node < 1 || int(r.Node) > n.nodes:
		out.Refuse("REQUEST of nobody")
	case r.Node == n.me && (r != n.ourRequest() || !n.requestingCriticalSection || n.inside):
		out.Refuse("REQUEST of our own that is not on its way")
	default:
		return true
	}
	return false
}

// defers is the decision table of section 2.2: whether our own request has
// priority over r.
func (n *node) defers(r dme.Stamp) bool {
	return n.requestingCriticalSection && n.ourRequest().Precedes(r)
}

// keep remembers a request until the release.
func (n *node) keep(r dme.Stamp, out *dme.Outbox) bool {
	at, found := slices.BinarySearchFunc(n.deferred, r, func(a, b dme.Stamp) int { return cmp.Compare(a.Node, b.Node) })
	if found {
		out.Refuse("REQUEST of a node whose REQUEST is deferred")
		return false
	}
	n.deferred = slices.Insert(n.deferred, at, r)
	return true
}

func (n *node) enter(out *dme.Outbox) {
	n.inside = true
	out.Enter(n.ourRequest())
}

// leave ends the request; what is deferred is the caller's to answer.
func (n *node) leave() { n.requestingCriticalSection, n.inside = false, false }

func (n *node) ourRequest() dme.Stamp {
	return dme.Stamp{Clock: n.ourSequenceNumber, Node: n.me}
}

func (n *node) State(v *dme.Visitor) {
	v.Uint("Our_Sequence_Number", &n.ourSequenceNumber)
	v.Uint("Highest_Sequence_Number", &n.highestSequenceNumber)
	v.Bool("Requesting_Critical_Section", &n.requestingCriticalSection)
	v.Bool("Inside", &n.inside)
	v.Stamps("Deferred", &n.deferred)
}
