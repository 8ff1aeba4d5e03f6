package dme

import (
	"iter"
	"slices"
	"strings"
)

// MemberSet is a set of members of a list of nodes, such as a request set. It
// keeps a bit for each position in the list, so that a node that asks K of N
// others has K/8 bytes for it and not N/8. Make one with [MakeMemberSet]; the
// zero MemberSet is empty, and nothing is on its list.
type MemberSet struct {
	list []NodeID // ascending; the caller's
	at   NodeSet  // positions in list, from 0
}

// MakeMemberSet returns an empty set of members of the list, which is in
// ascending order and must not change while the set is in use.
func MakeMemberSet(list []NodeID) MemberSet {
	var s MemberSet
	s.Reset(list)
	return s
}

// Reset makes s an empty set of members of another list. It allocates only
// where the list is longer than any before.
func (s *MemberSet) Reset(list []NodeID) {
	s.enlist(list)
	s.Clear()
}

func (s *MemberSet) enlist(list []NodeID) {
	s.list = list
	s.at.words = resize(s.at.words, (len(list)+63)/64)
}

// Add puts id into the set, if it is on the list.
func (s *MemberSet) Add(id NodeID) {
	if i, ok := slices.BinarySearch(s.list, id); ok {
		s.at.Add(NodeID(i))
	}
}

// Remove takes id out of the set.
func (s *MemberSet) Remove(id NodeID) {
	if i, ok := slices.BinarySearch(s.list, id); ok {
		s.at.Remove(NodeID(i))
	}
}

// Has reports whether id is in the set, in time proportional to the logarithm
// of the list's length.
func (s *MemberSet) Has(id NodeID) bool {
	i, ok := slices.BinarySearch(s.list, id)
	return ok && s.at.Has(NodeID(i))
}

// Clear empties the set.
func (s *MemberSet) Clear() { s.at.Clear() }

// Len returns the number of nodes in the set.
func (s *MemberSet) Len() int { return s.at.Len() }

// Empty reports whether the set has no node.
func (s *MemberSet) Empty() bool { return s.at.Empty() }

// Full reports whether all nodes on the list are in the set.
func (s *MemberSet) Full() bool { return s.at.Len() == len(s.list) }

// All yields the nodes of the set in ascending order.
func (s *MemberSet) All() iter.Seq[NodeID] {
	return func(yield func(NodeID) bool) {
		for i := range s.at.All() {
			if !yield(s.list[i]) {
				return
			}
		}
	}
}

// Members shows a set of members of the list, by their numbers. A node whose
// list changes shows that first, so that the set is loaded with room for it.
func (v *Visitor) Members(name string, s *MemberSet, list []NodeID) {
	if v.mode == printing {
		var members []string
		for id := range s.All() {
			members = append(members, id.String())
		}
		v.print(name, "{"+strings.Join(members, ",")+"}")
		return
	}
	s.enlist(list)
	v.Set(name, &s.at)
	for i := range s.at.All() {
		if int(i) >= len(list) {
			v.bad = true
			s.Clear()
			return
		}
	}
}
