package vnet

import (
	"time"

	"dmebench/dme"
	"dmebench/internal/noderun"
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

// laboratory runs the handlers of nodes, one at a time, and writes down what
// they do. It is the world of its nodes.
type laboratory struct {
	*Space
	runners  []*noderun.Runner
	counters []noderun.Counters
	now      stored
	message  []byte
	key      []byte
	refused  uint64
	refusal  string
}

var _ noderun.World = (*laboratory)(nil)

func newLaboratory(s *Space) *laboratory {
	l := &laboratory{Space: s, runners: make([]*noderun.Runner, s.Nodes+1), counters: make([]noderun.Counters, s.Nodes+1)}
	for id := range s.IDs() {
		l.runners[id] = noderun.New(s.Algorithm, s.System, s.Nodes, id, l, &l.counters[id])
	}
	return l
}

// try takes a step at a node; parcel is the message that arrives.
func (l *laboratory) try(x *local, step Step, parcel uint32) stored {
	l.now = stored{}
	h, c := l.runners[x.id], &l.counters[x.id]
	h.Restore(x.activity, x.reads)
	if _, err := dme.LoadState([]byte(x.state), h.Node()); err != nil {
		panic("vnet: " + err.Error()) // it was saved by the same node
	}
	var m dme.Message
	if step.ofMessage() {
		if err := dme.DecodeMessage([]byte(l.parcels.at(parcel).body), &m, nil); err != nil {
			panic("vnet: " + err.Error()) // it was encoded here
		}
	}
	unasked, refused := c.Unasked.Load(), c.Refused.Load()
	text := try(true, h, func(h *noderun.Runner) { step.perform(h, &m) })
	if c.Unasked.Load() > unasked {
		l.now.broken = uninvited(x.id)
	}
	if n := c.Refused.Load() - refused; n > 0 {
		l.refused += n
		l.refusal = h.LastRefusal()
	}
	if text != "" {
		// What a panic leaves behind is of no use.
		l.counters[x.id] = noderun.Counters{}
		l.runners[x.id] = noderun.New(l.Algorithm, l.System, l.Nodes, x.id, l, c)
		l.now.broken = panicked(x.id, text)
		return l.now
	}
	after := x.process
	after.begin(step)
	after.activity, after.reads = h.Activity(), h.Shared()
	l.now.next, l.key = l.localOf(l.key, x.id, after, h.Node())
	l.now.sent = len(l.now.posted)
	return l.now
}

// Send implements [noderun.World].
func (l *laboratory) Send(from, to dme.NodeID, m *dme.Message) {
	l.message = dme.AppendMessage(l.message[:0], m)
	l.post(passage{From: from, To: to})
}

// Broadcast implements [noderun.World].
func (l *laboratory) Broadcast(from dme.NodeID, m *dme.Message) (transmissions int) {
	l.message = dme.AppendMessage(l.message[:0], m)
	for to := range l.IDs() {
		if to != from || l.Sequenced {
			l.post(passage{From: from, To: to, broadcast: l.Sequenced})
		}
	}
	return 1
}

func (l *laboratory) post(p passage) {
	x := posted{place: l.places[l.link(p.From, p.To)]}
	x.parcel, l.key = l.parcelOf(l.key, p, l.message)
	l.now.posted = append(l.now.posted, x)
}

// Enter implements [noderun.World].
func (l *laboratory) Enter(dme.NodeID, dme.Stamp) { l.now.entered = true }

// SetTimer implements [noderun.World].
func (l *laboratory) SetTimer(id dme.NodeID, timer dme.TimerID, delay time.Duration) {
	l.now.timers = append(l.now.timers, timing{Timer{id, timer, delay, l.reach(delay)}, true})
}

// CancelTimer implements [noderun.World].
func (l *laboratory) CancelTimer(id dme.NodeID, timer dme.TimerID) {
	l.now.timers = append(l.now.timers, timing{Timer: Timer{Node: id, ID: timer}})
}
