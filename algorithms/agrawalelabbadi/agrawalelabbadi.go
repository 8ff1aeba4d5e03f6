package agrawalelabbadi

import (
	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/collections"
)

// node is one node: a requester, and a site that gives its permission to others.
type node struct {
	requester

	granted  dme.Stamp                // the request that has this site's permission; zero while none has
	waiting  collections.RequestQueue // the request queue without it (A1)
	inquired bool                     // Inquire has been sent for the current grant
}

func newNode(r requester) dme.Node {
	n := &node{requester: r}
	n.text = n
	return n
}

func (n *node) handle(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch m.Kind {
	case kindRequest:
		n.receiveRequest(dme.Stamp{Clock: m.Clock, Node: from}, out)
	case kindReply:
		if !n.stale(from, &m) {
			n.receiveReply(from, out)
		}
	case kindInquire:
		if !n.stale(from, &m) {
			n.receiveInquire(from, out)
		}
	case kindYield:
		n.receiveYield(out)
	case kindRelinquish:
		n.receiveRelinquish(out)
	case kindWithdraw:
		n.receiveWithdraw(from, out)
	case kindReclaim:
		n.receiveReclaim(from, m.Req, out)
	}
}

// receiveRequest is steps 2, 3 and 6.
func (n *node) receiveRequest(r dme.Stamp, out *dme.Outbox) {
	n.waiting.Insert(r)
	if n.failures.Recovering() { // A8: the holder of the permission is not known yet
		return
	}
	if n.granted.IsZero() {
		n.grant(out)
		return
	}
	// A1: the permission is elsewhere, whatever arrives. A2: ask for it once.
	if r.Precedes(n.granted) && !n.inquired {
		n.inquired = true
		n.answer(n.granted.Node, kindInquire, out)
	}
}

// grant is step 3: permission for the most preceding request (A4, A5), if there
// is one.
func (n *node) grant(out *dme.Outbox) {
	n.granted, n.inquired = dme.Stamp{}, false
	if n.failures.Recovering() {
		return
	}
	if n.granted = n.waiting.Pop(); !n.granted.IsZero() {
		n.answer(n.granted.Node, kindReply, out)
	}
}

// receiveInquire is step 7.
func (n *node) receiveInquire(j dme.NodeID, out *dme.Outbox) {
	// A3: only while waiting, and only what is held.
	if n.pending() && n.holds(j) {
		n.yield(j, out)
	}
}

// receiveYield is step 8.
func (n *node) receiveYield(out *dme.Outbox) {
	n.waiting.Insert(n.granted)
	n.grant(out)
}

// receiveRelinquish is step 5, at a site of the quorum.
func (n *node) receiveRelinquish(out *dme.Outbox) {
	n.grant(out)
}

// impossible says why no node that keeps to the algorithm can have sent this message; "" if one
// can.
func (n *node) impossible(from dme.NodeID, m dme.Message) string {
	if !quorum.Believable(m.Clock) && m.Kind != kindReclaim { // the sender may have had no message about it yet
		return "no such clock"
	}
	switch m.Kind {
	case kindRequest:
		if n.granted.Node == from || n.waiting.Has(from) {
			return "Request of a node whose last one has not been relinquished"
		}
		if n.own != nil && m.Flags&quorum.Substitute == 0 && !n.Serves(from) {
			return "Request of a node that must not ask this one"
		}
	case kindReply:
		if !n.stale(from, &m) && (!n.pending() || n.holds(from) || n.MemberIndex(from) < 0) {
			return "Reply without a request"
		}
	case kindYield:
		if n.granted.Node != from || !n.inquired {
			return "Yield of a permission that was not inquired about"
		}
	case kindRelinquish:
		if n.granted.Node != from {
			return "Relinquish of a permission that is not held"
		}
	case kindWithdraw:
		if n.granted.Node != from && !n.waiting.Has(from) {
			return "Withdraw of no request"
		}
	case kindReclaim:
		return n.impossibleReclaim(from, m.Req)
	}
	return ""
}

func (n *node) QueueLength() int { return len(n.waiting) }

func (n *node) State(v *dme.Visitor) {
	n.state(v)
	v.Stamp("granted", &n.granted)
	n.waiting.Show(v, "queue")
	v.Bool("inquired", &n.inquired)
	n.failures.State(v)
}

// requester is what a node has for its own requests, in the repaired algorithm
// and in the printed one: a quorum, and the replies of its members.
type requester struct {
	text

	quorum.Site                // Members is the quorum of the current request
	own         []dme.NodeID   // path=self: its quorum, ascending
	paths       *quorum.System // path=self: the quorums of all nodes
	leaves      leaves         // path=random

	clock    uint64                // at least the clock of every message sent or received
	requests uint64                // made so far: the number of the last one
	request  dme.Stamp             // the current one; zero while there is none
	inside   bool                  // in the critical section
	replied  collections.MemberSet // members whose permission it has

	failures quorum.Failures // of the repaired algorithm
}

// text is what one of the two says about messages.
type text interface {
	handle(from dme.NodeID, m dme.Message, out *dme.Outbox)
	// impossible says why no node can have sent a message; "" if one can.
	impossible(from dme.NodeID, m dme.Message) string // by value, or every message would escape
}

// Request is step 1. Which quorum is asked while nodes are down, recovery.go says.
func (n *requester) Request(out *dme.Outbox) {
	n.ask(out)
	n.HandleLocal(n.handle, out)
}

// Release is step 5, at the node that leaves.
func (n *requester) Release(out *dme.Outbox) {
	n.leave(out)
	n.HandleLocal(n.handle, out)
}

func (n *requester) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if reason := n.impossible(from, m); reason != "" {
		out.Refuse(reason)
		return
	}
	n.clock = max(n.clock, m.Clock)
	n.handle(from, m, out)
	n.HandleLocal(n.handle, out)
}

func (n *requester) pending() bool { return !n.request.IsZero() && !n.inside }

// holds reports whether the node has the permission of site j.
func (n *requester) holds(j dme.NodeID) bool {
	k := n.MemberIndex(j)
	return k >= 0 && n.replied.Has(k)
}

// ask is step 1: send a Request to the sites of a quorum.
func (n *requester) ask(out *dme.Outbox) {
	n.clock++
	n.requests++
	n.request = dme.Stamp{Clock: n.clock, Node: n.ID}
	if n.own != nil {
		n.Members = append(n.Members[:0], n.own...)
	} else {
		n.Members = quorum.AppendTreePath(n.Members[:0], n.leaves.draw(n.ID, n.requests))
	}
	if !n.failures.NoneOf(n.Members) {
		if q, ok := n.quorum(); ok {
			n.Members = q
		}
	}
	n.replied.Reset(len(n.Members))
	for _, j := range n.Members {
		n.askFor(j, out)
	}
}

// receiveReply is step 4: enter with the permission of the whole quorum. That of
// a site outside it does not count.
func (n *requester) receiveReply(j dme.NodeID, out *dme.Outbox) {
	k := n.MemberIndex(j)
	if k < 0 {
		return
	}
	n.replied.Add(k)
	n.enterIfGranted(out)
}

// enterIfGranted is the rest of step 4.
func (n *requester) enterIfGranted(out *dme.Outbox) {
	if n.replied.Len() == len(n.Members) {
		n.inside = true
		out.Enter(n.request)
	}
}

// leave is step 5: send a Relinquish to the sites of the quorum.
func (n *requester) leave(out *dme.Outbox) {
	n.request, n.inside = dme.Stamp{}, false
	for _, j := range n.Members {
		if n.failures.IsUp(j) {
			n.send(j, kindRelinquish, out)
		}
	}
	n.Members = n.Members[:0]
	n.replied.Reset(0)
}

// yield gives back the permission of site j, if it has it (step 7).
func (n *requester) yield(j dme.NodeID, out *dme.Outbox) {
	if k := n.MemberIndex(j); k >= 0 {
		n.replied.Remove(k)
	}
	n.send(j, kindYield, out)
}

// send sends a message of that kind, stamped with the clock, to a node that may
// be this one.
func (n *requester) send(to dme.NodeID, kind dme.Kind, out *dme.Outbox) {
	n.Tell(to, dme.Message{Kind: kind, Clock: n.clock}, out)
}

func (n *requester) state(v *dme.Visitor) {
	v.Clock("clock", &n.clock)
	if n.own == nil {
		v.Uint("requests", &n.requests)
	}
	v.Stamp("request", &n.request)
	v.Bool("inside", &n.inside)
	v.Nodes("quorum", &n.Members)
	n.replied.Show(v, "replied", n.Members)
}

// Multicasts counts what is sent where a message to several sites counts once.
var Multicasts = claim.Quantity{ID: "multicasts-per-cs", Name: "transmissions per CS with a multicast facility"}

// multicastClaims lists what a multicast facility changes: Request and Relinquish go to all K−1
// others of a quorum at once, each of which replies.
func multicastClaims() claim.List {
	const improves = section + "9.9: a multicast facility will improve the performance"
	return claim.List{
		// A site alone sends nothing.
		Multicasts.Is("K+1 with a multicast facility, K = log2(n+1)", claim.Light, improves).
			Where(func(s dme.Setting) bool { return equalPaths(s) && s.Nodes > 1 }),
		// As many if there are two others in a quorum.
		Multicasts.AtMost("fewer than 3(K−1), without one", claim.Light, improves).
			Where(func(s dme.Setting) bool { return equalPaths(s) && pathsOf(s).Max > 3 }),
	}
}

// multicasts counts equal messages of one step once.
type multicasts struct {
	step          map[string]bool // what has been sent in this step
	form          []byte
	sent, entries int
}

func newMulticasts(dme.Setting) dme.Meter { return &multicasts{step: make(map[string]bool)} }

func (m *multicasts) Note(x *dme.Event) {
	switch x.Kind {
	case dme.Send:
		if m.form = dme.AppendMessage(m.form[:0], &x.Msg); !m.step[string(m.form)] {
			m.step[string(m.form)] = true
			m.sent++
		}
	case dme.Enter:
		m.entries++
	default: // another step begins
		clear(m.step)
	}
}

func (m *multicasts) Value() (float64, bool) {
	return float64(m.sent) / float64(m.entries), m.entries > 0
}
