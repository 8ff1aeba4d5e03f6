package dme

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// NodeID numbers the nodes of a run 1..N, as the papers do. Zero is no node.
type NodeID uint32

// None is the NodeID of no node: an empty pointer, an absent holder.
const None NodeID = 0

func (id NodeID) String() string { return strconv.FormatUint(uint64(id), 10) }

// Others yields the nodes 1..n but me, in ascending order.
func Others(n int, me NodeID) iter.Seq[NodeID] {
	return func(yield func(NodeID) bool) {
		for id := NodeID(1); int(id) <= n; id++ {
			if id != me && !yield(id) {
				return
			}
		}
	}
}

// ParseNodes reads node numbers and ranges of them, separated by commas:
// "1,3-5". It returns them in ascending order, each once.
func ParseNodes(s string) ([]NodeID, error) {
	var nodes []NodeID
	for item := range strings.SplitSeq(s, ",") {
		first, last, isRange := strings.Cut(item, "-")
		if !isRange {
			last = first
		}
		a, err1 := strconv.ParseUint(first, 10, 20)
		b, err2 := strconv.ParseUint(last, 10, 20)
		if err1 != nil || err2 != nil || a < 1 || b < a {
			return nil, fmt.Errorf("%q is neither a node number nor a range of them", item)
		}
		for id := NodeID(a); id <= NodeID(b); id++ {
			nodes = append(nodes, id)
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes), nil
}

// FormatNodes writes what [ParseNodes] reads; nodes are in ascending order.
func FormatNodes(nodes []NodeID) string {
	var b []byte
	for i := 0; i < len(nodes); {
		end := i + 1
		for end < len(nodes) && nodes[end] == nodes[end-1]+1 {
			end++
		}
		if len(b) > 0 {
			b = append(b, ',')
		}
		b = append(b, nodes[i].String()...)
		if end-i > 1 {
			b = append(b, '-')
			b = append(b, nodes[end-1].String()...)
		}
		i = end
	}
	return string(b)
}

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
	// State names every variable to the visitor, which hashes, saves, loads or prints the state.
	State(v *Visitor)
}

// Starter is a Node that does something before its first request and its first message.
type Starter interface{ Start(out *Outbox) }

// Stopper is a Node that must hear when no more requests will come, so that the system can fall
// silent: a perpetual token comes to rest with its holder.
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

// Activity says where the local process of a node stands.
type Activity uint32

// A local process is idle, has asked for the critical section, or is inside;
// or its node is no part of the system: it has crashed, has left, or has not
// joined yet.
const (
	Idle Activity = iota
	Requesting
	Inside
	Down
)

func (a Activity) String() string {
	switch a {
	case Idle:
		return "idle"
	case Requesting:
		return "requesting"
	case Inside:
		return "in the critical section"
	case Down:
		return "down"
	}
	return "unknown"
}

// Wait is one reason for which a node cannot go on: it needs something of a
// peer. It is an edge of the wait-for graph by which a standstill is explained.
type Wait struct {
	For  NodeID `json:"for"`  // None if the node cannot know which node has it: a token
	What string `json:"what"` // in the paper's words, as what follows "waits for 2's …": "REPLY", "RELEASE of its lock", "PRIVILEGE"
}

// WaitsFor returns a wait for the same thing of each of the nodes.
func WaitsFor(what string, nodes iter.Seq[NodeID]) []Wait {
	var waits []Wait
	for id := range nodes {
		waits = append(waits, Wait{For: id, What: what})
	}
	return waits
}

// WaitIf returns a wait for the same thing of each of the nodes, if that is waited for.
func WaitIf(waits bool, what string, nodes ...NodeID) []Wait {
	if !waits {
		return nil
	}
	return WaitsFor(what, slices.Values(nodes))
}

// A crash ends a node at once: it forgets everything, what was on its way to it
// is lost, and what it had sent still arrives. After a crash a node may come
// back as a new incarnation: in its initial state, with nothing kept. A message
// to a node reaches it only once the sender has heard that it is there:
// between a crash and the Up that follows, messages to it are lost.

// Restarter is a Node that can take part again after a crash. Restart is called
// in place of Start, on a node in its initial state. The local process may ask
// at once: a node that is not ready keeps the request until it is.
type Restarter interface{ Restart(out *Outbox) }

// Member is a Node that can come into a running system and leave it in an orderly
// way.
//
// Join is called in place of Start, on a node that was [Config.Absent] until then;
// what holds of Restart holds of it. Depart is called while the local process is idle,
// and it does not ask again: the node is part of the system until it says
// [Outbox.Left].
type Member interface {
	Join(out *Outbox)
	Depart(out *Outbox)
}

// PeerWatcher is a Node that hears which nodes are there. Down comes after the last message of a
// node that crashed or has left, and Up before the first one of its next incarnation; if messages
// have a bound on their delay, Down has the same. A node that comes into the system hears which
// nodes are down. Down is never called for a node that is up.
type PeerWatcher interface {
	Down(peer NodeID, out *Outbox)
	Up(peer NodeID, out *Outbox)
}

// SurvivesAny is [Algorithm.Survives] for an algorithm that goes on while any node is left.
func SurvivesAny(s Setting, down []NodeID) bool { return len(down) < s.Nodes }
