package dme

import (
	"errors"
	"fmt"
	"slices"
)

// EventKind says what happens at a node, or to a message on its way to it. It is the one vocabulary
// for all descriptions of runs, each of which uses a part of it: effects of handlers, gauges, steps
// of a network in memory, observers of nodes, recordings and scenarios. The zero EventKind is no
// event.
type EventKind uint8

// What calls a handler, and begins a step of its node; or befalls a message.
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

// What a handler does: its effects, which belong to the step that its node has begun last.
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
