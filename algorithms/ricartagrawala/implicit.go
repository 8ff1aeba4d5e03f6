package ricartagrawala

import (
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/collections"
)

// Implicit describes section 6.1, the implicit reply. A reply carries one bit. If transmission
// times have a bound, silence can carry it:
//
//  1. A node that asks chooses a number above any that it has seen, sends REQUEST to all others and
//     starts to wait.
//  2. A node that receives a REQUEST and has priority (it is requesting itself, with the smaller
//     number, or among equals the smaller node number) defers: it answers DEFERRED. A node that
//     does not defer says nothing.
//  3. When a request has been on its way, and an answer could have come back, a node that has not
//     said DEFERRED has replied.
//  4. A node that leaves sends an explicit REPLY to every node that it deferred.
//  5. A node enters when the wait is over and every node that said DEFERRED has sent its REPLY.
//
// The wait of step 3 is one longest round trip, in two legs of the bound on a transmission: after
// the first, the REQUEST has arrived everywhere; after the second, so has every DEFERRED. It is as
// long for a node without rivals: the saving in messages is paid for with the difference between
// the longest round trip and a usual one.
//
// Departures from the printed text, and what it leaves open:
//
//   - Links need not keep order, so that a REPLY may overtake the DEFERRED that it follows. A node
//     that counts 'deferred, then replied' waits for ever; here a balance is kept for each node.
//   - A deferral costs two messages, the DEFERRED and the later REPLY. The text counts one: its
//     2(N−1) is the most for requests that are all made at once, since of two nodes only one defers
//     the other. Under saturation every request is deferred by all others, and costs 3(N−1).
//
// The links must deliver every message, within the bound; if one is lost or late its silence is
// taken for permission, and two nodes enter.
func Implicit() *dme.Algorithm {
	a := describe("ricart-agrawala-implicit", "Ricart–Agrawala, implicit reply", "6.1")
	a.Description = "Silence means consent. A node that would defer its reply says DEFERRED at once, and one that agrees says nothing; the " +
		"requester waits for as long as a message may take there and back, and then counts those that were silent as having agreed. " +
		"An entry costs N-1 messages when nobody else wants to enter, but at least that wait. It rests on a bound on the delay " +
		"of messages that must really hold: a message that is later, or lost, lets two nodes in."
	a.Needs = dme.Always(dme.Needs{Reliable: true, BoundedDelay: true})
	a.Kinds = []string{"REQUEST", "DEFERRED", "REPLY"}
	a.Options = []dme.Option{
		{
			Name: "bound", Default: "auto", Words: []string{"auto"}, Forms: []string{"DURATION"}, Valid: validBound,
			Help: "longest time that a message can take, handling included: you vouch for it; " +
				"auto is 2T in a simulation, and nothing elsewhere",
		},
		dme.Choice("broadcast",
			"whether a REQUEST is one transmission to all (section 6.2)", "false", "true"),
	}
	a.Claims = claim.Lazy(implicitClaims)
	a.Prepare = func(c dme.Config) (dme.System, error) {
		return implicitSystem{nodes: c.Nodes, bound: boundOf(c), broadcast: c.Options.Get("broadcast") == "true"}, nil
	}
	return a
}

// The kinds behind REQUEST.
const (
	kindDeferred      = kindRequest + 1 + iota // Clock: the sequence number that it answers
	kindExplicitReply                          // Clock: the sequence number that it answers
)

// waited is the timer of a node's wait.
const waited dme.TimerID = 1

// legs of a round trip: the way there and the way back.
const legs = 2

// anyBound stands in if no bound is known and nothing takes time, as under a schedule explorer,
// which fires a timer when the messages before it have arrived. A run over a network that takes
// time needs a bound given by the user.
const anyBound = 500 * time.Millisecond

// maxBound keeps a round trip well within 64 bits of nanoseconds.
const maxBound = time.Hour

// boundOf returns the bound that was given, or that the network knows.
func boundOf(c dme.Config) time.Duration {
	if d, err := time.ParseDuration(c.Options.Get("bound")); err == nil {
		return d
	}
	if c.Bound > 0 {
		return c.Bound
	}
	return anyBound
}

var validBound = dme.Valid(dme.Lasting(1, maxBound))

type implicitSystem struct {
	nodes     int
	bound     time.Duration // on the transmission of a message
	broadcast bool          // the REQUEST is one transmission
}

func (s implicitSystem) Node(id dme.NodeID) dme.Node {
	return &implicitNode{
		variables: variables{me: id, n: s.nodes}, implicitSystem: s, owed: makeBalance(s.nodes),
	}
}

type implicitNode struct {
	variables
	implicitSystem

	inside     bool    // the critical section
	legsToWait uint64  // of the round trip after which silence is a reply
	owed       balance // the REPLYs to come
}

// Request is step 1.
func (n *implicitNode) Request(out *dme.Outbox) {
	n.choose(n.highestSequenceNumber + 1)
	if n.nodes == 1 {
		n.enterIfPermitted(out)
		return
	}
	n.sendRequest(out)
	// After the REQUESTs: the wait counts from when they are on their way.
	n.legsToWait = legs
	out.SetTimer(waited, n.bound)
}

func (n *implicitNode) sendRequest(out *dme.Outbox) {
	m := dme.Message{Kind: kindRequest, Clock: n.ourSequenceNumber}
	if n.broadcast {
		out.Broadcast(m)
		return
	}
	for j := range dme.Others(n.nodes, n.me) {
		out.Send(j, m)
	}
}

// Timeout is step 3.
func (n *implicitNode) Timeout(_ dme.TimerID, out *dme.Outbox) {
	n.legsToWait--
	if n.legsToWait > 0 {
		out.SetTimer(waited, n.bound)
		return
	}
	n.enterIfPermitted(out)
}

// Release is step 4.
func (n *implicitNode) Release(out *dme.Outbox) {
	n.inside = false
	n.release(kindExplicitReply, out)
}

// Receive is steps 2 and 5.
func (n *implicitNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	pending := n.requestingCriticalSection && !n.inside && m.Clock == n.ourSequenceNumber
	switch m.Kind {
	case kindRequest:
		n.receiveRequest(dme.Stamp{Clock: m.Clock, Node: from}, out)
	case kindDeferred:
		if !pending || !n.owed.deferred(from) {
			out.Refuse("DEFERRED that no pending request explains")
		}
	case kindExplicitReply:
		if !pending || !n.owed.replied(from) {
			out.Refuse("REPLY that is not awaited")
			return
		}
		n.enterIfPermitted(out)
	}
}

// receiveRequest is step 2.
func (n *implicitNode) receiveRequest(r dme.Stamp, out *dme.Outbox) {
	if r.Clock == 0 {
		out.Refuse("REQUEST without a sequence number")
		return
	}
	n.highestSequenceNumber = max(n.highestSequenceNumber, r.Clock)
	// Silence is the reply.
	if n.defers(r) && n.keep(r, out) {
		out.Send(r.Node, dme.Message{Kind: kindDeferred, Clock: r.Clock})
	}
}

// enterIfPermitted is step 5, of a request that waits.
func (n *implicitNode) enterIfPermitted(out *dme.Outbox) {
	if n.legsToWait > 0 || !n.owed.allReplied() {
		return
	}
	n.inside = true
	n.owed.clear()
	out.Enter(n.ourRequest())
}

func (n *implicitNode) State(v *dme.Visitor) {
	n.show(v)
	v.Bool("Inside", &n.inside)
	v.Uint("Legs_To_Wait", &n.legsToWait)
	n.owed.show(v)
	n.replyDeferred.Show(v, "Reply_Deferred")
}

const source = "TR-869, section 6.1"

func implicitClaims() claim.List {
	return slices.Concat(claim.SafeAndLive("TR-869, sections 3 and 6.1"), oneDelay(), claim.List{
		claim.CostPerPeer(1, claim.Light, claim.Exact, source),
		claim.CostPerPeer(1, claim.AnyLoad, claim.LowerBound, source),
		// Of two nodes that ask at once, one defers the other.
		claim.CostPerPeer(2, claim.Burst, claim.UpperBound, source),
		claim.MessagesPerCS.AtMost("2(N−1)", claim.AnyLoad, source).
			Refuted("a request that is deferred costs DEFERRED and, later, REPLY; " +
				"under saturation all others defer it, and it costs 3(N−1)"),
		claim.MessagesPerCS.AtMost("3(N−1): REQUEST, DEFERRED and REPLY",
			claim.AnyLoad, source+", counting both messages of a deferral").Named("with-deferred"),
		claim.TransmissionsPerCS.Is("1 (REQUEST broadcast)", claim.Light, "TR-869, section 6.2").
			With("broadcast=true").
			Where(func(s dme.Setting) bool { return s.Nodes >= 2 && s.Options.Get("broadcast") == "true" }),
		claim.ResponseTime.Averages("the longest round trip + E", claim.Light, source).
			Predicting(func(s dme.Setting) (float64, bool) {
				sys, ok := s.System.(implicitSystem)
				return (legs*sys.bound + s.E).Seconds(), ok && s.Nodes >= 2
			}),
		claim.InOrder("0: entries in timestamp order", "TR-869, section 2.4"),
		claim.KindPerCS("REQUEST").Is("N−1", claim.AnyLoad, source),
		claim.KindPerCS("DEFERRED").Is("0 with little contention", claim.Light, source),
		claim.KindPerCS("DEFERRED").AtMost("N−1", claim.AnyLoad, source),
		// Of two nodes, one defers the other: each gets a half of N−1.
		claim.KindPerCS("DEFERRED").AtMost("(N−1)/2: one for each two nodes", claim.Burst, source),
	})
}

// balance says which nodes owe us a REPLY, if deferrals are announced: in sections 6.1 and 6.3.
// Links need not keep order, so the REPLY may arrive before the news of the deferral that it ends.
// A node that counts one up and the other down from that point waits for ever.
type balance struct {
	deferredBy   collections.NodeSet // nodes that have deferred our request and not yet replied
	repliedFirst collections.NodeSet // nodes whose REPLY came before the news of its deferral
}

func makeBalance(n int) balance {
	return balance{deferredBy: collections.MakeNodeSet(n), repliedFirst: collections.MakeNodeSet(n)}
}

// deferred takes the news that j has deferred our request. It reports false if that is no news.
func (b *balance) deferred(j dme.NodeID) bool {
	switch {
	case b.deferredBy.Has(j):
		return false
	case b.repliedFirst.Has(j):
		b.repliedFirst.Remove(j)
	default:
		b.deferredBy.Add(j)
	}
	return true
}

// replied takes j's REPLY. It reports false if there was one already.
func (b *balance) replied(j dme.NodeID) bool {
	switch {
	case b.repliedFirst.Has(j):
		return false
	case b.deferredBy.Has(j):
		b.deferredBy.Remove(j)
	default:
		b.repliedFirst.Add(j) // the news of its deferral is still to come
	}
	return true
}

// allReplied reports whether all deferrals that we know of are over.
func (b *balance) allReplied() bool { return b.deferredBy.Empty() }

// clear forgets replies to deferrals that were never announced: there are none if links keep their
// promises.
func (b *balance) clear() { b.repliedFirst.Clear() }

func (b *balance) show(v *dme.Visitor) {
	b.deferredBy.Show(v, "Deferred_By")
	b.repliedFirst.Show(v, "Replied_First")
}
