package maekawa

import (
	"slices"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/collections"
)

// This file is what a node does when others fail or come back, and when it comes back itself: R5 to
// R7, which are not in the paper.

// Down purges what the failed node had here, and puts other nodes into its place.
func (n *node) Down(p dme.NodeID, out *dme.Outbox) {
	n.ready()
	over := n.failures.Down(p)
	// R5: its REQUEST is gone, and its critical section over.
	n.waiting.Remove(p)
	held := n.locking.Node == p
	if held {
		n.locking = dme.Stamp{}
	}
	switch {
	case over:
		n.endGrace(out)
	case held:
		n.relock(out)
	}
	if k := n.MemberIndex(p); k >= 0 {
		n.unlocked(k)
		if n.pending() {
			n.changeMembers(out)
		}
	}
	n.HandleLocal(n.handle, out)
}

// Up tells a node that has come back whether this one holds its lock (R7), and asks it if this one
// still needs its lock.
func (n *node) Up(p dme.NodeID, out *dme.Outbox) {
	n.ready()
	n.failures.Up(p)
	k := n.MemberIndex(p)
	m := dme.Message{Kind: kindReclaim}
	if n.inside && k >= 0 {
		m.Req = n.request
	}
	n.send(p, m, out)
	if n.pending() {
		if k >= 0 { // a member that was kept because there was no other quorum
			n.askFor(p, out)
		}
		if !n.failures.NoneOf(n.Members) {
			n.changeMembers(out)
		}
	}
	n.HandleLocal(n.handle, out)
}

// Restart starts over after a crash: the node is locked for no request until all others have said
// what they hold (R7).
func (n *node) Restart(*dme.Outbox) { n.failures.Restart(n.sets.Nodes(), n.ID) }

// unlocked forgets what member k has said: it has forgotten, too.
func (n *node) unlocked(k int) {
	if !n.inside {
		n.locked.Remove(k)
	}
	n.failed.Remove(k)
	n.inquired.Remove(k)
	if n.numbered {
		n.grants[k] = 0
	}
}

// chooseMembers makes the substitutes the members, S_i if there are none.
func (n *node) chooseMembers() {
	n.Members = n.own
	if len(n.failures.Substitutes) > 0 {
		n.Members = n.failures.Substitutes
	}
}

// findMembers chooses the members of a new request: S_i, or a quorum without the
// failed nodes, or S_i if there is none.
func (n *node) findMembers() {
	n.failures.Substitutes = nil
	if !n.numbered && !n.failures.NoneOf(n.own) {
		n.failures.Substitutes, _ = n.sets.Substitute(n.ID, n.own, n.failures.IsUp)
	}
	n.chooseMembers()
	n.locked.Reset(len(n.Members))
	n.failed.Reset(len(n.Members))
	if !n.numbered {
		n.inquired.Reset(len(n.Members))
	}
}

// changeMembers asks for a request that is pending a quorum without the failed nodes: with the same
// number, and keeping the locks that it has (R6). If there is none, the request waits until a node
// comes back.
func (n *node) changeMembers(out *dme.Outbox) {
	if n.numbered {
		return
	}
	q, ok := n.sets.Substitute(n.ID, n.Members, n.failures.IsUp)
	if !ok {
		return
	}
	old := n.Members
	for _, j := range old {
		if !slices.Contains(q, j) && n.failures.IsUp(j) {
			n.send(j, dme.Message{Kind: kindWithdraw}, out)
			n.failures.Withdraw(j)
		}
	}
	n.failures.Substitutes = q
	n.chooseMembers()
	for _, members := range []*collections.MemberSet{&n.locked, &n.failed, &n.inquired} {
		members.Move(old, q)
	}
	for _, j := range q {
		if !slices.Contains(old, j) {
			n.askFor(j, out)
		}
	}
	n.enterIfLocked(out)
}

// askFor sends the current REQUEST to node j, unless it is down.
func (n *node) askFor(j dme.NodeID, out *dme.Outbox) {
	n.Ask(j, dme.Message{Kind: kindRequest, Clock: n.request.Clock}, n.own, &n.failures, out)
}

// receiveWithdraw forgets the REQUEST of a node that asks others instead.
func (n *node) receiveWithdraw(j dme.NodeID, out *dme.Outbox) {
	n.failures.Withdrew(j)
	if n.locking.Node == j {
		n.relock(out)
		return
	}
	n.waiting.Remove(j)
}

// stale reports whether an arbiter's answer has crossed a WITHDRAW (R6).
func (n *node) stale(from dme.NodeID, m *dme.Message) bool {
	switch m.Kind {
	case kindLocked, kindFailed, kindInquire:
		return !n.numbered && m.Num < n.failures.Withdrawn(from)
	}
	return false
}

// number returns what LOCKED, FAILED and INQUIRE for node j are numbered with:
// the grant, or how often j has withdrawn a REQUEST here (R6).
func (n *node) number(j dme.NodeID) uint64 {
	if n.numbered {
		return n.grant
	}
	return n.failures.WithdrawnBy(j)
}

// receiveReclaim notes what node j holds of the lock that this node had given
// before it failed (R7).
func (n *node) receiveReclaim(j dme.NodeID, held dme.Stamp, out *dme.Outbox) {
	if !n.failures.Expects(j) {
		return // numbered: its RELEASE came first
	}
	if !held.IsZero() {
		n.locking = held
	}
	if n.failures.Heard(j) {
		n.endGrace(out)
	}
}

// endGrace handles the REQUESTs that have come in the grace period. A node that
// has reclaimed the lock is in its critical section: there is no use in an
// INQUIRE.
func (n *node) endGrace(out *dme.Outbox) {
	waiting := n.waiting
	n.waiting = nil
	n.inquiring = !n.locking.IsZero()
	for _, r := range waiting {
		n.receiveRequest(r, out)
	}
}

func (n *node) impossibleReclaim(j dme.NodeID, held dme.Stamp) string {
	switch {
	case held.IsZero():
	case held.Node != j || !quorum.Believable(held.Clock):
		return "no such request"
	case n.numbered && !n.failures.Expects(j): // its RELEASE came first
	case !n.failures.Expects(j) || !n.locking.IsZero():
		return "RECLAIM of a lock that is not lost"
	}
	return ""
}
