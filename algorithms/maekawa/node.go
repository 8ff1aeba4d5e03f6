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

func newNode(s site, r rules) *node {
	k := len(s.Members)
	n := &node{site: s, rules: r, own: s.Members, failed: collections.MakeMemberSet(k), inquired: collections.MakeMemberSet(k)}
	if r.numbered {
		n.grants = make([]uint64, len(s.Members))
	}
	return n
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

// Receive handles a message of another node. What the node then says to itself
// ends: each lock of the own arbiter causes at most one INQUIRE, and a
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
	if to == n.ID {
		n.TellSelf(&m)
		return
	}
	out.Send(to, m)
}

// ofGrants is the domain of the numbers of locks.
const ofGrants dme.NodeID = 1

// clocks shows the clocks of a message.
func clocks(n int, from dme.NodeID, m *dme.Message, v *dme.Visitor) {
	dme.ClockInMessages(n, from, m, v)
	v.ClockWhile(m.Num != 0, ofGrants, "", &m.Num)
}

// State names the variables.
func (n *node) State(v *dme.Visitor) {
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
