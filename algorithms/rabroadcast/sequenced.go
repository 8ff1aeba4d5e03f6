package rabroadcast

import (
	"slices"

	"dmebench/algorithms"
)

// medium is the system of form=sequenced.
type medium struct{ nodes int }

func (m medium) Node(id algorithms.NodeID) algorithms.Node {
	return &listener{me: id, n: m.nodes}
}

type listener struct {
	me algorithms.NodeID
	n  int

	requests   uint64             // heard on the medium so far, one's own among them
	waiting    []algorithms.Stamp // the REQUESTs without a REPLY, in the medium's order; Clock: the place in it
	requesting bool               // asked and not yet inside
}

// Request is step 1.
func (l *listener) Request(out *algorithms.Outbox) {
	l.requesting = true
	if l.n == 1 {
		l.hear(l.me) // nobody is there to have a medium with
		l.enterIfFirst(out)
		return
	}
	out.Broadcast(algorithms.Message{Kind: kindRequest})
}

// Transmitted is step 2 for the node's own broadcasts. Of its REPLY it needs
// not hear.
func (l *listener) Transmitted(m algorithms.Message, out *algorithms.Outbox) {
	if m.Kind == kindRequest {
		l.hear(l.me)
		l.enterIfFirst(out)
	}
}

// Receive is step 2 for the broadcasts of others, and what they do in step 4.
func (l *listener) Receive(from algorithms.NodeID, m algorithms.Message, out *algorithms.Outbox) {
	at := slices.IndexFunc(l.waiting, func(r algorithms.Stamp) bool { return r.Node == from })
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
func (l *listener) hear(from algorithms.NodeID) {
	l.requests++
	l.waiting = append(l.waiting, algorithms.Stamp{Clock: l.requests, Node: from})
}

// enterIfFirst is step 3.
func (l *listener) enterIfFirst(out *algorithms.Outbox) {
	if l.requesting && len(l.waiting) > 0 && l.waiting[0].Node == l.me {
		l.requesting = false
		out.Enter(l.waiting[0])
	}
}

// Release is step 4.
func (l *listener) Release(out *algorithms.Outbox) {
	l.waiting = slices.DeleteFunc(l.waiting, func(r algorithms.Stamp) bool { return r.Node == l.me })
	out.Broadcast(algorithms.Message{Kind: kindReply})
}

// QueueLength returns how many REQUESTs are queued, one's own among them.
func (l *listener) QueueLength() int { return len(l.waiting) }

func (l *listener) State(v *algorithms.Visitor) {
	v.Uint("Requests", &l.requests)
	v.Stamps("Waiting", &l.waiting)
	v.Bool("Requesting", &l.requesting)
}
