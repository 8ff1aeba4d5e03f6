package quorum

import (
	"cmp"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strings"

	"dmebench/dme"
)

// MaxDisjoint bounds the number of pairs of each kind that [Properties] lists.
const MaxDisjoint = 16

// Remarks returns what a user who wrote the sets down should know, one line each: which sets ask
// more than mutual exclusion needs. It says nothing about constructions.
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

// Spread is the spread of a number over the nodes, with the lowest nodes that have the extremes: if
// these differ, they are the counterexample to equality.
type Spread struct {
	Min, Max         int
	MinNode, MaxNode dme.NodeID
	Mean             float64
}

// Equal reports whether the number is the same for all nodes.
func (s Spread) Equal() bool { return s.Min == s.Max }

func spread(values []int) Spread {
	s := Spread{Min: slices.Min(values), Max: slices.Max(values)}
	s.MinNode = dme.NodeID(slices.Index(values, s.Min) + 1)
	s.MaxNode = dme.NodeID(slices.Index(values, s.Max) + 1)
	sum := 0
	for _, x := range values {
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

// Sets returns all request sets, S_i at i-1.
func (s *System) Sets() (sets [][]dme.NodeID) {
	for _, set := range s.RequestSets() {
		sets = append(sets, slices.Clone(set))
	}
	return sets
}

// Sizes returns the spread of K = |S_i|.
func (s *System) Sizes() Spread {
	sizes, _ := s.counts()
	return spread(sizes)
}

// Loads returns for each node the number of request sets that contain it, node i's at i-1.
func (s *System) Loads() []int {
	_, loads := s.counts()
	return loads
}

// counts returns how large the sets are, and in how many of them each node is.
func (s *System) counts() (sizes, loads []int) {
	sizes, loads = make([]int, s.nodes), make([]int, s.nodes)
	if count := countOf(s.sets); count != nil {
		for i := range sizes {
			sizes[i], loads[i] = count(dme.NodeID(i + 1))
		}
		return sizes, loads
	}
	for id, set := range s.RequestSets() {
		sizes[id-1] = len(set)
		for _, member := range set {
			loads[member-1]++
		}
	}
	return sizes, loads
}

// Selfless returns the nodes i ∉ S_i, which have not property (b), ascending.
func (s *System) Selfless() (nodes []dme.NodeID) {
	for id := dme.NodeID(1); int(id) <= s.nodes; id++ {
		if !s.sets.has(id, id) {
			nodes = append(nodes, id)
		}
	}
	return nodes
}

// Pair is two sets of a list, and the number of nodes that are in both.
type Pair struct{ I, J, Common int }

// Pairs yields all pairs I < J of sets, which are lists of nodes, in ascending order. For each pair
// it takes as many steps as there are common nodes, or words of a bit for each node, whichever is
// less.
func Pairs(sets [][]dme.NodeID) iter.Seq[Pair] {
	return func(yield func(Pair) bool) {
		in := make(map[dme.NodeID][]int) // the sets that contain each node, from the one at hand on
		words := 1
		for i, set := range sets {
			for _, id := range set {
				in[id] = append(in[id], i)
				words = max(words, int(id)/64+1)
			}
		}
		members := make([][]uint64, len(sets)) // of each set, a bit each
		for i, set := range sets {
			members[i] = make([]uint64, words)
			for _, id := range set {
				members[i][id/64] |= 1 << (id % 64)
			}
		}
		common := make([]int, len(sets))
		for i, set := range sets {
			clear(common)
			steps := 0
			for _, id := range set {
				in[id] = in[id][1:]
				steps += len(in[id])
			}
			for k := 0; k < len(set) && steps <= len(sets)*words; k++ {
				for _, j := range in[set[k]] {
					common[j]++
				}
			}
			for j := i + 1; j < len(sets); j++ {
				if steps > len(sets)*words {
					other := members[j][:words]
					for w, x := range members[i][:words] {
						common[j] += bits.OnesCount64(x & other[w])
					}
				}
				if !yield(Pair{i, j, common[j]}) {
					return
				}
			}
		}
	}
}

// Properties examines the request sets, and nothing but them, two at a time.
func (s *System) Properties() Properties {
	sizes, loads := s.counts()
	p := Properties{Sizes: spread(sizes), Loads: spread(loads), Selfless: s.Selfless(), UniqueMeets: true}
	sets := s.Sets()
	byContained := func(a, b [2]dme.NodeID) int { return cmp.Or(cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0])) }
	for x := range Pairs(sets) {
		i, j := dme.NodeID(x.I+1), dme.NodeID(x.J+1)
		p.UniqueMeets = p.UniqueMeets && x.Common == 1
		if x.Common == 0 {
			if p.DisjointPairs++; len(p.Disjoint) < MaxDisjoint {
				p.Disjoint = append(p.Disjoint, [2]dme.NodeID{i, j})
			}
		}
		larger, smaller := len(sets[x.I]), len(sets[x.J])
		if larger < smaller {
			i, j, larger, smaller = j, i, smaller, larger
		}
		if x.Common == smaller && smaller < larger {
			p.NestedPairs++
			at, _ := slices.BinarySearchFunc(p.Nested, [2]dme.NodeID{i, j}, byContained)
			p.Nested = slices.Insert(p.Nested, at, [2]dme.NodeID{i, j})
			p.Nested = p.Nested[:min(len(p.Nested), MaxDisjoint)]
		}
	}
	return p
}
