package rabroadcast

import (
	"slices"

	"dmebench/dme"
)

// medium is the system of form=sequenced.
type medium struct{ nodes int }

func (m medium) Node(id dme.NodeID) dme.Node {
	return &listener{me: id, n: m.nodes}
}

type listener struct {
	me dme.NodeID
	n  int

	requests   uint64      // heard on the medium so far, one's own among them
	waiting    []dme.Stamp // the REQUESTs without a REPLY, in the medium's order; Clock: the place in it
	requesting bool        // asked and not yet inside
}

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
	at := slices.IndexFunc(l.waiting, func(r dme.Stamp) bool { return r.Node == from })
	if m.Kind == kindRequest {
		if at >= 0 {
			out.Refuse("REQUEST from a node whose REQUEST is queued")
			return
		}
		l.hear(from)
		return
	}
	if at < 0 {
		out.Refuse("REPLY from a node whose REQUEST is not queued")
		return
	}
	l.waiting = slices.Delete(l.waiting, at, at+1)
	l.enterIfFirst(out)
}

// hear queues a REQUEST.
func (l *listener) hear(from dme.NodeID) {
	l.requests++
	l.waiting = append(l.waiting, dme.Stamp{Clock: l.requests, Node: from})
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
	l.waiting = slices.DeleteFunc(l.waiting, func(r dme.Stamp) bool { return r.Node == l.me })
	out.Broadcast(dme.Message{Kind: kindReply})
}

// QueueLength returns how many REQUESTs are queued, one's own among them.
func (l *listener) QueueLength() int { return len(l.waiting) }

func (l *listener) State(v *dme.Visitor) {
	v.Uint("Requests", &l.requests)
	v.Stamps("Waiting", &l.waiting)
	v.Bool("Requesting", &l.requesting)
}
