package agrawalelabbadi

import (
	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/collections"
)

// requester is what a node has for its own requests, in the repaired algorithm
// and in the printed one: a quorum, and the replies of its members.
type requester struct {
	quorum.Site                // of which Members is the quorum of the current request
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

// pending reports whether the node has asked and not yet entered.
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
	m := dme.Message{Kind: kind, Clock: n.clock}
	if to == n.ID {
		n.TellSelf(&m)
		return
	}
	out.Send(to, m)
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
var Multicasts = dme.Quantity{ID: "multicasts-per-cs", Name: "transmissions per CS with a multicast facility"}

// multicastClaims lists what a multicast facility changes: Request and Relinquish go
// to all K−1 others of a quorum at once, each of whom replies.
func multicastClaims() []dme.Claim {
	const improves = section + "9.9: a multicast facility will improve the performance"
	return []dme.Claim{
		{
			Quantity: Multicasts, Formula: "K+1 with a multicast facility, K = log2(n+1)", Load: dme.Light, Kind: dme.Exact,
			Source:  improves,
			Applies: func(s dme.Setting) bool { return equalPaths(s) && s.Nodes > 1 }, // a site alone sends nothing
		},
		{
			Quantity: Multicasts, Formula: "fewer than 3(K−1), without one", Load: dme.Light, Kind: dme.UpperBound,
			Source: improves,
			// As many where there are two others in a quorum.
			Applies: func(s dme.Setting) bool { return equalPaths(s) && pathsOf(s).max > 3 },
		},
	}
}

// multicasts counts equal messages of one step once.
type multicasts struct {
	step          map[string]bool // what has been sent in this step
	form          []byte
	sent, entries int
}

func newMulticasts(dme.Setting) dme.Meter { return &multicasts{step: make(map[string]bool)} }

func (m *multicasts) Note(x dme.Moment) {
	switch x.What {
	case dme.HasSent:
		if m.form = dme.AppendMessage(m.form[:0], &x.Msg); !m.step[string(m.form)] {
			m.step[string(m.form)] = true
			m.sent++
		}
	case dme.HasEntered:
		m.entries++
	default: // another step begins
		clear(m.step)
	}
}

func (m *multicasts) Value() (float64, bool) {
	return float64(m.sent) / float64(m.entries), m.entries > 0
}
