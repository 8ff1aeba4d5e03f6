package agrawalelabbadi

import (
	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/collections"
)

// node is one node: a requester, and a site that gives its permission to others.
type node struct {
	requester

	granted  dme.Stamp                // the request that has this site's permission; zero while none has
	waiting  collections.RequestQueue // the request queue without it (A1)
	inquired bool                     // Inquire has been sent for the current grant
}

// Request is step 1. Which quorum is asked while nodes are down, recovery.go says.
func (n *node) Request(out *dme.Outbox) {
	n.ask(out)
	n.HandleLocal(n.handle, out)
}

// Release is step 5, at the node that leaves.
func (n *node) Release(out *dme.Outbox) {
	n.leave(out)
	n.HandleLocal(n.handle, out)
}

// Receive handles a message of another node.
func (n *node) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if reason := n.impossible(from, &m); reason != "" {
		out.Refuse(reason)
		return
	}
	n.clock = max(n.clock, m.Clock)
	n.handle(from, m, out)
	n.HandleLocal(n.handle, out)
}

func (n *node) handle(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch m.Kind {
	case kindRequest:
		n.receiveRequest(dme.Stamp{Clock: m.Clock, Node: from}, out)
	case kindReply:
		if !n.stale(from, &m) {
			n.receiveReply(from, out)
		}
	case kindInquire:
		if !n.stale(from, &m) {
			n.receiveInquire(from, out)
		}
	case kindYield:
		n.receiveYield(out)
	case kindRelinquish:
		n.receiveRelinquish(out)
	case kindWithdraw:
		n.receiveWithdraw(from, out)
	case kindReclaim:
		n.receiveReclaim(from, m.Req, out)
	}
}

// receiveRequest is steps 2, 3 and 6.
func (n *node) receiveRequest(r dme.Stamp, out *dme.Outbox) {
	n.waiting.Insert(r)
	if n.failures.Recovering() { // A8: to whom the permission was given is not known yet
		return
	}
	if n.granted.IsZero() {
		n.grant(out)
		return
	}
	// A1: the permission is elsewhere, whoever comes. A2: it is asked for once.
	if r.Precedes(n.granted) && !n.inquired {
		n.inquired = true
		n.answer(n.granted.Node, kindInquire, out)
	}
}

// grant is step 3: permission for the most preceding request (A4, A5), if there
// is one.
func (n *node) grant(out *dme.Outbox) {
	n.granted, n.inquired = dme.Stamp{}, false
	if n.failures.Recovering() {
		return
	}
	if n.granted = n.waiting.Pop(); !n.granted.IsZero() {
		n.answer(n.granted.Node, kindReply, out)
	}
}

// receiveInquire is step 7.
func (n *node) receiveInquire(j dme.NodeID, out *dme.Outbox) {
	// A3: only while waiting, and only what is held.
	if n.pending() && n.holds(j) {
		n.yield(j, out)
	}
}

// receiveYield is step 8.
func (n *node) receiveYield(out *dme.Outbox) {
	n.waiting.Insert(n.granted)
	n.grant(out)
}

// receiveRelinquish is step 5, at a site of the quorum.
func (n *node) receiveRelinquish(out *dme.Outbox) {
	n.grant(out)
}

// impossible says why no node that keeps to the algorithm can have sent this
// message; "" where one can.
func (n *node) impossible(from dme.NodeID, m *dme.Message) string {
	if !quorum.Believable(m.Clock) && m.Kind != kindReclaim { // of which the sender may have had no message yet
		return "no such clock"
	}
	switch m.Kind {
	case kindRequest:
		if n.granted.Node == from || n.waiting.Has(from) {
			return "Request of a node whose last one has not been relinquished"
		}
		if n.own != nil && m.Flags&substitute == 0 && !n.Serves(from) {
			return "Request of a node that must not ask this one"
		}
	case kindReply:
		if !n.stale(from, m) && (!n.pending() || n.holds(from) || n.MemberIndex(from) < 0) {
			return "Reply without a request"
		}
	case kindYield:
		if n.granted.Node != from || !n.inquired {
			return "Yield of a permission that was not inquired about"
		}
	case kindRelinquish:
		if n.granted.Node != from {
			return "Relinquish of a permission that is not held"
		}
	case kindWithdraw:
		if n.granted.Node != from && !n.waiting.Has(from) {
			return "Withdraw of no request"
		}
	case kindReclaim:
		return n.impossibleReclaim(from, m.Req)
	}
	return ""
}

// QueueLength returns the length of the request queue.
func (n *node) QueueLength() int { return len(n.waiting) }

// State names the variables.
func (n *node) State(v *dme.Visitor) {
	n.state(v)
	v.Stamp("granted", &n.granted)
	n.waiting.Show(v, "queue")
	v.Bool("inquired", &n.inquired)
	n.failures.State(v)
}
