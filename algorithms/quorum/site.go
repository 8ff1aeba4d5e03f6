package quorum

import "dmebench/dme"

// Site is what a node has, whatever its algorithm, that asks a request set and
// is asked by others: who they are, and what it says to itself.
type Site struct {
	ID      dme.NodeID
	Members []dme.NodeID // S_ID, ascending
	Served  []dme.NodeID // the nodes in whose request sets this one is, ascending

	// What the node says to itself waits here for the end of the handler, so
	// that handlers never nest. Empty between events, hence not part of the state.
	local []dme.Message
}

// Site returns what node id has.
func (s *System) Site(id dme.NodeID) Site {
	return Site{ID: id, Members: s.RequestSet(id), Served: s.Served(id)}
}

// MemberIndex returns the position of a member in S_ID, or −1.
func (n *Site) MemberIndex(id dme.NodeID) int { return position(n.Members, id) }

// Serves reports whether this node is in the request set of id.
func (n *Site) Serves(id dme.NodeID) bool { return position(n.Served, id) >= 0 }

// position returns where id is among nodes in ascending order, or −1. It stands
// on the way of every message, where slices.BinarySearch takes twice the time.
func position(ascending []dme.NodeID, id dme.NodeID) int {
	low, high := 0, len(ascending)
	for low < high {
		if middle := int(uint(low+high) / 2); ascending[middle] < id {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low < len(ascending) && ascending[low] == id {
		return low
	}
	return -1
}

// TellSelf keeps what the node says to itself until the handler has ended.
func (n *Site) TellSelf(m *dme.Message) { n.local = append(n.local, *m) }

// HandleLocal handles what the node has said to itself, in order, until it has
// nothing more to say.
func (n *Site) HandleLocal(handle func(dme.NodeID, dme.Message, *dme.Outbox), out *dme.Outbox) {
	for i := 0; i < len(n.local); i++ {
		handle(n.ID, n.local[i], out)
	}
	n.local = n.local[:0]
}

// Believable reports whether a message's clock can be one: it is bounded so that a
// garbled message cannot make a clock overflow.
func Believable(clock uint64) bool { return clock > 0 && clock <= 1<<62 }
