package agrawalelabbadi

import (
	"slices"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
)

// This file is what a node does when others fail or come back, and when it comes
// back itself: repairs A6 to A8.

// Down purges what the failed node had here, and puts other nodes in its place in the current
// quorum (section 9.9.4).
func (n *node) Down(p dme.NodeID, out *dme.Outbox) {
	over := n.failures.Down(p)
	// A6: its request is gone, and its critical section over.
	n.waiting.Remove(p)
	switch {
	case n.granted.Node == p:
		n.grant(out)
	case over:
		n.endGrace(out)
	}
	if k := n.MemberIndex(p); k >= 0 && n.pending() {
		n.replied.Remove(k) // has forgotten
		n.changeQuorum(out)
	}
	n.HandleLocal(n.handle, out)
}

// Up tells a node that has come back whether this one holds its permission (A8), and asks it if
// this one still needs its permission.
func (n *node) Up(p dme.NodeID, out *dme.Outbox) {
	n.failures.Up(p)
	m := dme.Message{Kind: kindReclaim, Clock: n.clock}
	asked := n.MemberIndex(p) >= 0
	if n.inside && asked {
		m.Req = n.request
	}
	out.Send(p, m)
	if n.pending() {
		if asked { // in a quorum that was kept because there was no other
			n.askFor(p, out)
		}
		if !n.failures.NoneOf(n.Members) {
			n.changeQuorum(out)
		}
	}
	n.HandleLocal(n.handle, out)
}

// Restart starts over after a crash: the site grants nothing until all others have said what they
// hold (A8).
func (n *node) Restart(*dme.Outbox) { n.failures.Restart(n.nodes(), n.ID) }

// changeQuorum asks for a request that is pending the quorum that remains without the failed
// nodes: with the same timestamp and the replies that it has. If there is none, the request waits
// until a node comes back.
func (n *node) changeQuorum(out *dme.Outbox) {
	q, ok := n.quorum()
	if !ok {
		return
	}
	old := n.Members
	for _, j := range old {
		if !slices.Contains(q, j) && n.failures.IsUp(j) {
			n.send(j, kindWithdraw, out)
			n.failures.Withdraw(j)
		}
	}
	n.Members = q
	n.replied.Move(old, q)
	for _, j := range q {
		if !slices.Contains(old, j) {
			n.askFor(j, out)
		}
	}
	n.enterIfGranted(out)
}

// receiveWithdraw forgets the request of a node that asks other sites instead.
func (n *node) receiveWithdraw(j dme.NodeID, out *dme.Outbox) {
	n.failures.Withdrew(j)
	if n.granted.Node == j {
		n.grant(out)
		return
	}
	n.waiting.Remove(j)
}

// stale reports whether an answer of site j has crossed a Withdraw (A7).
func (n *node) stale(j dme.NodeID, m *dme.Message) bool { return m.Num < n.failures.Withdrawn(j) }

// receiveReclaim notes what node j holds of the permission that this site had
// given before it failed.
func (n *node) receiveReclaim(j dme.NodeID, held dme.Stamp, out *dme.Outbox) {
	if !held.IsZero() {
		n.granted = held
	}
	if n.failures.Heard(j) {
		n.endGrace(out)
	}
}

// endGrace gives the permission to the most preceding request, unless a node in
// its critical section has it. That one will not yield, and is not asked to.
func (n *node) endGrace(out *dme.Outbox) {
	if n.granted.IsZero() {
		n.grant(out)
	}
}

func (n *node) impossibleReclaim(j dme.NodeID, held dme.Stamp) string {
	switch {
	case held.IsZero():
	case held.Node != j || !quorum.Believable(held.Clock):
		return "no such request"
	case !n.failures.Expects(j) || !n.granted.IsZero():
		return "Reclaim of a permission that is not lost"
	}
	return ""
}

// quorum is the function GetQuorum of algorithm 9.6: a quorum of nodes that are
// up, towards the leaf to which the path without failures leads. On the other
// paths path=random draws, too, and is of the same mind as long as the request
// is the same.
func (n *requester) quorum() ([]dme.NodeID, bool) {
	if n.own != nil {
		return n.paths.Substitute(n.ID, n.Members, n.failures.IsUp)
	}
	return quorum.ChooseTreeQuorum(n.leaves.nodes, n.leaves.turns(n.ID, n.requests), n.failures.IsUp)
}

// nodes returns how many there are.
func (n *requester) nodes() int {
	if n.own != nil {
		return n.paths.Nodes()
	}
	return n.leaves.nodes
}

// askFor sends the Request to site j, unless it is down.
func (n *requester) askFor(j dme.NodeID, out *dme.Outbox) {
	n.Ask(j, dme.Message{Kind: kindRequest, Clock: n.request.Clock}, n.own, &n.failures, out)
}

// answer sends a site's message about the request of node j, with the number of
// requests that j has withdrawn here.
func (n *node) answer(j dme.NodeID, kind dme.Kind, out *dme.Outbox) {
	n.Tell(j, dme.Message{Kind: kind, Clock: n.clock, Num: n.failures.WithdrawnBy(j)}, out)
}
