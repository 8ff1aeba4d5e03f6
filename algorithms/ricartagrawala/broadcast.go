package ricartagrawala

import (
	"fmt"
	"slices"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/collections"
)

// Broadcast describes section 6.2, a network that broadcasts: a message to all nodes is one
// transmission there. Two forms; form=sequenced is the second.
//
// form=listed (section 6.2.2) is for a medium on which nodes cannot tell in which order requests
// were transmitted:
//
//  1. A node that asks chooses a number above any that it has seen and broadcasts REQUEST.
//  2. A node that receives a REQUEST replies at once, to its sender alone, or defers the reply, as
//     in section 2.2.
//  3. A node that leaves broadcasts one REPLY for all nodes it deferred, with the list of them. The
//     list is needed: a node that is not on it must not take the REPLY for its own, since the
//     leaver may not even have received its REQUEST (the text's footnote 2).
//  4. A node enters when all others have replied.
func Broadcast() *dme.Algorithm {
	a := describe("ricart-agrawala-broadcast", "Ricart–Agrawala, broadcast", "6.2")
	a.Description = "Ricart-Agrawala on a network with native broadcast: a request is one transmission that all receive, and one broadcast " +
		"reply answers all requests that were deferred, by naming them. When nobody else asks, an entry costs N transmissions, " +
		"a request and N-1 replies, or 2(N-1) messages as receivers count them; the more nodes ask, the fewer transmissions " +
		"each entry needs. Where the network delivers all broadcasts in one order to everybody (form=sequenced) no timestamps " +
		"are needed, and every entry costs two transmissions. Good on a shared medium."
	a.Needs = func(o dme.Options) dme.Needs {
		medium := sequenced(o)
		return dme.Needs{Reliable: true, FIFO: medium, SequencedBroadcast: medium}
	}
	a.Options = []dme.Option{dme.Choice("form",
		"listed: requests are numbered, a broadcast REPLY lists whom it is for; "+
			"sequenced: the medium's order takes the place of numbers",
		"listed", "sequenced")}
	a.ValidNodes = func(n int, o dme.Options) error {
		if most := dme.MaxVec/2 + 1; n > most && !sequenced(o) {
			return fmt.Errorf("%d nodes: the list of recipients in a REPLY has room for %d; want at most %d nodes", n, most-1, most)
		}
		return nil
	}
	a.Clocks = func(n int, from dme.NodeID, m *dme.Message, v *dme.Visitor) {
		dme.ClockInMessages(n, from, m, v)
		for i := 1; i < len(m.Vec); i += 2 { // the list of a broadcast REPLY
			v.Clock("", &m.Vec[i])
		}
	}
	a.Claims = claim.Lazy(broadcastClaims)
	a.Invariants = invariants[*listedNode]()
	for k := range a.Invariants {
		a.Invariants[k].If = func(o dme.Options) bool { return !sequenced(o) }
	}
	a.QueueLength = dme.OfNode((*listener).QueueLength)
	a.Prepare = func(c dme.Config) (dme.System, error) {
		if sequenced(c.Options) {
			return dme.Unshared(newListener)(c)
		}
		return dme.Unshared(newListedNode)(c)
	}
	return a
}

func sequenced(o dme.Options) bool { return o.Get("form") == "sequenced" }

// listedNode is a node of form=listed. Steps 1 and 2 are those of section 2.
type listedNode struct{ node }

func newListedNode(n int, id dme.NodeID) dme.Node { return &listedNode{newNode(n, id)} }

// Release is step 3.
func (n *listedNode) Release(out *dme.Outbox) {
	n.requestingCriticalSection = false
	if len(n.replyDeferred) == 0 {
		return
	}
	list := make([]uint64, 0, 2*len(n.replyDeferred))
	for _, r := range n.replyDeferred {
		list = append(list, uint64(r.Node), r.Clock)
	}
	n.replyDeferred.Clear()
	out.Broadcast(dme.Message{Kind: kindReply, Vec: list})
}

// Receive is steps 2 and 4.
func (n *listedNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch {
	case m.Kind == kindRequest || len(m.Vec) == 0:
		n.node.Receive(from, m, out)
	case len(m.Vec)%2 != 0:
		out.Refuse("REPLY whose list of recipients is cut off")
	default:
		if number, listed := recipient(m.Vec, n.me); listed {
			n.receiveReply(from, number, out)
		}
	}
}

// recipient looks j up in the list of a broadcast REPLY.
func recipient(list []uint64, j dme.NodeID) (number uint64, listed bool) {
	for i := 0; i < len(list); i += 2 {
		if list[i] == uint64(j) {
			return list[i+1], true
		}
	}
	return 0, false
}

func broadcastClaims() claim.List {
	const listed, onMedium = "TR-869, sections 6.2 and 6.2.2", "TR-869, section 6.2.1"
	const medium = "form=sequenced"
	return slices.Concat(claim.SafeAndLive("TR-869, sections 3 and 6.2"), oneDelay(), claim.List{
		claim.TransmissionsPerCS.Is("N", claim.Light, listed).Where(of("listed")),
		// A broadcast REPLY stands for as many as it lists.
		claim.TransmissionsPerCS.AtMost("N", claim.AnyLoad, listed).Where(of("listed")),
		// A request needs N−1 replies, and a REPLY has at most as large an
		// audience: all others, once contention is high.
		claim.TransmissionsPerCS.AtLeast("2: the audience of a REPLY grows with contention", claim.AnyLoad, listed).
			Where(of("listed")),
		claim.MessagesPerCS.Is("2(N−1), counting receivers", claim.Light, "TR-869, section 4").Where(of("listed")),
		claim.TransmissionsPerCS.Is("2", claim.AnyLoad, onMedium).With(medium).Where(of("sequenced")),
		claim.MessagesPerCS.Is("2(N−1), counting receivers", claim.AnyLoad, onMedium).With(medium).
			Where(of("sequenced")),
		claim.InOrder("0: entries in the order of numbers, or of the medium", "TR-869, sections 2.4 and 6.2.1"),
		// Of two nodes that ask at about the same time the one that must
		// wait replies at once; the other's replies share one transmission,
		// on leaving. The last to leave owes none.
		claim.TransmissionsPerCS.AtLeast("1 + (N−1)/2 + (N−1)/N", claim.Burst, listed).Where(of("listed")),
		claim.TransmissionsPerCS.AtMost("fewer than in a burst, 1 + (N−1)/2 + (N−1)/N: the audience grows with contention",
			claim.Saturated, listed).Where(of("listed")),
		claim.Violations.Is("0: mutual exclusion (form=sequenced)", claim.AnyLoad, onMedium).With(medium).
			Where(of("sequenced")),
		claim.SyncDelay.Averages("T (form=sequenced)", claim.Saturated, onMedium).With(medium).
			Where(of("sequenced")),
	})
}

// of is about one form, in systems of two nodes or more.
func of(form string) func(dme.Setting) bool {
	return func(s dme.Setting) bool { return s.Nodes >= 2 && s.Options.Get("form") == form }
}

// Section 6.2.1, form=sequenced: a medium that puts all broadcasts into one order, which every node
// observes, its own broadcasts among the others'.
//
//  1. A node that asks broadcasts REQUEST, without a number.
//  2. Every node queues the REQUESTs as it hears them, its own too. Since all hear them in one
//     order, all have the same queue.
//  3. A node enters when its own REQUEST is at the head: all that were transmitted before have been
//     answered by the REPLY of their nodes.
//  4. A node that leaves drops its entry at once and broadcasts REPLY, at which all others drop it.
//
// That takes two transmissions, whatever the load.
//
// Gaps of the printed text:
//
//   - It does not say when a node's own entry leaves its own queue. Were it to wait for the REPLY
//     on the medium, a node that asks again at once would find its old entry at the head, and
//     enter.
//   - Broadcasts of one node must keep their order, lest a REPLY be overtaken by the next REQUEST
//     of its node.

// listener is a node of form=sequenced.
type listener struct {
	me dme.NodeID
	n  int

	requests   uint64                   // heard on the medium so far, one's own among them
	waiting    collections.RequestQueue // the REQUESTs without a REPLY, in the medium's order; Clock: the place in it
	requesting bool                     // asked and not yet inside
}

func newListener(n int, id dme.NodeID) dme.Node { return &listener{me: id, n: n} }

// Request is step 1.
func (l *listener) Request(out *dme.Outbox) {
	l.requesting = true
	if l.n == 1 {
		l.hear(l.me) // a lone node has no medium
		l.enterIfFirst(out)
		return
	}
	out.Broadcast(dme.Message{Kind: kindRequest})
}

// Transmitted is step 2 for the node's own broadcasts. Of its REPLY it needs
// not hear.
func (l *listener) Transmitted(m dme.Message, out *dme.Outbox) {
	if m.Kind == kindRequest {
		l.hear(l.me)
		l.enterIfFirst(out)
	}
}

// Receive is step 2 for the broadcasts of others, and what they do in step 4.
func (l *listener) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch {
	case m.Kind == kindRequest && l.waiting.Has(from):
		out.Refuse("REQUEST from a node whose REQUEST is queued")
	case m.Kind == kindRequest:
		l.hear(from)
	case l.waiting.Remove(from):
		l.enterIfFirst(out)
	default:
		out.Refuse("REPLY from a node whose REQUEST is not queued")
	}
}

// hear queues a REQUEST.
func (l *listener) hear(from dme.NodeID) {
	l.requests++
	l.waiting.Insert(dme.Stamp{Clock: l.requests, Node: from})
}

// enterIfFirst is step 3.
func (l *listener) enterIfFirst(out *dme.Outbox) {
	if l.requesting && len(l.waiting) > 0 && l.waiting[0].Node == l.me {
		l.requesting = false
		out.Enter(l.waiting[0])
	}
}

// Release is step 4.
func (l *listener) Release(out *dme.Outbox) {
	l.waiting.Remove(l.me)
	out.Broadcast(dme.Message{Kind: kindReply})
}

// QueueLength returns how many REQUESTs are queued, one's own among them.
func (l *listener) QueueLength() int { return len(l.waiting) }

func (l *listener) State(v *dme.Visitor) {
	v.Clock("Requests", &l.requests)
	l.waiting.Show(v, "Waiting")
	v.Bool("Requesting", &l.requesting)
}
