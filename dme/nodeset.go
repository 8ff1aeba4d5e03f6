package dme

import (
	"iter"
	"math/bits"
)

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

// NodeSet is a set of the nodes 1..N. Make one with [MakeNodeSet]; the zero
// NodeSet is empty and has no room.
type NodeSet struct {
	words []uint64
}

// MakeNodeSet returns an empty set with room for the nodes 1..n.
func MakeNodeSet(n int) NodeSet { return NodeSet{words: make([]uint64, n/64+1)} }

// Add puts id into the set.
func (s *NodeSet) Add(id NodeID) { s.words[id/64] |= 1 << (id % 64) }

// AddOthers puts the nodes 1..n but me into the set.
func (s *NodeSet) AddOthers(n int, me NodeID) {
	for id := NodeID(1); int(id) <= n; id++ {
		if id != me {
			s.Add(id)
		}
	}
}

// Remove takes id out of the set.
func (s *NodeSet) Remove(id NodeID) { s.words[id/64] &^= 1 << (id % 64) }

// Has reports whether id is in the set.
func (s *NodeSet) Has(id NodeID) bool {
	w := int(id / 64)
	return w < len(s.words) && s.words[w]&(1<<(id%64)) != 0
}

// Clear empties the set.
func (s *NodeSet) Clear() { clear(s.words) }

// Len returns the number of nodes in the set.
func (s *NodeSet) Len() int {
	n := 0
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// Empty reports whether the set has no node.
func (s *NodeSet) Empty() bool {
	for _, w := range s.words {
		if w != 0 {
			return false
		}
	}
	return true
}

// All yields the nodes of the set in ascending order.
func (s *NodeSet) All() iter.Seq[NodeID] {
	return func(yield func(NodeID) bool) {
		for i, w := range s.words {
			for ; w != 0; w &= w - 1 {
				if !yield(NodeID(i*64 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}
