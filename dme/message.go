package dme

import "time"

// Kind is the type of a message. Kinds 1, 2, … are the names in
// [Algorithm.Kinds], in order. Kind 0 is never an algorithm's: runtimes use it
// for frames of their own.
type Kind uint8

// MaxKinds is the largest number of message kinds that an algorithm may have.
const MaxKinds = 15

// Message is what nodes say to each other: one flat value for all algorithms.
// A field that an algorithm does not use stays zero and costs nothing on the
// wire.
type Message struct {
	Kind  Kind
	Flags uint8
	Node  NodeID   // a node that the message speaks of, if that is not the sender
	Clock uint64   // the sender's logical clock, or a request's sequence number
	Num   uint64   // a second number: a grant, a hop, a generation
	Req   Stamp    // the request that the message belongs to or answers
	Done  Stamp    // the last request known to be satisfied
	Vec   []uint64 // a vector: a token's array and queue. Handed over by Send, copied by Broadcast
}

// Effect is one entry of an [Outbox], of a kind from [Send] to [Left]; the fields that its kind needs are set.
type Effect struct {
	Kind   EventKind
	Timer  TimerID
	To     NodeID
	Stamp  Stamp
	Delay  time.Duration
	Reason string
	Msg    Message
}

// Outbox collects the effects of one handler, in order. It is reused from
// event to event, so that no event allocates.
type Outbox struct {
	effects []Effect
}

func (o *Outbox) add() *Effect {
	if len(o.effects) < cap(o.effects) {
		o.effects = o.effects[:len(o.effects)+1]
	} else {
		o.effects = append(o.effects, Effect{})
	}
	return &o.effects[len(o.effects)-1]
}

// Send sends m to the node to, which is another node: what a node would send
// to itself it handles without a message. m.Vec is handed over.
func (o *Outbox) Send(to NodeID, m Message) {
	e := o.add()
	e.Kind, e.To, e.Msg = Send, to, m
}

// Broadcast sends m to all other nodes of the system. m.Vec is copied for each.
func (o *Outbox) Broadcast(m Message) {
	e := o.add()
	e.Kind, e.Msg = Broadcast, m
}

// Enter lets the local process into the critical section. The stamp, if there is one, is the
// request's timestamp: what checks of the order of entries read.
func (o *Outbox) Enter(stamp Stamp) {
	e := o.add()
	e.Kind, e.Stamp = Enter, stamp
}

// SetTimer calls the node's Timeout(id) after d, unless it is set again or cancelled before.
func (o *Outbox) SetTimer(id TimerID, d time.Duration) {
	e := o.add()
	e.Kind, e.Timer, e.Delay = SetTimer, id, d
}

// CancelTimer cancels the timer id, if it is set.
func (o *Outbox) CancelTimer(id TimerID) {
	e := o.add()
	e.Kind, e.Timer = CancelTimer, id
}

// Refuse says that the message just received was malformed or impossible and
// has been dropped. The reason is a constant string; runtimes count it.
func (o *Outbox) Refuse(reason string) {
	e := o.add()
	e.Kind, e.Reason = Refuse, reason
}

// Left says that a node that was to leave is no longer part of the system: no node expects an
// answer from it, and its process may end.
func (o *Outbox) Left() {
	e := o.add()
	e.Kind = Left
}

// Effects returns what has been collected since the last Reset. It is valid until then.
func (o *Outbox) Effects() []Effect { return o.effects }

// Reset empties the outbox and keeps its memory.
func (o *Outbox) Reset() { o.effects = o.effects[:0] }
