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
type NodeSet struct{ set[dme.NodeID] }

// MakeNodeSet returns an empty set with room for the nodes 1..n.
func MakeNodeSet(n int) (s NodeSet) {
	s.words = make([]uint64, n/64+1)
	return s
}

// AddOthers puts the nodes 1..n but me into the set.
func (s *NodeSet) AddOthers(n int, me dme.NodeID) {
	for id := range dme.Others(n, me) {
		s.Add(id)
	}
}

// set has a bit for each of its possible elements.
type set[T dme.NodeID | int] struct{ words []uint64 }

// Add puts x into the set.
func (s *set[T]) Add(x T) { s.words[uint(x)/64] |= 1 << (uint(x) % 64) }

// Remove takes x out of the set.
func (s *set[T]) Remove(x T) { s.words[uint(x)/64] &^= 1 << (uint(x) % 64) }

// Has reports whether x is in the set.
func (s *set[T]) Has(x T) bool {
	w := uint(x) / 64
	return w < uint(len(s.words)) && s.words[w]&(1<<(uint(x)%64)) != 0
}

// Clear empties the set.
func (s *set[T]) Clear() { clear(s.words) }

// Len returns the number of elements.
func (s *set[T]) Len() int {
	n := 0
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// Empty reports whether there is no element.
func (s *set[T]) Empty() bool {
	for _, w := range s.words {
		if w != 0 {
			return false
		}
	}
	return true
}

// All yields the elements in ascending order.
func (s *set[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for i, w := range s.words {
			for ; w != 0; w &= w - 1 {
				if !yield(T(i*64 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

func (s *set[T]) show(v *dme.Visitor) {
	for i := range s.words {
		v.Uint("", &s.words[i])
	}
}

// Show shows the set to a visitor.
func (s *NodeSet) Show(v *dme.Visitor, name string) {
	if !v.Text(name, s.String) {
		s.show(v)
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
type MemberSet struct{ set[int] }

// MakeMemberSet returns an empty set with room for the members of a list of k.
func MakeMemberSet(k int) (s MemberSet) {
	s.Reset(k)
	return s
}

// Reset makes s an empty set of members of another list, of k. It allocates only if no list before
// was as long.
func (s *MemberSet) Reset(k int) {
	s.resize(k)
	s.Clear()
}

func (s *MemberSet) resize(k int) {
	words := (k + 63) / 64
	s.words = slices.Grow(s.words[:0], words)[:words]
}

// Move makes s the set of those of its members that are in another list, which takes the
// place of the one that they are in.
func (s *MemberSet) Move(from, to []dme.NodeID) {
	var members []dme.NodeID
	for i := range s.All() {
		members = append(members, from[i])
	}
	s.Reset(len(to))
	for i, id := range to {
		if slices.Contains(members, id) {
			s.Add(i)
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
	s.show(v)
	for i := range s.All() {
		if i >= len(list) {
			s.Clear()
			v.Fail()
			return
		}
	}
}
