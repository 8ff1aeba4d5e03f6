package maekawa

import (
	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/collections"
)

// rules are what the options choose.
type rules struct {
	yieldAlways bool // option yield
	numbered    bool // option grants
}

func rulesOf(opt dme.Options) rules {
	return rules{yieldAlways: opt.Get("yield") == "always", numbered: opt.Get("grants") == "numbered"}
}

// node is one node: a requester and an arbiter.
type node struct {
	site
	rules

	clock uint64 // at least the clock of every message sent or received

	// The requester.
	failed   collections.MemberSet // members that sent FAILED or were relinquished, and have not sent LOCKED since
	inquired collections.MemberSet // members whose INQUIRE is still to be answered
	grants   []uint64              // numbered: for each member the number of the last LOCKED received
	own      []dme.NodeID          // S_i, which Members is unless nodes are down

	// The arbiter.
	inquiring bool   // INQUIRE has been sent for the current lock
	grant     uint64 // numbered: the number of locks so far

	failures quorum.Failures
}

func newNode(s site, r rules) *node { return &node{site: s, rules: r} }

// ready makes the requester's part, once. Most nodes of a large system only arbitrate.
func (n *node) ready() {
	if n.own != nil {
		return
	}
	n.site.ready()
	n.own = n.Members
	k := len(n.own)
	n.failed.Reset(k)
	n.inquired.Reset(k)
	if n.numbered {
		n.grants = make([]uint64, k)
	}
}

// Request is step (1).
func (n *node) Request(out *dme.Outbox) {
	n.invoke(out)
	n.HandleLocal(n.handle, out)
}

// Release is step (6).
func (n *node) Release(out *dme.Outbox) {
	n.leave(out)
	n.HandleLocal(n.handle, out)
}

// Receive handles a message of another node. The node's messages to itself then come to an end,
// since each lock of the own arbiter causes at most one INQUIRE, and a
// relinquished one goes to a more preceding REQUEST.
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
	if n.stale(from, &m) {
		return
	}
	switch m.Kind {
	case kindRequest:
		n.receiveRequest(dme.Stamp{Clock: m.Clock, Node: from}, out)
	case kindLocked:
		n.receiveLocked(n.MemberIndex(from), m.Num, out)
	case kindFailed:
		n.receiveFailed(n.MemberIndex(from), m.Req, out)
	case kindInquire:
		n.receiveInquire(n.MemberIndex(from), m.Num, out)
	case kindRelinquish:
		n.receiveRelinquish(out)
	case kindRelease:
		n.receiveRelease(from, out)
	case kindWithdraw:
		n.receiveWithdraw(from, out)
	case kindReclaim:
		n.receiveReclaim(from, m.Req, out)
	}
}

// send sends m, stamped with the clock, to a node that may be this one.
func (n *node) send(to dme.NodeID, m dme.Message, out *dme.Outbox) {
	m.Clock = n.clock
	n.Tell(to, m, out)
}

// ofGrants is the domain of the numbers of locks.
const ofGrants dme.NodeID = 1

// clocks shows the clocks of a message.
func clocks(n int, from dme.NodeID, m *dme.Message, v *dme.Visitor) {
	dme.ClockInMessages(n, from, m, v)
	v.ClockWhile(m.Num != 0, ofGrants, "", &m.Num)
}

func (n *node) State(v *dme.Visitor) {
	n.ready()
	n.failures.State(v)
	n.chooseMembers()
	v.Clock("clock", &n.clock)
	v.Stamp("request", &n.request)
	v.Bool("inside", &n.inside)
	n.locked.Show(v, "locked", n.Members)
	if !n.yieldAlways {
		n.failed.Show(v, "failed", n.Members)
	}
	if !n.yieldAlways || n.numbered {
		n.inquired.Show(v, "inquired", n.Members)
	}
	if n.numbered {
		v.ClocksOf(ofGrants, "grants", &n.grants)
	}
	v.Stamp("locking", &n.locking)
	n.waiting.Show(v, "waiting")
	v.Bool("inquiring", &n.inquiring)
	if n.numbered {
		v.ClockOf(ofGrants, "grant", &n.grant)
	}
}

// Member j is the node n.Members[j].

// invoke is step (1): send a REQUEST to every member of S_i, with a number
// greater than any that this node knows of.
func (n *node) invoke(out *dme.Outbox) {
	n.ready()
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
		return // from a substitute, about a lock of an earlier request
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

// receiveRequest is step (2): lock this node for the REQUEST r, or put r into the WAITING QUEUE and
// make another node give way.
func (n *node) receiveRequest(r dme.Stamp, out *dme.Outbox) {
	if n.failures.Recovering() { // R7: the holder of this node's lock is not known yet
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
