package vnet

import (
	"slices"

	"dmebench/dme"
)

// stored is what a step does to a node in one state. It is a function of the
// two, since a node is deterministic: it is computed once by each walker, by
// the node's own handler, and looked up ever after.
type stored struct {
	outcome
	next   uint32 // the node afterwards
	posted []posted
}

// posted is a message that was sent: a parcel without marks, and where its link
// is in a vector.
type posted struct {
	place  int32
	parcel uint32
}

// stimulus says what happens to a node: a step that is no arrival, or a
// message.
type stimulus uint32

const (
	firstTimer   = stimulus(Stop) + 1 // and the timer's number
	firstMessage = firstTimer + 256   // and the parcel's number
)

// stimulusOf returns what x is to its node; parcel is the message that arrives.
func stimulusOf(x Step, parcel uint32) stimulus {
	switch {
	case x.ofMessage():
		return firstMessage + stimulus(parcel)
	case x.Kind == Fire:
		return firstTimer + stimulus(x.Timer)
	}
	return stimulus(x.Kind)
}

// laboratory runs the handlers of nodes, one at a time: it is a network of which
// no more than one handler's doing is looked at.
type laboratory struct {
	*Network
	space   *Space
	key     []byte
	message []byte
}

func newLaboratory(s *Space) *laboratory { return &laboratory{Network: New(s.Model), space: s} }

// try takes a step at a node in the state x; parcel is the message that arrives.
func (l *laboratory) try(x *local, step Step, parcel uint32) stored {
	h := l.runners[x.id]
	h.Restore(x.activity, x.reads)
	if _, err := dme.LoadState([]byte(x.state), h.Node()); err != nil {
		panic("vnet: " + err.Error()) // it was saved by the same node
	}
	if step.ofMessage() {
		l.taken.msg = dme.Message{}
		if err := dme.DecodeMessage([]byte(l.space.parcels.at(parcel).body), &l.taken.msg, nil); err != nil {
			panic("vnet: " + err.Error()) // it was encoded here
		}
	}
	l.begin(step)
	l.inside = l.inside[:0]
	o := stored{outcome: *l.Network.run(step)}
	if o.fatal() {
		// What a panic leaves behind is of no use.
		l.Network = New(l.Model)
		return o
	}
	o.timers = slices.Clone(o.timers)
	for _, i := range l.sends {
		e := &l.event.Effects[i]
		l.message = dme.AppendMessage(l.message[:0], &e.Msg)
		p := posted{place: l.space.places[l.link(x.id, e.To)]}
		p.parcel, l.key = l.space.parcelOf(l.key, passage{From: x.id, To: e.To, broadcast: e.broadcast}, l.message)
		o.posted = append(o.posted, p)
	}
	after := x.process
	after.begin(step)
	after.activity, after.reads = h.Activity(), h.Shared()
	o.next, l.key = l.space.localOf(l.key, x.id, after, h.Node())
	return o
}
