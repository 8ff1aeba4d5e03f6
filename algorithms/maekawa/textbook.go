package maekawa

import (
	"dmebench/dme"
	"dmebench/dme/collections"
)

// textbookNode is a site of algorithm 9.5 and section 9.8.1 of Kshemkalyani and
// Singhal, Distributed Computing, as printed. Beyond what is wrong with the
// paper's text (published.go),
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

// State names the variables.
func (n *textbookNode) State(v *dme.Visitor) {
	n.literal.State(v)
	n.failed.Show(v, "failed", n.Members)
	n.yielded.Show(v, "yielded", n.Members)
}
