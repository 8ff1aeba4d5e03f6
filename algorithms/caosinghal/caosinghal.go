// Package caosinghal is the algorithm of G. Cao and M. Singhal, A Delay-Optimal Quorum-Based Mutual
// Exclusion Algorithm for Distributed Systems, IEEE Transactions on Parallel and Distributed
// Systems 12(12), 2001.
//
// Like Maekawa's (package maekawa), a node asks the members of its request set and enters when all
// have given it their permission, which each has once. There a permission goes back to its member
// before another node gets it: two delays between an exit and the next entry. Here a member tells
// the node that has its permission which node is next, by TRANSFER, and that node passes the
// permission on when it exits: one delay.
//
// Every node is a requester and, for those whose request sets it is in, an arbiter:
//
//  1. A node that wants to enter sends REQUEST with its timestamp to its request set.
//  2. An arbiter that has its permission gives it, by REPLY. Else the request waits. If another
//     precedes it there, or it is behind the request that has the permission, the arbiter sends it
//     FAIL. If no other that waits precedes it, it is the next: the arbiter sends TRANSFER to the
//     node that has the permission, or INQUIRE if the new request precedes that node's; and FAIL to
//     the request that was next until now and has had none.
//  3. A node that has not entered, and has been failed by some member, answers INQUIRE by YIELD:
//     the permission goes back. Before it is failed it keeps the INQUIRE in mind. INQUIRE names the
//     next as TRANSFER does, for the case that the node enters.
//  4. An arbiter that gets YIELD gives its permission to the most preceding request, that of the
//     node that has yielded among them.
//  5. A node that exits passes each permission on to the next that its arbiter has named, by REPLY,
//     and tells the arbiter by RELEASE where it has gone, if anywhere.
//  6. An arbiter that gets RELEASE tells the new holder which node is next, as in 2; or gives the
//     permission, now back, to the most preceding request.
//
// # What the messages say
//
// This is written from the paper's rules as they are known; these points are ours. The permissions
// that an arbiter gives have numbers, one after the other, also those that are passed on: REPLY,
// TRANSFER, INQUIRE, YIELD and RELEASE carry them, and TRANSFER, INQUIRE and YIELD about a
// permission that is somewhere else by now are passed over. TRANSFER and INQUIRE may come before
// the REPLY that they are about, which another node sends; they are kept. So may the RELEASE of a
// node to which a permission was passed on come before the RELEASE of the node that did so: from
// its number the arbiter knows what has happened, and the late one is passed over. FAIL names its
// request, since the REPLY of another node may overtake it.
//
// Links between two nodes keep order. Loss, duplication and failures are not tolerated.
package caosinghal

import (
	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/collections"
)

const (
	kindRequest dme.Kind = iota + 1
	kindReply            // Req: the request granted
	kindFail             // Req: the request that waits behind another
	kindInquire          // Req: the next request
	kindYield
	kindTransfer // Req: the next request
	kindRelease  // Req: the request the permission was passed on to; zero: none

	// All but REQUEST and FAIL are about a permission, the Num-th of the arbiter Node.
)

// Algorithm describes the algorithm.
func Algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name:  "cao-singhal",
		Title: "Cao–Singhal",
		Description: "A quorum algorithm like maekawa, but a node that leaves passes the permissions of its members straight to the nodes " +
			"that come next, of which the members have told it. A handover takes one delay in place of two, for some messages more: " +
			"3(K−1) when nobody else asks, and up to about 6(K−1) when all do. Choose it where quorums are wanted and delay matters; " +
			"a crash stops it. Choose the quorums by --set quorum.",
		Citation: "G. Cao, M. Singhal: A Delay-Optimal Quorum-Based Mutual Exclusion Algorithm for Distributed Systems, " +
			"IEEE TPDS 12(12), 2001",
		Class:       dme.Quorum,
		Needs:       dme.Always(dme.Needs{Reliable: true, FIFO: true}),
		Kinds:       []string{"REQUEST", "REPLY", "FAIL", "INQUIRE", "YIELD", "TRANSFER", "RELEASE"},
		Clocks:      clocks,
		Options:     quorum.Options(),
		ValidNodes:  quorum.ValidNodes,
		Claims:      claim.Lazy(claims),
		Invariants:  invariants(),
		QueueLength: dme.OfNode((*node).QueueLength),
		Waits:       dme.OfNode((*node).Waits),
		RequestSet:  dme.OfSystem((*system).RequestSet),
		Peers:       nil, // permissions are passed on among all that share a member
		Prepare: func(c dme.Config) (dme.System, error) {
			sets, err := quorum.Prepare(c)
			if err != nil {
				return nil, err
			}
			return &system{sets}, nil
		},
	}
}

type system struct{ *quorum.System }

// Node returns node id, idle, with its permission.
func (s *system) Node(id dme.NodeID) dme.Node {
	return &node{Site: s.Site(id), nodes: s.Nodes()}
}

// ready makes the requester's part, once. Most nodes of a large system only arbitrate.
func (n *node) ready() {
	if n.numbers != nil {
		return
	}
	n.Know()
	k := len(n.Members)
	n.held, n.failed, n.inquired = collections.MakeMemberSet(k), collections.MakeMemberSet(k), collections.MakeMemberSet(k)
	n.numbers, n.next = make([]uint64, k), make([]dme.Stamp, k)
}

type node struct {
	quorum.Site
	nodes int // in all

	clock uint64 // at least the clock of every message sent or received

	// The requester. Member k is the node Members[k].
	request  dme.Stamp // zero while there is none
	inside   bool
	held     collections.MemberSet // members whose permission is here
	failed   collections.MemberSet // members that let another go first, and have not given their permission since
	numbers  []uint64              // of the last permission that came, by member
	next     []dme.Stamp           // the request the permission goes to after this node, if one is named
	inquired collections.MemberSet // members whose INQUIRE is still to be answered

	// The arbiter.
	lock      dme.Stamp // the request that has the permission, or gets it; zero while it is here
	number    uint64    // of that permission, or the last
	waiting   collections.RequestQueue
	inquiring bool // INQUIRE has been sent about that permission
}

// Request is step 1.
func (n *node) Request(out *dme.Outbox) {
	n.ready()
	n.clock++
	n.request = dme.Stamp{Clock: n.clock, Node: n.ID}
	for _, j := range n.Members {
		n.send(j, dme.Message{Kind: kindRequest}, out)
	}
	n.HandleLocal(n.handle, out)
}

// Release is step 5.
func (n *node) Release(out *dme.Outbox) {
	n.request, n.inside = dme.Stamp{}, false
	n.held.Clear()
	n.inquired.Clear()
	for k, j := range n.Members {
		m := dme.Message{Kind: kindRelease, Node: j, Num: n.numbers[k], Req: n.next[k]}
		if !m.Req.IsZero() {
			n.send(m.Req.Node, dme.Message{Kind: kindReply, Node: j, Req: m.Req, Num: n.numbers[k] + 1}, out)
		}
		n.next[k] = dme.Stamp{}
		n.send(j, m, out)
	}
	n.HandleLocal(n.handle, out)
}

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
	switch m.Kind {
	case kindRequest:
		n.receiveRequest(dme.Stamp{Clock: m.Clock, Node: from}, out)
	case kindReply:
		n.receiveReply(n.MemberIndex(m.Node), m.Num, out)
	case kindFail:
		n.receiveFail(n.MemberIndex(from), m.Req, out)
	case kindInquire, kindTransfer:
		n.receiveNext(n.MemberIndex(from), &m, out)
	case kindYield:
		n.receiveYield(out)
	case kindRelease:
		n.receiveRelease(from, m.Num, m.Req, out)
	}
}

// send sends m, stamped with the clock, to a node that may be this one.
func (n *node) send(to dme.NodeID, m dme.Message, out *dme.Outbox) {
	m.Clock = n.clock
	n.Tell(to, m, out)
}

// receiveReply enters when the permissions of all members are here.
func (n *node) receiveReply(k int, number uint64, out *dme.Outbox) {
	n.held.Add(k)
	n.failed.Remove(k)
	n.numbers[k] = number
	if n.held.Len() == len(n.Members) {
		n.inside = true
		out.Enter(n.request)
		return
	}
	n.answer(k, out)
}

// receiveFail is step 3: now INQUIREs can be answered.
func (n *node) receiveFail(k int, about dme.Stamp, out *dme.Outbox) {
	if about != n.request || n.held.Has(k) { // a REPLY that was sent later came first
		return
	}
	n.failed.Add(k)
	for j := range n.Members {
		n.answer(j, out)
	}
}

// receiveNext notes the next request at member k, which wants its permission back if it inquires.
func (n *node) receiveNext(k int, m *dme.Message, out *dme.Outbox) {
	if m.Num < n.numbers[k] || m.Num == n.numbers[k] && !n.held.Has(k) {
		return // the permission has gone
	}
	n.next[k] = m.Req
	if m.Kind == kindInquire {
		n.inquired.Add(k)
	}
	n.answer(k, out)
}

// answer is the rest of step 3: the answer to the INQUIRE of member k, if there is one to
// be answered now.
func (n *node) answer(k int, out *dme.Outbox) {
	if n.inside || !n.inquired.Has(k) || !n.held.Has(k) || n.failed.Empty() {
		return
	}
	n.held.Remove(k)
	n.inquired.Remove(k)
	n.next[k] = dme.Stamp{}
	n.failed.Add(k) // the member has another that goes first
	n.send(n.Members[k], dme.Message{Kind: kindYield, Node: n.Members[k], Num: n.numbers[k]}, out)
}

// receiveRequest is step 2.
func (n *node) receiveRequest(r dme.Stamp, out *dme.Outbox) {
	if n.lock.IsZero() {
		n.grant(r, out)
		return
	}
	var first dme.Stamp
	if len(n.waiting) > 0 {
		first = n.waiting[0]
	}
	n.waiting.Insert(r)
	if n.waiting[0] != r {
		n.fail(r, out)
		return
	}
	if n.lock.Precedes(r) {
		n.fail(r, out)
	} else if !first.IsZero() && first.Precedes(n.lock) {
		n.fail(first, out) // was the most preceding of all, and had none
	}
	n.announce(out)
}

func (n *node) fail(r dme.Stamp, out *dme.Outbox) {
	n.send(r.Node, dme.Message{Kind: kindFail, Req: r}, out)
}

// announce tells the node that has the permission which request is next.
func (n *node) announce(out *dme.Outbox) {
	if len(n.waiting) == 0 {
		return
	}
	m := dme.Message{Kind: kindTransfer, Node: n.ID, Req: n.waiting[0], Num: n.number}
	if m.Req.Precedes(n.lock) && !n.inquiring {
		m.Kind, n.inquiring = kindInquire, true
	}
	n.send(n.lock.Node, m, out)
}

// grant gives the permission, which is here.
func (n *node) grant(r dme.Stamp, out *dme.Outbox) {
	n.lock, n.inquiring = r, false
	n.number++
	n.send(r.Node, dme.Message{Kind: kindReply, Node: n.ID, Req: r, Num: n.number}, out)
	n.announce(out)
}

// back gives the permission, which has come back, to the most preceding request.
func (n *node) back(out *dme.Outbox) {
	n.lock = dme.Stamp{}
	if r := n.waiting.Pop(); !r.IsZero() {
		n.grant(r, out)
	}
}

// receiveYield is step 4.
func (n *node) receiveYield(out *dme.Outbox) {
	n.waiting.Insert(n.lock)
	n.back(out)
}

// receiveRelease is step 6.
func (n *node) receiveRelease(from dme.NodeID, number uint64, to dme.Stamp, out *dme.Outbox) {
	switch {
	case number < n.number: // what it says is known from the RELEASE of the next
		return
	case number > n.number: // the RELEASE of the node before is late
		n.passed(n.waitingOf(from))
	}
	if to.IsZero() {
		n.back(out)
		return
	}
	n.passed(to)
	n.announce(out)
}

// passed notes that the permission was passed on.
func (n *node) passed(to dme.Stamp) {
	n.waiting.Remove(to.Node)
	n.lock, n.inquiring = to, false
	n.number++
}

// waitingOf returns the request of a node that waits here; zero if there is none.
func (n *node) waitingOf(id dme.NodeID) dme.Stamp {
	for _, r := range n.waiting {
		if r.Node == id {
			return r
		}
	}
	return dme.Stamp{}
}

// impossible says why a message cannot have been sent as things are; "" if it can.
func (n *node) impossible(from dme.NodeID, m *dme.Message) string {
	k := n.MemberIndex(from)
	switch {
	case !quorum.Believable(m.Clock) || m.Num > 1<<62:
		return "no such clock"
	case m.Kind == kindRequest:
		switch {
		case !n.Serves(from):
			return "REQUEST of a node that must not ask this one"
		case n.waiting.Has(from) || n.lock.Node == from:
			return "second REQUEST"
		}
	case m.Kind == kindReply:
		if k = n.MemberIndex(m.Node); k < 0 || n.request.IsZero() || m.Req != n.request || n.held.Has(k) || m.Num <= n.numbers[k] {
			return "REPLY that is not awaited"
		}
	case m.Kind == kindYield:
		if n.lock.Node != from || m.Num != n.number || !n.inquiring {
			return "YIELD of a permission that was not inquired about"
		}
	case m.Kind == kindRelease:
		return n.impossibleRelease(from, m)
	case k < 0:
		return "answer of a node that was not asked"
	case m.Kind == kindFail:
	case m.Req.Node < 1 || int(m.Req.Node) > n.nodes || m.Req.Node == n.ID || !quorum.Believable(m.Req.Clock):
		return "no other node's request that is next"
	case m.Num > n.numbers[k] && (n.request.IsZero() || n.held.Has(k)):
		return "word of a permission that does not exist"
	}
	return ""
}

func (n *node) impossibleRelease(from dme.NodeID, m *dme.Message) string {
	holder := n.lock.Node
	if m.Num == n.number+1 {
		holder = n.waitingOf(from).Node
	}
	switch {
	case m.Num < n.number && n.Serves(from): // late
	case m.Num > n.number+1 || holder != from:
		return "RELEASE of a permission that is not held"
	case !m.Req.IsZero() && (m.Req.Node == from || n.waitingOf(m.Req.Node) != m.Req):
		return "RELEASE to a node that does not wait"
	}
	return ""
}

// clocks shows the clocks of a message. The numbers of each arbiter's permissions are a
// domain of their own.
func clocks(n int, from dme.NodeID, m *dme.Message, v *dme.Visitor) {
	dme.ClockInMessages(n, from, m, v)
	v.ClockWhile(m.Num != 0, m.Node, "", &m.Num)
}

func (n *node) State(v *dme.Visitor) {
	n.ready()
	v.Clock("clock", &n.clock)
	v.Stamp("request", &n.request)
	v.Bool("inside", &n.inside)
	n.held.Show(v, "replied", n.Members)
	n.failed.Show(v, "failed", n.Members)
	v.ClocksAt(n.Members, "numbers", &n.numbers)
	v.Stamps("next", &n.next)
	n.inquired.Show(v, "inquired", n.Members)
	v.Stamp("lock", &n.lock)
	v.ClockOf(n.ID, "number", &n.number)
	n.waiting.Show(v, "req_queue")
	v.Bool("inquiring", &n.inquiring)
}

func (n *node) QueueLength() int { return len(n.waiting) }

// Waits names the members whose permissions are missing; as an arbiter with waiting requests, the
// node that has the permission.
func (n *node) Waits() []dme.Wait {
	pending, j := !n.request.IsZero() && !n.inside, n.lock.Node
	return quorum.Waits(dme.WaitIf(pending, "REPLY", n.Lacking(n.held.Has)...),
		dme.WaitIf(j != dme.None && j != n.ID && len(n.waiting) > 0, "RELEASE or YIELD of its permission", j))
}
