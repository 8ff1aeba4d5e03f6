package dme

import "time"

// Gauge measures a quantity that no message count and no time tells, from what happens at the nodes
// of a run in which all of them can be seen: a simulation, a schedule of the conformance suite. It
// is how an algorithm supplies the figure that a claim of its own is about.
type Gauge struct {
	Quantity string // its ID in the claims

	// Begin returns what follows a run of a system from its start; nil if that cannot be done, or
	// would take too much memory for so many nodes.
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
