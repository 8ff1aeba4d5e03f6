package maekawa

import "dmebench/dme"

// receiveRequest is step (2): lock this node for the REQUEST r, or put r into
// the WAITING QUEUE and see to it that somebody gives way.
func (n *node) receiveRequest(r dme.Stamp, out *dme.Outbox) {
	if n.failures.Recovering() { // R7: for whom this node was locked is not known yet
		n.waiting.Insert(r)
		return
	}
	if n.locking.IsZero() {
		n.lockFor(r, out)
		return
	}
	head, others := dme.Stamp{}, len(n.waiting) > 0
	if others {
		head = n.waiting[0]
	}
	n.waiting.Insert(r)
	if n.locking.Precedes(r) || others && head.Precedes(r) {
		n.fail(r, out)
		return
	}
	// R1: until now the head was the most preceding of all and had no FAILED
	// (it is the one that caused the INQUIRE); now r passes it.
	if others && head.Precedes(n.locking) {
		n.fail(head, out)
	}
	if !n.inquiring {
		n.inquiring = true
		n.send(n.locking.Node, dme.Message{Kind: kindInquire, Num: n.number(n.locking.Node)}, out)
	}
}

// receiveRelinquish is step (4): the locking REQUEST goes back into the WAITING
// QUEUE, and the most preceding one comes out of it, whichever had caused the
// INQUIRE.
func (n *node) receiveRelinquish(out *dme.Outbox) {
	n.waiting.Insert(n.locking)
	n.relock(out)
}

// receiveRelease is step (7): the locking REQUEST is done.
func (n *node) receiveRelease(from dme.NodeID, out *dme.Outbox) {
	if n.failures.Expects(from) { // numbered: it has overtaken the RECLAIM of what it gives back
		n.receiveReclaim(from, dme.Stamp{}, out)
		return
	}
	n.relock(out)
}

// relock locks this node for the most preceding REQUEST in the WAITING QUEUE,
// or unlocks it.
func (n *node) relock(out *dme.Outbox) {
	n.locking, n.inquiring = dme.Stamp{}, false
	if n.failures.Recovering() {
		return
	}
	if r := n.waiting.Pop(); !r.IsZero() {
		n.lockFor(r, out)
	}
}

// lockFor marks this node locked for r and tells the requester.
func (n *node) lockFor(r dme.Stamp, out *dme.Outbox) {
	n.locking = r
	if n.numbered {
		n.grant++
	}
	n.send(r.Node, dme.Message{Kind: kindLocked, Num: n.number(r.Node)}, out)
}

// fail tells the node of the waiting REQUEST r that another one precedes it.
func (n *node) fail(r dme.Stamp, out *dme.Outbox) {
	if n.yieldAlways {
		return
	}
	m := dme.Message{Kind: kindFailed}
	if n.numbered {
		m.Req = r
	} else {
		m.Num = n.number(r.Node)
	}
	n.send(r.Node, m, out)
}
