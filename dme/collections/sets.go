// Package collections has the sets and queues that authors of algorithms share.
// Each shows itself to a [dme.Visitor], so that it is saved, loaded and printed
// as one variable of a node. None is safe for several goroutines.
package collections

import (
	"iter"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"dmebench/dme"
)

// NodeSet is a set of the nodes 1..N. Make one with [MakeNodeSet]; the zero
// NodeSet is empty and has no room.
type NodeSet struct {
	words []uint64
}

// MakeNodeSet returns an empty set with room for the nodes 1..n.
func MakeNodeSet(n int) NodeSet { return NodeSet{words: make([]uint64, n/64+1)} }

// Add puts id into the set.
func (s *NodeSet) Add(id dme.NodeID) { s.words[id/64] |= 1 << (id % 64) }

// AddOthers puts the nodes 1..n but me into the set.
func (s *NodeSet) AddOthers(n int, me dme.NodeID) {
	for id := dme.NodeID(1); int(id) <= n; id++ {
		if id != me {
			s.Add(id)
		}
	}
}

// Remove takes id out of the set.
func (s *NodeSet) Remove(id dme.NodeID) { s.words[id/64] &^= 1 << (id % 64) }

// Has reports whether id is in the set.
func (s *NodeSet) Has(id dme.NodeID) bool {
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
func (s *NodeSet) All() iter.Seq[dme.NodeID] {
	return func(yield func(dme.NodeID) bool) {
		for i, w := range s.words {
			for ; w != 0; w &= w - 1 {
				if !yield(dme.NodeID(i*64 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// Show shows the set to a visitor.
func (s *NodeSet) Show(v *dme.Visitor, name string) {
	if v.Text(name, s.String) {
		return
	}
	for i := range s.words {
		v.Uint("", &s.words[i])
	}
}

func (s *NodeSet) String() string {
	var b []byte
	for id := range s.All() {
		b = strconv.AppendUint(append(b, ','), uint64(id), 10)
	}
	return "{" + strings.TrimPrefix(string(b), ",") + "}"
}

// MemberSet is a set of members of a list of nodes, such as a request set. A
// member is known by its position in the list, from 0, so that a node that asks
// K of N others keeps K/8 bytes and not N/8. Make one with [MakeMemberSet]; the
// zero MemberSet is empty and has no room.
type MemberSet struct{ at NodeSet }

// MakeMemberSet returns an empty set with room for the members of a list of k.
func MakeMemberSet(k int) (s MemberSet) {
	s.Reset(k)
	return s
}

// Reset makes s an empty set of members of another list, of k. It allocates only
// where no list before was as long.
func (s *MemberSet) Reset(k int) {
	s.resize(k)
	s.Clear()
}

func (s *MemberSet) resize(k int) {
	words := (k + 63) / 64
	s.at.words = slices.Grow(s.at.words[:0], words)[:words]
}

// Add puts the member at i into the set.
func (s *MemberSet) Add(i int) { s.at.Add(dme.NodeID(i)) }

// Remove takes the member at i out of the set.
func (s *MemberSet) Remove(i int) { s.at.Remove(dme.NodeID(i)) }

// Has reports whether the member at i is in the set.
func (s *MemberSet) Has(i int) bool { return s.at.Has(dme.NodeID(i)) }

// Clear empties the set.
func (s *MemberSet) Clear() { s.at.Clear() }

// Len returns the number of members in the set.
func (s *MemberSet) Len() int { return s.at.Len() }

// Empty reports whether the set has no member.
func (s *MemberSet) Empty() bool { return s.at.Empty() }

// All yields the members of the set in the order of the list.
func (s *MemberSet) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range s.at.All() {
			if !yield(int(i)) {
				return
			}
		}
	}
}

// Show shows the set to a visitor, by the numbers of the nodes in the list. If the
// list changes, show it first, so that there is room for the set that is loaded.
func (s *MemberSet) Show(v *dme.Visitor, name string, list []dme.NodeID) {
	printed := v.Text(name, func() string {
		var members []string
		for i := range s.All() {
			members = append(members, list[i].String())
		}
		return "{" + strings.Join(members, ",") + "}"
	})
	if printed {
		return
	}
	s.resize(len(list))
	s.at.Show(v, name)
	for i := range s.All() {
		if i >= len(list) {
			s.Clear()
			v.Fail()
			return
		}
	}
}
