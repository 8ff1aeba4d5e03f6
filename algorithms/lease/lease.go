// Package lease is a lock by permission of a majority of the nodes, with leases and fencing tokens:
// what lock services do by servers of their own, as an algorithm of the nodes. Its sources are
//
//	C. G. Gray, D. R. Cheriton, Leases: An Efficient Fault-Tolerant Mechanism for
//	Distributed File Cache Consistency, 12th ACM SOSP, 1989, pp. 202–210;
//
//	M. Burrows, The Chubby Lock Service for Loosely-Coupled Distributed Systems,
//	7th USENIX OSDI, 2006, sections 2.4 and 2.8, for the token that Chubby calls a
//	sequencer,
//
// and, for how arbiters take back what they have granted too soon, Maekawa's algorithm.
//
// Every node is an arbiter, and grants its lock to one request at a time. m = ⌊N/2⌋+1.
//
//  1. A node that asks sends REQUEST, with a timestamp, to all nodes. While it collects grants, it
//     sends it again every lease to those that have not granted: a message that a partition or a
//     crash has swallowed is made good by that, or by the end of a lease.
//  2. An arbiter that is free grants the most preceding REQUEST that waits there: GRANT. It carries
//     the least fencing token that is larger than all that the arbiter has seen.
//  3. An arbiter that has granted to another request than the most preceding one sends RECALL. A
//     node that collects grants answers by YIELD, and its REQUEST waits there again. One that has m
//     grants goes on, and answers by CONFIRM until it is inside.
//  4. A node that has m grants sends CONFIRM to the arbiters that have granted, with the largest of
//     the tokens. An arbiter notes it, begins a lease and answers by CONFIRMED.
//  5. A node whose token m arbiters have confirmed enters with it. If another arbiter grants with a
//     larger token before that, it begins step 4 anew. After half a lease it takes arbiters that
//     have not answered for down, and collects again.
//  6. In its critical section a node sends RENEW to the arbiters that have confirmed at every half
//     of a lease, and they begin the lease anew.
//  7. On leaving it sends RELEASE to all nodes.
//  8. An arbiter whose lease has run out tells the node by EXPIRED and goes on as if it had sent
//     RELEASE. A grant that is not confirmed is recalled when others have waited for half a lease,
//     and expires when nothing answers that for as long again.
//  9. A node that hears EXPIRED before it is inside asks that arbiter again, and collects if fewer
//     than m grants are left. One inside cannot do anything about it.
//
// No node has to hear that another has crashed: while a majority is up, what a crashed node has
// been granted is free again a lease later. A node that has crashed does not come back, since it
// would have forgotten what it has granted and noted.
//
// # What is guaranteed, and what that takes
//
// Tokens: no two entries have the same, and an entry that begins after another one has been
// confirmed has a larger one. This holds whatever takes how long. For of the two majorities of two
// entries one arbiter is a member; it has noted the token of the one before it has granted to the
// other, or has not confirmed the one at all. So a resource that refuses tokens smaller than it has
// seen loses no update.
//
// Mutual exclusion: a node counts its lease from when it sends CONFIRM or RENEW, and an arbiter
// from when it receives that, for longer by the option drift, the largest relative difference
// between the rates of two clocks. So the lease that an arbiter counts ends later, provided that
// the node is not stopped: a node that stands still for longer than its lease is still inside when
// another one enters. No lease prevents that. With fencing=false nobody shows tokens, no resource can
// refuse the late one, and an update is lost; searches find that, for they assume nothing about the
// time that a node spends inside.
//
// That requests are served takes messages that arrive within the bound B: a GRANT, and what it
// takes to be confirmed, has to come before the lease ends.
package lease

import (
	"time"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/collections"
)

const (
	kindRequest dme.Kind = iota + 1
	kindGrant            // Num: the token
	kindRecall
	kindYield
	kindConfirm   // Num: the token
	kindConfirmed // Num: the token
	kindRenew
	kindExpired
	kindRelease
)

// The timers of a node.
const (
	timerAnswers dme.TimerID = iota + 1 // half a lease: until all have confirmed, or the next RENEW
	timerLease                          // as an arbiter: the lease that it has granted
)

// phase says what a node has of its request.
type phase uint64

const (
	idle       phase = iota
	collecting       // GRANTs
	confirming       // m GRANTs: it waits for CONFIRMED
	inside
)

// node is a requester and an arbiter. Its Members are all nodes.
type node struct {
	quorum.Site
	terms

	clock uint64 // at least the clock of every message sent or received

	// The requester.
	phase     phase
	request   dme.Stamp
	granted   collections.NodeSet // arbiters that have granted the request
	confirmed collections.NodeSet // and have noted the token
	token     uint64              // the largest in a GRANT for the request

	// The arbiter.
	holder    dme.Stamp // the request that has the lock; zero while it is free
	recalled  bool      // the holder has been sent RECALL
	leased    bool      // the holder has confirmed
	waiting   collections.RequestQueue
	nextToken uint64 // larger than all that have been confirmed here
}

// terms are what the options say.
type terms struct {
	half  time.Duration // of a lease, as a requester counts it
	lease time.Duration // as an arbiter counts it
}

func (n *node) majority() int { return len(n.Members)/2 + 1 }

// Request is step 1.
func (n *node) Request(out *dme.Outbox) {
	n.clock++
	n.request = dme.Stamp{Clock: n.clock, Node: n.ID}
	n.token = n.nextToken
	n.collect(out)
	n.HandleLocal(n.handle, out)
}

// Release is step 7.
func (n *node) Release(out *dme.Outbox) {
	for _, j := range n.Members {
		n.send(j, kindRelease, n.request, 0, out)
	}
	out.CancelTimer(timerAnswers)
	n.phase, n.request = idle, dme.Stamp{}
	n.granted.Clear()
	n.confirmed.Clear()
	n.HandleLocal(n.handle, out)
}

// Receive handles a message of another node.
func (n *node) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if reason := n.impossible(from, &m); reason != "" {
		out.Refuse(reason)
		return
	}
	n.clock = max(n.clock, m.Clock)
	n.handle(from, m, out)
	n.HandleLocal(n.handle, out)
}

// impossible says why a message cannot have been sent by a node that keeps the rules.
func (n *node) impossible(from dme.NodeID, m *dme.Message) string {
	owner := from
	switch m.Kind {
	case kindGrant, kindRecall, kindConfirmed, kindExpired:
		owner = n.ID
	}
	tokens := m.Kind == kindGrant || m.Kind == kindConfirm || m.Kind == kindConfirmed
	switch {
	case !quorum.Believable(m.Clock) || !quorum.Believable(m.Req.Clock):
		return "a clock that cannot be"
	case m.Req.Node != owner || m.Req.Clock > m.Clock:
		return "no request of this node"
	case tokens != (m.Num > 0) || m.Num > 1<<62:
		return "a fencing token that cannot be"
	case owner == n.ID && m.Req.Clock > n.clock:
		return "an answer to a request that was not made"
	}
	return ""
}

func (n *node) handle(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch m.Kind {
	case kindRequest:
		n.receiveRequest(m.Req, out)
	case kindYield:
		n.receiveYield(m.Req, out)
	case kindConfirm:
		n.receiveConfirm(m.Req, m.Num, out)
	case kindRenew:
		if n.holder == m.Req && n.leased {
			out.SetTimer(timerLease, n.lease)
		}
	case kindRelease:
		n.receiveRelease(m.Req, out)
	}
	if m.Req != n.request {
		return // an answer to a request that is over
	}
	switch m.Kind {
	case kindGrant:
		n.receiveGrant(from, m.Num, out)
	case kindRecall:
		n.receiveRecall(from, out)
	case kindConfirmed:
		n.receiveConfirmed(from, m.Num, out)
	case kindExpired:
		n.receiveExpired(from, out)
	}
}

// send sends m, stamped with the clock, to a node that may be this one.
func (n *node) send(to dme.NodeID, kind dme.Kind, request dme.Stamp, token uint64, out *dme.Outbox) {
	n.Tell(to, dme.Message{Kind: kind, Clock: n.clock, Req: request, Num: token}, out)
}

// The requester.

// collect asks the arbiters that have not granted, now and every lease.
func (n *node) collect(out *dme.Outbox) {
	n.phase = collecting
	n.confirmed.Clear()
	for _, j := range n.Members {
		if !n.granted.Has(j) {
			n.send(j, kindRequest, n.request, 0, out)
		}
	}
	out.SetTimer(timerAnswers, n.lease)
}

// receiveGrant is step 4.
func (n *node) receiveGrant(from dme.NodeID, token uint64, out *dme.Outbox) {
	n.granted.Add(from)
	if n.phase == inside {
		return
	}
	larger := token > n.token
	n.token = max(n.token, token)
	if n.granted.Len() >= n.majority() && (n.phase == collecting || larger) {
		n.confirm(out)
	}
}

func (n *node) confirm(out *dme.Outbox) {
	n.phase = confirming
	n.confirmed.Clear()
	for j := range n.granted.All() {
		n.send(j, kindConfirm, n.request, n.token, out)
	}
	out.SetTimer(timerAnswers, n.half)
}

// receiveRecall is step 3.
func (n *node) receiveRecall(from dme.NodeID, out *dme.Outbox) {
	switch {
	case !n.granted.Has(from):
	case n.phase == collecting:
		n.granted.Remove(from)
		n.send(from, kindYield, n.request, 0, out)
	case n.phase == confirming:
		n.send(from, kindConfirm, n.request, n.token, out)
	}
}

// receiveConfirmed is step 5.
func (n *node) receiveConfirmed(from dme.NodeID, token uint64, out *dme.Outbox) {
	if n.phase != confirming || token != n.token || !n.granted.Has(from) {
		return
	}
	n.confirmed.Add(from)
	if n.confirmed.Len() < n.majority() {
		return
	}
	n.phase = inside
	out.SetTimer(timerAnswers, n.half)
	out.Enter(dme.Stamp{Clock: n.token, Node: n.ID})
}

// receiveExpired is step 9.
func (n *node) receiveExpired(from dme.NodeID, out *dme.Outbox) {
	n.granted.Remove(from)
	n.confirmed.Remove(from)
	switch {
	case n.phase == inside:
	case n.phase == confirming && n.granted.Len() < n.majority():
		n.collect(out)
	default:
		n.send(from, kindRequest, n.request, 0, out)
	}
}

// Timeout is what happens at the end of half a lease, or of the whole.
func (n *node) Timeout(id dme.TimerID, out *dme.Outbox) {
	switch {
	case id == timerLease && !n.leased && !n.recalled:
		n.recall(out)
	case id == timerLease: // step 8
		n.send(n.holder.Node, kindExpired, n.holder, 0, out)
		n.grant(out)
	case n.phase == collecting:
		n.collect(out)
	case n.phase == confirming: // an arbiter that does not answer is down, or has granted to another
		n.granted, n.confirmed = n.confirmed, n.granted
		n.collect(out)
	case n.phase == inside:
		for j := range n.confirmed.All() {
			n.send(j, kindRenew, n.request, 0, out)
		}
		out.SetTimer(timerAnswers, n.half)
	}
	n.HandleLocal(n.handle, out)
}

// The arbiter.

// receiveRequest is steps 2 and 3.
func (n *node) receiveRequest(r dme.Stamp, out *dme.Outbox) {
	if n.holder == r { // asked again: the GRANT was lost
		n.send(r.Node, kindGrant, r, n.nextToken, out)
		return
	}
	again := n.waiting.Remove(r.Node)
	n.waiting.Insert(r)
	switch {
	case n.holder.IsZero() || n.holder.Node == r.Node: // the RELEASE of an earlier one is lost
		n.grant(out)
	case n.leased || n.recalled:
	case r.Precedes(n.holder):
		n.recall(out)
	case len(n.waiting) == 1 && !again:
		out.SetTimer(timerLease, n.half)
	}
}

func (n *node) recall(out *dme.Outbox) {
	n.recalled = true
	n.send(n.holder.Node, kindRecall, n.holder, 0, out)
	out.SetTimer(timerLease, n.half)
}

// grant gives the lock to the most preceding request, if there is one.
func (n *node) grant(out *dme.Outbox) {
	n.recalled, n.leased = false, false
	n.holder = n.waiting.Pop()
	if !n.holder.IsZero() {
		n.send(n.holder.Node, kindGrant, n.holder, n.nextToken, out)
	}
	if len(n.waiting) > 0 {
		out.SetTimer(timerLease, n.half)
	} else {
		out.CancelTimer(timerLease)
	}
}

// receiveYield is step 3. Of a request that has expired meanwhile it is late.
func (n *node) receiveYield(r dme.Stamp, out *dme.Outbox) {
	if n.holder == r {
		n.waiting.Insert(r)
		n.grant(out)
	}
}

// receiveConfirm is step 4, at the arbiter. Of a request whose lease has run out it is late:
// its node learns that by EXPIRED.
func (n *node) receiveConfirm(r dme.Stamp, token uint64, out *dme.Outbox) {
	if n.holder != r {
		return
	}
	n.leased = true
	n.nextToken = max(n.nextToken, token+1)
	n.send(r.Node, kindConfirmed, r, token, out)
	out.SetTimer(timerLease, n.lease)
}

func (n *node) receiveRelease(r dme.Stamp, out *dme.Outbox) {
	if n.holder == r {
		n.grant(out)
	} else {
		n.waiting.Remove(r.Node)
	}
}

// ofTokens is the domain of fencing tokens.
const ofTokens dme.NodeID = 1

// clocks shows the clocks of a message.
func clocks(n int, from dme.NodeID, m *dme.Message, v *dme.Visitor) {
	dme.ClockInMessages(n, from, m, v)
	v.ClockWhile(m.Num != 0, ofTokens, "", &m.Num)
}

func (n *node) State(v *dme.Visitor) {
	v.Clock("clock", &n.clock)
	if !v.Text("phase", n.phase.String) {
		v.Uint("phase", (*uint64)(&n.phase))
	}
	v.Stamp("request", &n.request)
	n.granted.Show(v, "granted")
	n.confirmed.Show(v, "confirmed")
	v.ClockWhile(n.phase != idle, ofTokens, "token", &n.token)
	v.Stamp("holder", &n.holder)
	v.Bool("recalled", &n.recalled)
	v.Bool("leased", &n.leased)
	n.waiting.Show(v, "waiting")
	v.ClockOf(ofTokens, "next token", &n.nextToken)
}

func (p phase) String() string { return [...]string{"idle", "collecting", "confirming", "inside"}[p] }

// Waits names the arbiters that a requester waits for, and the node for whose RELEASE, or
// the end of whose lease, an arbiter waits.
func (n *node) Waits() []dme.Wait {
	not := func(in *collections.NodeSet) []dme.NodeID {
		return n.Lacking(func(k int) bool { return in.Has(n.Members[k]) })
	}
	return quorum.Waits(
		dme.WaitIf(n.phase == collecting, "GRANT", not(&n.granted)...),
		dme.WaitIf(n.phase == confirming, "CONFIRMED", not(&n.confirmed)...),
		dme.WaitIf(!n.holder.IsZero() && n.holder.Node != n.ID, "RELEASE of its lock", n.holder.Node))
}

// QueueLength is of the requests that wait for this arbiter.
func (n *node) QueueLength() int { return len(n.waiting) }
