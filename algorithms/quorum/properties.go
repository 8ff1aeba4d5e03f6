package quorum

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strings"

	"dmebench/dme"
)

// MaxDisjoint bounds the number of pairs of each kind that [Properties] lists.
const MaxDisjoint = 16

// Remarks says what a user of a system should know who has written down its sets himself,
// a line each: of which sets more is asked than mutual exclusion needs. It says nothing
// of constructions.
func (s *System) Remarks() []string {
	if !strings.HasPrefix(s.name, fromFile) {
		return nil
	}
	p := s.Properties()
	if p.Minimal() {
		return nil
	}
	larger, smaller := p.Nested[0][0], p.Nested[0][1]
	remark := fmt.Sprintf("quorum=%s: S_%d contains S_%d", s.name, larger, smaller)
	if p.NestedPairs > 1 {
		remark += fmt.Sprintf(", and %d more request sets contain a smaller one", p.NestedPairs-1)
	}
	return []string{remark + ": no coterie (the textbook's section 9.7), and such a node asks more nodes than it has to; " +
		"that any two sets meet keeps them apart all the same"}
}

// Properties says which of the four properties of Maekawa 1985, section 2, a
// system has, and what contradicts those that it has not.
type Properties struct {
	// Disjoint lists pairs i < j with S_i ∩ S_j = ∅, the first MaxDisjoint of
	// them in ascending order; DisjointPairs counts them all.
	Disjoint      [][2]dme.NodeID
	DisjointPairs int

	// Nested lists pairs {i, j} with S_i ⊃ S_j, S_i being the larger, the first
	// MaxDisjoint of them in ascending order of j; NestedPairs counts them all.
	Nested      [][2]dme.NodeID
	NestedPairs int

	// Selfless lists the nodes i ∉ S_i, ascending.
	Selfless []dme.NodeID

	// UniqueMeets reports whether any two request sets have exactly one common
	// node.
	UniqueMeets bool

	// Sizes is the spread of K = |S_i| over the nodes, Loads that of D, the
	// number of sets that contain a node.
	Sizes, Loads Spread
}

// Intersecting reports property (a): any two request sets have a common node.
// Without it two nodes can be in their critical sections together.
func (p *Properties) Intersecting() bool { return p.DisjointPairs == 0 }

// Minimal reports whether no request set contains a smaller one, as in a coterie (the
// textbook's section 9.7). Maekawa does not ask for it, and mutual exclusion does not rest
// on it: a node whose set contains another's asks more nodes than it would have to.
func (p *Properties) Minimal() bool { return p.NestedPairs == 0 }

// SelfIncluded reports property (b): i ∈ S_i. It saves messages.
func (p *Properties) SelfIncluded() bool { return len(p.Selfless) == 0 }

// EqualSizes reports property (c): all nodes do equal work.
func (p *Properties) EqualSizes() bool { return p.Sizes.Equal() }

// EqualLoads reports property (d): all nodes have equal responsibility.
func (p *Properties) EqualLoads() bool { return p.Loads.Equal() }

// Plane reports whether the sets are the lines of a projective plane, one for
// each node: equally large, on equally many each node, and with unique meets,
// from which N = K(K−1)+1 follows (Maekawa 1985, section 3). The point, K=1,
// and the triangle, K=2, count, though they are degenerate.
func (p *Properties) Plane() bool { return p.UniqueMeets && p.EqualSizes() && p.EqualLoads() }

// Spread is the spread of a number over the nodes, with the lowest nodes that
// have the extremes: where these differ, they are the counterexample to
// equality.
type Spread struct {
	Min, Max         int
	MinNode, MaxNode dme.NodeID
	Mean             float64
}

// Equal reports whether the number is the same for all nodes.
func (s Spread) Equal() bool { return s.Min == s.Max }

func spread(values []int) Spread {
	s := Spread{Min: values[0], Max: values[0], MinNode: 1, MaxNode: 1}
	sum := 0
	for i, x := range values {
		id := dme.NodeID(i + 1)
		if x < s.Min {
			s.Min, s.MinNode = x, id
		}
		if x > s.Max {
			s.Max, s.MaxNode = x, id
		}
		sum += x
	}
	s.Mean = float64(sum) / float64(len(values))
	return s
}

// RequestSets yields each node with its request set, which is valid until the next.
func (s *System) RequestSets() iter.Seq2[dme.NodeID, []dme.NodeID] {
	return func(yield func(dme.NodeID, []dme.NodeID) bool) {
		var set []dme.NodeID
		for id := dme.NodeID(1); int(id) <= s.nodes; id++ {
			set = s.sets.appendSet(set[:0], id)
			if !yield(id, set) {
				return
			}
		}
	}
}

// Sizes returns the spread of K = |S_i|. It takes O(N·K) time.
func (s *System) Sizes() Spread {
	sizes := make([]int, s.nodes)
	for id, set := range s.RequestSets() {
		sizes[id-1] = len(set)
	}
	return spread(sizes)
}

// Loads returns for each node the number of request sets that contain it, node
// i's at i-1. It takes O(N·K) time.
func (s *System) Loads() []int {
	loads := make([]int, s.nodes)
	for _, set := range s.RequestSets() {
		for _, member := range set {
			loads[member-1]++
		}
	}
	return loads
}

// Pair is two sets of a list, and the number of nodes that are in both.
type Pair struct{ I, J, Common int }

// Pairs yields all pairs J < I of sets, which are lists of nodes. It takes as many
// steps as there are pairs, and common nodes of them.
func Pairs(sets [][]dme.NodeID) iter.Seq[Pair] {
	return func(yield func(Pair) bool) {
		in := make(map[dme.NodeID][]int) // the sets so far that contain each node
		for i, set := range sets {
			common := make([]int, i)
			for _, id := range set {
				for _, j := range in[id] {
					common[j]++
				}
				in[id] = append(in[id], i)
			}
			for j := range i {
				if !yield(Pair{i, j, common[j]}) {
					return
				}
			}
		}
	}
}

// Properties examines the request sets, and nothing but them. It takes
// O(N²·K/64) time and N²/8 bytes.
func (s *System) Properties() Properties {
	loads := s.Loads()
	p := Properties{Sizes: s.Sizes(), Loads: spread(loads)}

	// served[x-1] is the set of nodes that ask x, one bit each. The nodes that i
	// shares a member with are then the union over the members of S_i.
	words := s.nodes/64 + 1
	memory := make([]uint64, s.nodes*words)
	served := func(id dme.NodeID) []uint64 { return memory[int(id-1)*words : int(id)*words] }
	for id, set := range s.RequestSets() {
		for _, member := range set {
			served(member)[id/64] |= 1 << (id % 64)
		}
		if !slices.Contains(set, id) {
			p.Selfless = append(p.Selfless, id)
		}
	}

	if !p.EqualSizes() { // of equally large sets none contains another
		s.collectNested(&p, words, served)
	}
	meets := make([]uint64, words)
	for id, set := range s.RequestSets() {
		clear(meets)
		for _, member := range set {
			for w, x := range served(member) {
				meets[w] |= x
			}
		}
		s.collectDisjoint(&p, id, meets)
	}
	// A node is common to any two of the sets that it is in: where all pairs
	// meet, they have one common node each if these are as many as the pairs.
	common := 0
	for _, load := range loads {
		common += load * (load - 1) / 2
	}
	p.UniqueMeets = p.Intersecting() && common == s.nodes*(s.nodes-1)/2
	return p
}

// collectNested notes the nodes whose sets contain another's, and more. served says who
// asks a node, in so many words of one bit for each node.
func (s *System) collectNested(p *Properties, words int, served func(dme.NodeID) []uint64) {
	sizes := make([]int, s.nodes)
	for id, set := range s.RequestSets() {
		sizes[id-1] = len(set)
	}
	contain := make([]uint64, words) // the nodes whose sets contain all of this one
	for id, set := range s.RequestSets() {
		copy(contain, served(set[0]))
		for _, member := range set[1:] {
			for w, x := range served(member) {
				contain[w] &= x
			}
		}
		for w, left := range contain {
			for ; left != 0; left &= left - 1 {
				larger := dme.NodeID(w*64 + bits.TrailingZeros64(left))
				if sizes[larger-1] == len(set) {
					continue
				}
				if p.NestedPairs++; len(p.Nested) < MaxDisjoint {
					p.Nested = append(p.Nested, [2]dme.NodeID{larger, id})
				}
			}
		}
	}
}

// collectDisjoint notes the nodes above id that meets does not contain.
func (s *System) collectDisjoint(p *Properties, id dme.NodeID, meets []uint64) {
	for w := int(id+1) / 64; w < len(meets); w++ {
		missing := ^meets[w]
		if w == int(id+1)/64 {
			missing &= ^uint64(0) << ((id + 1) % 64) // not the pairs that have been seen from the other side
		}
		if w == s.nodes/64 {
			missing &= 1<<(s.nodes%64+1) - 1 // nodes only
		}
		p.DisjointPairs += bits.OnesCount64(missing)
		for ; missing != 0 && len(p.Disjoint) < MaxDisjoint; missing &= missing - 1 {
			other := dme.NodeID(w*64 + bits.TrailingZeros64(missing))
			p.Disjoint = append(p.Disjoint, [2]dme.NodeID{id, other})
		}
	}
}
