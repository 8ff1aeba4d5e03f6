package maekawa

import (
	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/collections"
)

// This is section 4 of Maekawa 1985 as it is printed, and what it has in common with the
// textbook's version of it, below. Both can deadlock, and both can let two nodes in: they are
// negative controls, which a search must catch.
//
// If the paper leaves room it is read kindly: a deferred INQUIRE is kept for each member and
// answered at the next FAILED, and lapses with the request; a node that asks for nothing ignores an
// INQUIRE; "has received a FAILED" means, since it asked. These parts are literal and wrong:
//
//   - a REQUEST that caused an INQUIRE gets no FAILED when a still more preceding one passes it
//     (step (2)), so its node defers for ever what others ask of it;
//   - a member that was relinquished does not count as one that failed (step (3));
//   - an INQUIRE that comes after the RELEASE is ignored, unless the node has asked again by then:
//     then it is answered, for a lock that is somebody else's;
//   - a RELINQUISH and a RELEASE free the lock, whoever has it (steps (4), (7));
//   - numbers exceed those of the REQUESTs that the node has seen (step (1)), and it sees few.

// literal is what the two printed texts have in common: a node that locks all
// members of its request set. They differ in wording alone.
type literal struct {
	site
	text

	number uint64 // the highest sequence number of a REQUEST sent or received
}

// text is what a printed text says about the arrival of messages. Member j is
// the node n.Members[j].
type text interface {
	ask() // forgets what the last request has left
	receiveRequest(r dme.Stamp, out *dme.Outbox)
	receiveLocked(j int, out *dme.Outbox)
	receiveFailed(j int, out *dme.Outbox)
	receiveInquire(j int, out *dme.Outbox)
	receiveRelinquish(k dme.NodeID, out *dme.Outbox)
	receiveRelease(out *dme.Outbox)
}

// Request is step (1), (a) in the textbook: send a REQUEST to every member.
func (n *literal) Request(out *dme.Outbox) {
	n.ask()
	n.number++
	n.request = dme.Stamp{Clock: n.number, Node: n.ID}
	for _, j := range n.Members {
		n.send(j, kindRequest, out)
	}
	n.HandleLocal(n.handle, out)
}

// Release is step (6), (d) in the textbook: send a RELEASE to every member.
func (n *literal) Release(out *dme.Outbox) {
	n.request, n.inside = dme.Stamp{}, false
	n.locked.Clear()
	for _, j := range n.Members {
		n.send(j, kindRelease, out)
	}
	n.HandleLocal(n.handle, out)
}

// Receive refuses what no node can have sent, and handles the rest.
func (n *literal) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	known := n.Serves(from)
	switch m.Kind {
	case kindRequest:
		if !quorum.Believable(m.Clock) {
			out.Refuse("no such sequence number")
			return
		}
		n.number = max(n.number, m.Clock)
	case kindLocked, kindFailed, kindInquire:
		known = n.MemberIndex(from) >= 0
	}
	if !known {
		out.Refuse("the sender has nothing to do with this node's locks")
		return
	}
	n.handle(from, m, out)
	n.HandleLocal(n.handle, out)
}

func (n *literal) handle(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch m.Kind {
	case kindRequest:
		n.receiveRequest(dme.Stamp{Clock: m.Clock, Node: from}, out)
	case kindLocked:
		n.receiveLocked(n.MemberIndex(from), out)
	case kindFailed:
		n.receiveFailed(n.MemberIndex(from), out)
	case kindInquire:
		n.receiveInquire(n.MemberIndex(from), out)
	case kindRelinquish:
		n.receiveRelinquish(from, out)
	case kindRelease:
		n.receiveRelease(out)
	}
}

// send sends a message of that kind to a node that may be this one.
func (n *literal) send(to dme.NodeID, kind dme.Kind, out *dme.Outbox) {
	m := dme.Message{Kind: kind}
	if kind == kindRequest {
		m.Clock = n.request.Clock
	}
	n.Tell(to, m, out)
}

// lockedBy enters when all members are locked.
func (n *literal) lockedBy(j int, out *dme.Outbox) {
	if !n.pending() {
		return
	}
	n.locked.Add(j)
	if n.locked.Len() == len(n.Members) {
		n.inside = true
		out.Enter(n.request)
	}
}

// giveBack cancels the lock of member j.
func (n *literal) giveBack(j int, out *dme.Outbox) {
	n.locked.Remove(j)
	n.send(n.Members[j], kindRelinquish, out)
}

// lockFor locks this node for r and tells r's node; without a request it unlocks the node.
func (n *literal) lockFor(r dme.Stamp, out *dme.Outbox) {
	n.locking = r
	if !r.IsZero() {
		n.send(r.Node, kindLocked, out)
	}
}

// State names the variables that both texts have.
func (n *literal) State(v *dme.Visitor) {
	v.Clock("number", &n.number)
	v.Stamp("request", &n.request)
	v.Bool("inside", &n.inside)
	n.locked.Show(v, "locked", n.Members)
	v.Stamp("locking", &n.locking)
	n.waiting.Show(v, "waiting")
}

// paperNode is a node of Maekawa 1985, section 4.
type paperNode struct {
	literal

	failed   bool                  // a FAILED has been received for the current REQUEST
	deferred collections.MemberSet // members whose INQUIRE waits until success or failure becomes known
	inquired bool                  // INQUIRE has been sent and not been answered
}

func newPaperNode(s site) dme.Node {
	s.ready()
	n := &paperNode{literal: literal{site: s}, deferred: collections.MakeMemberSet(len(s.Members))}
	n.text = n
	return n
}

func (n *paperNode) ask() {
	n.failed = false
	n.deferred.Clear()
}

// receiveRequest is step (2).
func (n *paperNode) receiveRequest(r dme.Stamp, out *dme.Outbox) {
	if n.locking.IsZero() {
		n.lockFor(r, out)
		return
	}
	n.waiting.Insert(r)
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
func (n *paperNode) receiveInquire(j int, out *dme.Outbox) {
	switch {
	case !n.pending(): // RELEASE will answer it, or has answered it
	case n.failed:
		n.giveBack(j, out)
	default:
		n.deferred.Add(j)
	}
}

// receiveFailed is step (3) for the INQUIREs that have been deferred.
func (n *paperNode) receiveFailed(_ int, out *dme.Outbox) {
	if !n.pending() {
		return
	}
	n.failed = true
	for j := range n.deferred.All() {
		n.giveBack(j, out)
	}
	n.deferred.Clear()
}

// receiveLocked is step (5).
func (n *paperNode) receiveLocked(j int, out *dme.Outbox) { n.lockedBy(j, out) }

// receiveRelinquish is step (4).
func (n *paperNode) receiveRelinquish(_ dme.NodeID, out *dme.Outbox) {
	n.inquired = false
	if !n.locking.IsZero() {
		n.waiting.Insert(n.locking)
		n.lockFor(n.waiting.Pop(), out)
	}
}

// receiveRelease is step (7).
func (n *paperNode) receiveRelease(out *dme.Outbox) {
	n.inquired = false
	n.lockFor(n.waiting.Pop(), out)
}

func (n *paperNode) State(v *dme.Visitor) {
	n.literal.State(v)
	v.Bool("failed", &n.failed)
	n.deferred.Show(v, "deferred", n.Members)
	v.Bool("inquired", &n.inquired)
}

// textbookNode is a site of algorithm 9.5 and section 9.8.1 of Kshemkalyani and
// Singhal, Distributed Computing, as printed. Beyond what is wrong with the
// paper's text (above),
//
//   - a YIELD needs a FAILED and an earlier YIELD, so that none can be the first.
//     With yield=or one of the two is enough, which shows the other faults;
//   - an INQUIRE that cannot be answered is forgotten;
//   - FAILED compares with the granted request only, not with those that wait;
//   - several INQUIREs are sent for one grant; of two YIELDs the second revokes
//     the grant of another site.
type textbookNode struct {
	literal
	either bool // option yield

	failed  collections.MemberSet // sites that have sent FAILED for the current REQUEST
	yielded collections.MemberSet // sites that were sent a YIELD and have not sent a new REPLY
}

func newTextbookNode(s site, either bool) dme.Node {
	s.ready()
	n := &textbookNode{literal: literal{site: s}, either: either}
	n.failed, n.yielded = collections.MakeMemberSet(len(s.Members)), collections.MakeMemberSet(len(s.Members))
	n.text = n
	return n
}

func (n *textbookNode) ask() {
	n.failed.Clear()
	n.yielded.Clear()
}

// receiveRequest is step (b), and the first item of "handling deadlocks".
func (n *textbookNode) receiveRequest(r dme.Stamp, out *dme.Outbox) {
	if n.locking.IsZero() {
		n.lockFor(r, out)
		return
	}
	n.waiting.Insert(r)
	if n.locking.Precedes(r) {
		n.send(r.Node, kindFailed, out)
	} else {
		n.send(n.locking.Node, kindInquire, out)
	}
}

// receiveLocked is step (c).
func (n *textbookNode) receiveLocked(j int, out *dme.Outbox) {
	n.yielded.Remove(j)
	n.lockedBy(j, out)
}

func (n *textbookNode) receiveFailed(j int, _ *dme.Outbox) { n.failed.Add(j) }

// receiveInquire is the second item.
func (n *textbookNode) receiveInquire(j int, out *dme.Outbox) {
	if n.pending() && n.mayYield() {
		n.yielded.Add(j)
		n.giveBack(j, out)
	}
}

// mayYield: "provided S_k has received a FAILED message from a site in its
// request set and if it sent a YIELD to any of these sites, but has not received
// a new REPLY from it".
func (n *textbookNode) mayYield() bool {
	if n.either {
		return !n.failed.Empty() || !n.yielded.Empty()
	}
	for k := range n.failed.All() {
		if n.yielded.Has(k) {
			return true
		}
	}
	return false
}

// receiveRelinquish is the third item: a YIELD counts as if S_k had released
// this site.
func (n *textbookNode) receiveRelinquish(k dme.NodeID, out *dme.Outbox) {
	if n.locking.Node == k {
		n.waiting.Insert(n.locking)
	}
	n.lockFor(n.waiting.Pop(), out)
}

// receiveRelease is step (e).
func (n *textbookNode) receiveRelease(out *dme.Outbox) { n.lockFor(n.waiting.Pop(), out) }

func (n *textbookNode) State(v *dme.Visitor) {
	n.literal.State(v)
	n.failed.Show(v, "failed", n.Members)
	n.yielded.Show(v, "yielded", n.Members)
}
