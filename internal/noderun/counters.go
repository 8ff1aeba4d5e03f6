package noderun

import (
	"sync/atomic"

	"dmebench/dme"
)

// Activity says where the local process of a node stands.
type Activity uint32

// A local process is idle, has asked for the critical section, or is inside.
const (
	Idle Activity = iota
	Requesting
	Inside
)

func (a Activity) String() string {
	switch a {
	case Idle:
		return "idle"
	case Requesting:
		return "requesting"
	case Inside:
		return "in the critical section"
	}
	return "unknown"
}

// Counters is what is counted at one node. Its node alone writes it; anybody
// may read it at any time. It holds no pointer and is a whole number of cache
// lines long, so that it can lie in memory that processes share, where it
// survives the death of its writer.
//
// A message is counted as handled after everything that its handler sent has
// been counted as sent: when the sums of Sent and Handled over all nodes agree
// in two successive looks that agree with each other, no message is in flight.
type Counters = counters[atomic.Uint64, atomic.Int64]

// Counts is a plain copy of Counters.
type Counts = counters[uint64, int64]

// counters lists what is counted, in words of 64 bits.
type counters[U, I any] struct {
	Sent    [dme.MaxKinds + 1]U // by kind, one for each receiver
	Handled [dme.MaxKinds + 1]U // by kind, refused ones included

	SentTotal     U // sum of Sent
	HandledTotal  U // sum of Handled
	Transmissions U // like SentTotal, but a native broadcast counts once
	Bytes         U // encoded messages, without the transport's framing
	Requests      U // calls of Request
	Entries       U // calls of Release
	Refused       U // messages that the node refused
	Unasked       U // entries without a request: violations

	LongestMessage U // bytes
	LongestQueue   U // requests, where the node can tell
	Activity       U // an Activity
	Timers         U // timers armed
	Pending        U // requests that the local process has still to make; 1 stands for some
	LastMove       I // time of the last handled event, ns on the runtime's clock
	_              [2]U
}
