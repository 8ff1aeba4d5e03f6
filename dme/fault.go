package dme

// A crash ends a node at once: it forgets everything, what was on its way to it
// is lost, and what it had sent still arrives. After a crash a node may come
// back as a new incarnation: in its initial state, with nothing kept. What is
// sent to a node reaches it only once the sender has heard that it is there:
// between a crash and the Up that follows, messages to it are lost.

// Restarter is a Node that can take part again after a crash. Restart is called
// in place of Start, on a node in its initial state. The local process may ask
// at once: a node that is not ready keeps the request until it is.
type Restarter interface{ Restart(out *Outbox) }

// Joiner is a Node that can become part of a running system, for which it was
// [Config.Absent] until then. Join is called in place of Start; what holds of
// Restart holds of it.
type Joiner interface{ Join(out *Outbox) }

// Leaver is a Node that can leave a running system in an orderly way. Leave is
// called while the local process is idle, and it does not ask again. The node
// is part of the system until it says [Outbox.Left].
type Leaver interface{ Leave(out *Outbox) }

// PeerWatcher is a Node that is told by its surroundings which nodes are there.
// Down comes after the last message of a node that crashed or has left, and Up
// before the first one of its next incarnation; where messages have a bound on
// their delay, Down has the same. A node that comes into the system is told of
// those that are down. Down is never told of a node that is up.
type PeerWatcher interface {
	Down(peer NodeID, out *Outbox)
	Up(peer NodeID, out *Outbox)
}

// TokenHolder is a Node of an algorithm with a token, which can tell whether it
// has it. Faults and reports find the token by it.
type TokenHolder interface{ HasToken() bool }

// Rooted is a System with a node that all others depend on at the start: the
// root of a tree, a coordinator.
type Rooted interface{ Root() NodeID }

// SurvivesAny is [Algorithm.Survives] for an algorithm that goes on while any
// node is left.
func SurvivesAny(s Setting, down []NodeID) bool { return len(down) < s.Nodes }
