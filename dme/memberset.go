package dme

import (
	"iter"
	"slices"
	"strings"
)

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
func (s *MemberSet) Add(i int) { s.at.Add(NodeID(i)) }

// Remove takes the member at i out of the set.
func (s *MemberSet) Remove(i int) { s.at.Remove(NodeID(i)) }

// Has reports whether the member at i is in the set.
func (s *MemberSet) Has(i int) bool { return s.at.Has(NodeID(i)) }

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

// Members shows a set of members of the list, by the numbers of the nodes. Where
// the list changes a node shows it first, so that there is room for the set that
// is loaded.
func (v *Visitor) Members(name string, s *MemberSet, list []NodeID) {
	if v.mode == printing {
		var members []string
		for i := range s.All() {
			members = append(members, list[i].String())
		}
		v.print(name, "{"+strings.Join(members, ",")+"}")
		return
	}
	s.resize(len(list))
	v.Set(name, &s.at)
	for i := range s.All() {
		if i >= len(list) {
			v.bad = true
			s.Clear()
			return
		}
	}
}
