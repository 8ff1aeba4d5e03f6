package maekawa

import (
	"slices"

	"dmebench/dme"
)

// node is one node: a requester and an arbiter.
type node struct {
	*system
	id      dme.NodeID
	members []dme.NodeID // S_i, ascending
	served  []dme.NodeID // the nodes in whose request sets this one is, ascending

	clock uint64 // at least the clock of every message sent or received

	// The requester.
	request  dme.Stamp   // the current REQUEST; zero while there is none
	inside   bool        // in the critical section
	locked   dme.NodeSet // members that are locked for the current REQUEST
	failed   dme.NodeSet // members that sent FAILED or were relinquished, and have not sent LOCKED since
	inquired dme.NodeSet // members whose INQUIRE is still to be answered
	grants   []uint64    // numbered: for each member the number of the last LOCKED received

	// The arbiter.
	locking   dme.Stamp   // the locking REQUEST; zero while unlocked
	waiting   []dme.Stamp // the WAITING QUEUE, the most preceding REQUEST first
	inquiring bool        // INQUIRE has been sent for the current lock
	grant     uint64      // numbered: the number of locks so far

	// What the node says to itself waits here for the end of the handler, so
	// that handlers never nest. Empty between events, hence not part of the state.
	local []dme.Message
}

// Request is step (1).
func (n *node) Request(out *dme.Outbox) {
	n.invoke(out)
	n.handleLocal(out)
}

// Release is step (6).
func (n *node) Release(out *dme.Outbox) {
	n.leave(out)
	n.handleLocal(out)
}

// Receive handles a message of another node.
func (n *node) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if reason := n.impossible(from, &m); reason != "" {
		out.Refuse(reason)
		return
	}
	n.clock = max(n.clock, m.Clock)
	n.handle(from, m, out)
	n.handleLocal(out)
}

func (n *node) handle(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch m.Kind {
	case kindRequest:
		n.receiveRequest(dme.Stamp{Clock: m.Clock, Node: from}, out)
	case kindLocked:
		n.receiveLocked(from, m.Num, out)
	case kindFailed:
		n.receiveFailed(from, m.Req, out)
	case kindInquire:
		n.receiveInquire(from, m.Num, out)
	case kindRelinquish:
		n.receiveRelinquish(out)
	case kindRelease:
		n.receiveRelease(out)
	}
}

// send sends m, stamped with the clock, to a node that may be this one.
func (n *node) send(to dme.NodeID, m dme.Message, out *dme.Outbox) {
	m.Clock = n.clock
	if to == n.id {
		n.local = append(n.local, m)
		return
	}
	out.Send(to, m)
}

// handleLocal handles what the node has said to itself, in order, until it has
// nothing more to say. That ends: each lock of the own arbiter causes at most
// one INQUIRE, and a relinquished one goes to a more preceding REQUEST.
func (n *node) handleLocal(out *dme.Outbox) {
	for i := 0; i < len(n.local); i++ {
		n.handle(n.id, n.local[i], out)
	}
	n.local = n.local[:0]
}

// memberIndex returns the position of a member in S_i, or −1.
func (n *node) memberIndex(id dme.NodeID) int {
	if i, ok := slices.BinarySearch(n.members, id); ok {
		return i
	}
	return -1
}

// QueueLength returns the length of the WAITING QUEUE.
func (n *node) QueueLength() int { return len(n.waiting) }

// State names the variables.
func (n *node) State(v *dme.Visitor) {
	v.Uint("clock", &n.clock)
	v.Stamp("request", &n.request)
	v.Bool("inside", &n.inside)
	v.Set("locked", &n.locked)
	if !n.yieldAlways {
		v.Set("failed", &n.failed)
	}
	if !n.yieldAlways || n.numbered {
		v.Set("inquired", &n.inquired)
	}
	if n.numbered {
		v.Uints("grants", &n.grants)
	}
	v.Stamp("locking", &n.locking)
	v.Stamps("waiting", &n.waiting)
	v.Bool("inquiring", &n.inquiring)
	if n.numbered {
		v.Uint("grant", &n.grant)
	}
}
