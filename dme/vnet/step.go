package vnet

import (
	"cmp"
	"slices"
	"strconv"

	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
)

// Step is one thing that can happen to a network: what calls a handler, or befalls a
// message. [dme.Start], and the zero Kind of a message from outside, are never enabled.
type Step struct {
	Kind  dme.EventKind `json:"kind"`
	Timer dme.TimerID   `json:"timer,omitempty"` // the timer
	Node  dme.NodeID    `json:"node"`            // where it happens: the receiver of a message
	From  dme.NodeID    `json:"from,omitempty"`  // its sender
	Index int           `json:"index,omitempty"` // the message between the two, in the order of sending, from 0
}

func (x Step) ofMessage() bool {
	return x.Kind == dme.Receive || x.Kind == dme.Copy || x.Kind == dme.Lose
}

func (x Step) ofLink() bool { return x.ofMessage() || x.Kind == dme.PeerDown || x.Kind == dme.PeerUp }

// String returns the step as a replay could be written: "ask 2", "deliver 2->1".
func (x Step) String() string {
	b := append([]byte(cmp.Or(stepWords[x.Kind], x.Kind.String())), ' ')
	if x.ofLink() {
		b = append(b, x.From.String()+"->"...)
	}
	b = append(b, x.Node.String()...)
	switch {
	case x.ofMessage() && x.Index > 0:
		b = strconv.AppendInt(append(b, " #"...), int64(x.Index), 10)
	case x.Kind == dme.Timeout:
		b = strconv.AppendInt(append(b, " timer "...), int64(x.Timer), 10)
	}
	return string(b)
}

var stepWords = [dme.Left + 1]string{
	dme.Request: "ask", dme.RequestShared: "ask-shared", dme.Exit: "leave", dme.Receive: "deliver", dme.Timeout: "fire",
}

// perform runs the handler that the step calls for; m is the message that arrives.
func (x Step) perform(h *noderun.Runner, m *dme.Message) {
	switch x.Kind {
	case dme.Request:
		h.Request()
	case dme.RequestShared:
		h.RequestShared()
	case dme.Exit:
		h.Release()
	case dme.Stop:
		h.Stop()
	case dme.Crash:
		h.Crash()
	case dme.Restart:
		h.Restart()
	case dme.Join:
		h.Join()
	case dme.Depart:
		h.Depart()
	case dme.PeerDown:
		h.PeerDown(x.From)
	case dme.PeerUp:
		h.PeerUp(x.From)
	case dme.Timeout:
		h.Timeout(x.Timer)
	case dme.Receive, dme.Copy:
		if x.From == x.Node {
			h.Transmitted(m)
		} else {
			h.Receive(x.From, m)
		}
	case dme.Start:
		h.Start()
	}
}

// stored is what a step does to a node in one state. It is a function of the
// two, since a node is deterministic: it is computed once by each walker, by
// the node's own handler, and looked up ever after. It fills a cache line.
type stored struct {
	outcome
	hash   Hash   // what is added to the state's, for the node
	posted uint32 // where its messages begin among the walker's,
	posts  uint32 // and how many there are
}

// posted is a message that was sent, without marks, and where its link is in a vector.
type posted struct {
	place   int32
	message uint32
}

// stimulus says what happens to a node: a step that is no arrival, or a message.
type stimulus uint32

const (
	firstTimer   = stimulus(dme.PeerUp) + 1 // and the timer's number
	firstMessage = firstTimer + 256         // and the message's number
)

// stimulusOf returns what x is to its node; message is the one that arrives.
func stimulusOf(x Step, message uint32) stimulus {
	switch {
	case x.ofLink():
		return firstMessage + stimulus(message)
	case x.Kind == dme.Timeout:
		return firstTimer + stimulus(x.Timer)
	}
	return stimulus(x.Kind)
}

// executor runs single handlers: a network in which only their outcome counts.
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
	h := &x.runners[at.id]
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
		// A panic may leave nodes half changed.
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

func (x *executor) refusal(at *local, step Step, message uint32) string {
	x.try(at, step, message)
	return x.runners[at.id].LastRefusal()
}
