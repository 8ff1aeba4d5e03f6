package vnet

import (
	"slices"

	"dmebench/dme"
)

// stored is what a step does to a node in one state. It is a function of the
// two, since a node is deterministic: it is computed once by each walker, by
// the node's own handler, and looked up ever after. It fills a cache line.
type stored struct {
	outcome
	hash   Hash   // what is added to the state's, for the node
	posted uint32 // where its messages begin among the walker's,
	posts  uint32 // and how many there are
}

// posted is a message that was sent, without marks, and where its link is in a
// vector.
type posted struct {
	place   int32
	message uint32
}

// stimulus says what happens to a node: a step that is no arrival, or a
// message.
type stimulus uint32

const (
	firstTimer   = stimulus(Up) + 1 // and the timer's number
	firstMessage = firstTimer + 256 // and the message's number
)

// stimulusOf returns what x is to its node; message is the one that arrives.
func stimulusOf(x Step, message uint32) stimulus {
	switch {
	case x.ofLink():
		return firstMessage + stimulus(message)
	case x.Kind == Fire:
		return firstTimer + stimulus(x.Timer)
	}
	return stimulus(x.Kind)
}

// executor runs the handlers of nodes, one at a time: it is a network of which
// only what one handler does is looked at.
type executor struct {
	*Network
	space *Space
	sent  []posted // by the last handler
	key   []byte
	body  []byte
}

func newExecutor(s *Space) *executor { return &executor{Network: unjudged(s.Model), space: s} }

// try takes a step at a node; message is the one that arrives.
func (x *executor) try(at *local, step Step, message uint32) stored {
	h := x.runners[at.id]
	h.Restore(at.activity, at.reads)
	at.load(h.Node())
	if step.ofMessage() {
		x.taken.msg = dme.Message{}
		x.space.messages.at(message).decode(&x.taken.msg)
	}
	x.begin(step, false)
	x.inside = x.inside[:0]
	x.processes[at.id] = at.process
	x.processes[at.id].begin(step)
	x.sent = x.sent[:0]
	refused := x.counters[at.id].Refused.Load()
	o := stored{outcome: *x.Network.run(step)}
	if o.fatal() {
		// What a panic leaves behind is of no use.
		x.Network = unjudged(x.Model)
		return o
	}
	o.refused = x.counters[at.id].Refused.Load() > refused
	o.timers = slices.Clone(o.timers)
	for i := range x.sending {
		t := &x.sending[i]
		x.body = dme.AppendMessage(x.body[:0], &t.msg)
		p := posted{place: x.space.places[x.link(t.From, t.To)]}
		p.message, x.key = x.space.messageOf(x.key, t.passage, x.body)
		x.sent = append(x.sent, p)
	}
	o.next, x.key = x.space.localOf(x.key, at.id, x.processes[at.id], h.Node())
	o.hash = x.space.locals.at(o.next).minus(at.Hash)
	return o
}

// refusal returns why a node refuses the message that arrives in a step.
func (x *executor) refusal(at *local, step Step, message uint32) string {
	x.try(at, step, message)
	return x.runners[at.id].LastRefusal()
}
