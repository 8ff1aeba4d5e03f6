package dme

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// EventKind says what happens at a node, or to a message on its way to it. It is the one vocabulary
// for all descriptions of runs, each of which uses a part of it: effects of handlers, gauges, steps
// of a network in memory, observers of nodes, recordings and scenarios. The zero EventKind is no
// event.
type EventKind uint8

// Events that call a handler, and begin a step of its node; or that happen to a message.
const (
	Start         EventKind = iota + 1 // the node begins
	Request                            // the local process asks for the critical section
	RequestShared                      // the same, as a reader
	Exit                               // the local process leaves the critical section
	Receive                            // a message arrives
	Hear                               // the node's own broadcast takes its place among all
	Copy                               // a message arrives, and will arrive again
	Lose                               // a message is lost, and the node never hears of it
	Timeout                            // a timer fires
	Stop                               // no more requests will come to the node
	Crash                              // the node is gone, and has forgotten everything
	Restart                            // a node that crashed comes back
	Join                               // a node that was absent comes in
	Depart                             // the node is to leave the system
	PeerDown                           // the node hears that another is down
	PeerUp                             // the node hears that another is up
)

// Effects of a handler, which belong to the step that its node has begun last.
const (
	Send        EventKind = iota + PeerUp + 1 // a message to one node
	Broadcast                                 // a message to all others
	Enter                                     // the local process enters the critical section
	SetTimer                                  // a timer is set
	CancelTimer                               // a timer is cancelled
	Refuse                                    // the message that has arrived is refused
	Left                                      // the node is no part of the system any more
)

var eventWords = [...]string{
	Start: "start", Request: "request", RequestShared: "request-shared", Exit: "exit", Receive: "receive", Hear: "hear",
	Copy: "copy", Lose: "lose", Timeout: "timer", Stop: "stop", Crash: "crash", Restart: "restart", Join: "join", Depart: "depart",
	PeerDown: "down", PeerUp: "up",
	Send: "send", Broadcast: "broadcast", Enter: "enter", SetTimer: "set-timer", CancelTimer: "cancel-timer", Refuse: "refuse", Left: "left",
}

// IsEffect reports whether this is what a handler does, and not what calls it.
func (k EventKind) IsEffect() bool { return k >= Send }

// String returns the word for it in files; "" for no event.
func (k EventKind) String() string {
	if int(k) < len(eventWords) {
		return eventWords[k]
	}
	return fmt.Sprintf("event %d", uint8(k))
}

// ErrNoEvent is the error of [ParseEvent], which tells the word too.
var ErrNoEvent = errors.New("there is no event")

// ParseEvent reads what [EventKind.String] returns.
func ParseEvent(word string) (EventKind, error) {
	if k := slices.Index(eventWords[:], word); k > 0 {
		return EventKind(k), nil
	}
	return 0, fmt.Errorf("%w %q", ErrNoEvent, word)
}

func (k EventKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

func (k *EventKind) UnmarshalText(text []byte) (err error) {
	*k, err = ParseEvent(string(text))
	return err
}

// Gauge measures a quantity that no message count and no time tells, from what happens at the nodes
// of a run in which all of them can be seen: a simulation, a schedule of the conformance suite. It
// is how an algorithm supplies the figure that a claim of its own is about.
type Gauge struct {
	Quantity string // its ID in the claims

	// Begin returns what follows a run of a system from its start; nil if that cannot be done, or
	// would take too much memory for that many nodes.
	Begin func(Setting) Meter
}

// Meter follows one run. It may read the nodes, and changes nothing in them.
type Meter interface {
	// Note is called for everything that happens at a node, in the system's order: first what
	// called a handler, then what the handler did. The state of the node is the one after the
	// handler. The event is valid during the call.
	Note(*Event)
	// Value returns the quantity until now; ok is false if there was nothing to measure.
	Value() (value float64, ok bool)
}

// Event is one thing that has happened at a node: what has called a handler or, of what
// the handler did, [Enter] and [Send], which is to one node; a broadcast is one to each.
type Event struct {
	Kind EventKind
	ID   NodeID
	At   time.Duration // since the nodes were started; 0 if there is no time
	Node Node          // in the state in which it left the node

	Peer NodeID // the sender of the message, or its receiver
	Msg  Message

	// OnTheWay counts messages sent and not handled after the handler, lost ones included.
	OnTheWay int
}

// Largest is a [Meter] of the largest, never negative, of what of says of each moment.
func Largest(of func(*Event) (value float64, ok bool)) Meter { return &largest{of: of} }

type largest struct {
	of    func(*Event) (float64, bool)
	value float64
	any   bool
}

func (l *largest) Note(x *Event) {
	if value, ok := l.of(x); ok {
		l.value, l.any = max(l.value, value), true
	}
}

func (l *largest) Value() (float64, bool) { return l.value, l.any }
