package ricartagrawala

import (
	"dmebench/dme"
	"dmebench/dme/collections"
)

// Section 6.2.1, form=sequenced: a medium that puts all broadcasts into one
// order, which every node observes, its own broadcasts among the others'.
//
//  1. A node that asks broadcasts REQUEST, without a number.
//  2. Every node queues the REQUESTs as it hears them, its own too. Since all
//     hear them in one order, all have the same queue.
//  3. A node enters when its own REQUEST is at the head: all that were
//     transmitted before have been answered by the REPLY of their nodes.
//  4. A node that leaves drops its entry at once and broadcasts REPLY, at which
//     everybody else drops it.
//
// That takes two transmissions, whatever the load.
//
// What the printed text leaves open:
//
//   - It does not say when a node's own entry leaves its own queue. Were it to
//     wait for the REPLY on the medium, a node that asks again at once would
//     find its old entry at the head, and enter.
//   - Broadcasts of one node must keep their order, lest a REPLY be overtaken by
//     the next REQUEST of its node.

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
		l.hear(l.me) // nobody is there to have a medium with
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
