package maekawapublished

import "dmebench/dme"

// textbookNode is a site of algorithm 9.5 and section 9.8.1.
type textbookNode struct {
	site
	either bool // option yield

	failed  dme.NodeSet // sites that have sent FAILED for the current REQUEST
	yielded dme.NodeSet // sites that were sent a YIELD and have not sent a new REPLY
}

// Request is step (a).
func (n *textbookNode) Request(out *dme.Outbox) {
	n.failed.Clear()
	n.yielded.Clear()
	n.ask(out)
	n.handleLocal(n.handle, out)
}

// Release is step (d).
func (n *textbookNode) Release(out *dme.Outbox) {
	n.leave(out)
	n.handleLocal(n.handle, out)
}

// Receive handles a message of another site.
func (n *textbookNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	n.receive(from, m, n.handle, out)
}

func (n *textbookNode) handle(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch m.Kind {
	case kindRequest:
		n.receiveRequest(dme.Stamp{Clock: m.Clock, Node: from}, out)
	case kindLocked:
		n.yielded.Remove(from)
		n.lockedBy(from, out) // step (c)
	case kindFailed:
		n.failed.Add(from)
	case kindInquire:
		n.receiveInquire(from, out)
	case kindRelinquish:
		n.receiveYield(from, out)
	case kindRelease:
		n.relock(out) // step (e)
	}
}

// receiveRequest is step (b), and the first item of "handling deadlocks".
func (n *textbookNode) receiveRequest(r dme.Stamp, out *dme.Outbox) {
	if n.locking.IsZero() {
		n.lockFor(r, out)
		return
	}
	n.enqueue(r)
	if n.locking.Precedes(r) {
		n.send(r.Node, kindFailed, out)
	} else {
		n.send(n.locking.Node, kindInquire, out)
	}
}

// receiveInquire is the second item.
func (n *textbookNode) receiveInquire(j dme.NodeID, out *dme.Outbox) {
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

// receiveYield is the third item: as if S_k had released this site.
func (n *textbookNode) receiveYield(k dme.NodeID, out *dme.Outbox) {
	if n.locking.Node == k {
		n.enqueue(n.locking)
	}
	n.relock(out)
}

// State names the variables.
func (n *textbookNode) State(v *dme.Visitor) {
	n.state(v)
	v.Set("failed", &n.failed)
	v.Set("yielded", &n.yielded)
}
