package dme

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strconv"
	"strings"
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
