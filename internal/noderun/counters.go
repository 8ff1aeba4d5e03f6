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
// in two successive readings that agree with each other, no message is in
// flight.
type Counters struct {
	Sent    [dme.MaxKinds + 1]atomic.Uint64 // by kind, one for each receiver
	Handled [dme.MaxKinds + 1]atomic.Uint64 // by kind, refused ones included

	SentTotal     atomic.Uint64 // sum of Sent
	HandledTotal  atomic.Uint64 // sum of Handled
	Transmissions atomic.Uint64 // like SentTotal, but a native broadcast counts once
	Bytes         atomic.Uint64 // encoded messages, without the transport's framing
	Requests      atomic.Uint64 // calls of Request
	Entries       atomic.Uint64 // calls of Release
	Refused       atomic.Uint64 // messages that the node refused
	Unasked       atomic.Uint64 // entries without a request: violations

	LongestMessage atomic.Uint64 // bytes
	LongestQueue   atomic.Uint64 // requests, where the node can tell
	Activity       atomic.Uint64 // an Activity
	Timers         atomic.Uint64 // timers armed
	Pending        atomic.Uint64 // requests that the local process has still to make; 1 stands for some
	LastMove       atomic.Int64  // time of the last handled event, ns on the runtime's clock
	_              [2]uint64
}
