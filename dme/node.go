package dme

import "strconv"

// NodeID numbers the nodes of a run 1..N, as the papers do. Zero is no node.
type NodeID uint32

// None is the NodeID of no node: an empty pointer, an absent holder.
const None NodeID = 0

func (id NodeID) String() string { return strconv.FormatUint(uint64(id), 10) }

// A Stamp is the timestamp of a request: a logical clock or sequence number,
// with the node that asked as the tie-breaker. The zero Stamp is no stamp.
type Stamp struct {
	Clock uint64
	Node  NodeID
}

// Precedes reports whether a has priority over b: the smaller clock, and among
// equal clocks the smaller node number (Maekawa 1985, section 4(2);
// Ricart and Agrawala TR-869, section 2.1).
func (a Stamp) Precedes(b Stamp) bool {
	if a.Clock != b.Clock {
		return a.Clock < b.Clock
	}
	return a.Node < b.Node
}

// IsZero reports whether the stamp is absent.
func (a Stamp) IsZero() bool { return a == Stamp{} }

func (a Stamp) String() string {
	return "(" + strconv.FormatUint(a.Clock, 10) + "," + a.Node.String() + ")"
}

// A TimerID names one of a node's timers; setting it again moves it.
type TimerID uint8

// Node is one node's half of a mutual exclusion algorithm: a deterministic
// state machine. Its caller serializes the calls; a handler is one atomic
// step, and what it puts into the outbox takes effect in order, after the
// handler has returned.
//
// The caller keeps this protocol: Request only while the node has no request
// pending and is outside its critical section, Release only after the Enter
// that answered the last Request.
type Node interface {
	// Request is called when the local process asks for the critical section.
	Request(out *Outbox)
	// Release is called when the local process leaves the critical section.
	Release(out *Outbox)
	// Receive is called when a message arrives. m.Vec belongs to the node from
	// then on. A message that cannot be (malformed, foreign, stale) is refused
	// by [Outbox.Refuse], never answered by a panic.
	Receive(from NodeID, m Message, out *Outbox)
	// State names every variable to the visitor, which hashes, saves, loads
	// or prints the state.
	State(v *Visitor)
}

// Starter is a Node that does something before the first request.
type Starter interface{ Start(out *Outbox) }

// Stopper is a Node that must be told that no more requests will come, so that
// the system can fall silent: a perpetual token comes to rest with its holder.
type Stopper interface{ Stop(out *Outbox) }

// SharedRequester is a Node that distinguishes readers: several may be in the
// critical section at once.
type SharedRequester interface{ RequestShared(out *Outbox) }

// Timed is a Node that sets timers.
type Timed interface{ Timeout(id TimerID, out *Outbox) }

// Monitor is a Node that listens to the medium on which it broadcasts, as an
// algorithm may that needs a sequenced broadcast. Transmitted is called when a
// broadcast of its own has taken its place in the one order: after all that
// come before it have been received, and before any that comes after it. What
// it hears is no message, and is not counted.
type Monitor interface{ Transmitted(m Message, out *Outbox) }

// Queuer is a Node that keeps a queue of requests about whose length a paper
// makes a claim. It is read after every event.
type Queuer interface{ QueueLength() int }
