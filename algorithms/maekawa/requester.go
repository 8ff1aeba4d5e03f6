package maekawa

import "dmebench/dme"

// Member j is the node n.Members[j].

// invoke is step (1): send a REQUEST to every member of S_i, with a number
// greater than any that this node knows of.
func (n *node) invoke(out *dme.Outbox) {
	n.clock++
	n.request = dme.Stamp{Clock: n.clock, Node: n.ID}
	if n.failures.Any() || len(n.failures.Substitutes) > 0 {
		n.findMembers()
	}
	for _, j := range n.Members {
		n.askFor(j, out)
	}
}

// receiveInquire is step (3): member j asks for its lock back, on behalf of a
// more preceding REQUEST.
func (n *node) receiveInquire(j int, grant uint64, out *dme.Outbox) {
	if j < 0 {
		return // of a substitute, about a lock of an earlier request
	}
	if n.numbered && grant > n.grants[j] {
		// It has overtaken the LOCKED that it asks about. The member will not
		// ask again, so it is kept until that LOCKED arrives.
		n.inquired.Add(j)
		return
	}
	// R2: act only while waiting and holding j's lock for the current request;
	// any other INQUIRE has crossed the RELEASE that answers it.
	if !n.pending() || !n.locked.Has(j) || n.numbered && grant != n.grants[j] {
		return
	}
	if n.yieldAlways || !n.failed.Empty() {
		n.relinquish(j, out)
		return
	}
	// R4: it is not yet known whether all members can be locked; answer at the
	// next FAILED.
	n.inquired.Add(j)
}

// receiveFailed is step (3) for a node that has been inquired before it knew:
// member j has a more preceding REQUEST.
func (n *node) receiveFailed(j int, about dme.Stamp, out *dme.Outbox) {
	if n.numbered && (about != n.request || n.locked.Has(j)) {
		return // the LOCKED that followed it has overtaken it
	}
	n.failed.Add(j)
	// R4: every INQUIRE that was deferred can be answered now. (Of a member that
	// has not locked this node, it has overtaken its LOCKED.)
	for k := range n.inquired.All() {
		if n.locked.Has(k) {
			n.relinquish(k, out)
		}
	}
}

// relinquish cancels the LOCKED received from member j.
func (n *node) relinquish(j int, out *dme.Outbox) {
	m := dme.Message{Kind: kindRelinquish}
	if n.numbered {
		m.Num = n.grants[j]
	}
	n.locked.Remove(j)
	n.inquired.Remove(j)
	if !n.yieldAlways {
		// R3: j will lock a more preceding REQUEST, as if it had said FAILED.
		n.failed.Add(j)
	}
	n.send(n.Members[j], m, out)
}

// receiveLocked is step (5): enter when all members are locked.
func (n *node) receiveLocked(j int, grant uint64, out *dme.Outbox) {
	n.locked.Add(j)
	n.failed.Remove(j) // R3: j has not failed this node any more
	if n.numbered {
		n.grants[j] = grant
	}
	if n.enterIfLocked(out) {
		return
	}
	if n.inquired.Has(j) { // numbered: its INQUIRE came first
		n.inquired.Remove(j)
		n.receiveInquire(j, grant, out)
	}
}

// enterIfLocked is the rest of step (5).
func (n *node) enterIfLocked(out *dme.Outbox) bool {
	if n.locked.Len() < len(n.Members) {
		return false
	}
	n.inside = true
	n.inquired.Clear() // R4: RELEASE will answer them
	out.Enter(n.request)
	return true
}

// leave is step (6): send a RELEASE to every member of S_i.
func (n *node) leave(out *dme.Outbox) {
	m := dme.Message{Kind: kindRelease}
	if n.numbered {
		m.Req = n.request
	}
	n.request, n.inside = dme.Stamp{}, false
	n.locked.Clear()
	for _, j := range n.Members {
		if n.failures.IsUp(j) {
			n.send(j, m, out)
		}
	}
}
