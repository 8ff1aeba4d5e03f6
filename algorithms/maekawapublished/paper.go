package maekawapublished

import "dmebench/dme"

// paperNode is a node of Maekawa 1985, section 4.
type paperNode struct {
	site

	failed   bool        // a FAILED has been received for the current REQUEST
	deferred dme.NodeSet // members whose INQUIRE waits until success or failure becomes known
	inquired bool        // INQUIRE has been sent and not been answered
}

// Request is step (1).
func (n *paperNode) Request(out *dme.Outbox) {
	n.failed = false
	n.deferred.Clear()
	n.ask(out)
	n.handleLocal(n.handle, out)
}

// Release is step (6).
func (n *paperNode) Release(out *dme.Outbox) {
	n.leave(out)
	n.handleLocal(n.handle, out)
}

// Receive handles a message of another node.
func (n *paperNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	n.receive(from, m, n.handle, out)
}

func (n *paperNode) handle(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch m.Kind {
	case kindRequest:
		n.receiveRequest(dme.Stamp{Clock: m.Clock, Node: from}, out)
	case kindLocked:
		n.lockedBy(from, out) // step (5)
	case kindFailed:
		n.receiveFailed(out)
	case kindInquire:
		n.receiveInquire(from, out)
	case kindRelinquish:
		n.receiveRelinquish(out)
	case kindRelease:
		n.receiveRelease(out)
	}
}

// receiveRequest is step (2).
func (n *paperNode) receiveRequest(r dme.Stamp, out *dme.Outbox) {
	if n.locking.IsZero() {
		n.lockFor(r, out)
		return
	}
	n.enqueue(r)
	if n.locking.Precedes(r) || n.waiting[0].Precedes(r) {
		n.send(r.Node, kindFailed, out)
		return
	}
	if !n.inquired {
		n.inquired = true
		n.send(n.locking.Node, kindInquire, out)
	}
}

// receiveInquire is step (3).
func (n *paperNode) receiveInquire(j dme.NodeID, out *dme.Outbox) {
	switch {
	case !n.pending(): // RELEASE will answer it, or has answered it
	case n.failed:
		n.giveBack(j, out)
	default:
		n.deferred.Add(j)
	}
}

// receiveFailed is step (3) for the INQUIREs that have been deferred.
func (n *paperNode) receiveFailed(out *dme.Outbox) {
	if !n.pending() {
		return
	}
	n.failed = true
	for j := range n.deferred.All() {
		n.giveBack(j, out)
	}
	n.deferred.Clear()
}

// receiveRelinquish is step (4).
func (n *paperNode) receiveRelinquish(out *dme.Outbox) {
	n.inquired = false
	if !n.locking.IsZero() {
		n.enqueue(n.locking)
		n.relock(out)
	}
}

// receiveRelease is step (7).
func (n *paperNode) receiveRelease(out *dme.Outbox) {
	n.inquired = false
	n.relock(out)
}

// State names the variables.
func (n *paperNode) State(v *dme.Visitor) {
	n.state(v)
	v.Bool("failed", &n.failed)
	v.Set("deferred", &n.deferred)
	v.Bool("inquired", &n.inquired)
}
