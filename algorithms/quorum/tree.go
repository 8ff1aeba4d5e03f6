package quorum

import (
	"iter"
	"math/bits"
	"slices"

	"dmebench/dme"
)

// The tree is shaped like a heap: node 1 is the root, and the children of node i are 2i and 2i+1,
// as far as nodes remain. If N = 2^(k+1)−1 it is complete, like that of 15 nodes in
// figure 9.16 of the textbook.

// TreeLeaves returns the first and the last leaf of the tree of n ≥ 1 nodes;
// those between are leaves too, and no others.
func TreeLeaves(n int) (first, last dme.NodeID) {
	return dme.NodeID(n/2 + 1), dme.NodeID(n)
}

// AppendTreePath appends the nodes from the root down to id, which are in
// ascending order.
func AppendTreePath(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	for up := bits.Len32(uint32(id)) - 1; up >= 0; up-- {
		to = append(to, id>>up)
	}
	return to
}

// onPath reports whether id is on the path from the root to leaf.
func onPath(id, leaf dme.NodeID) bool {
	deeper := bits.Len32(uint32(leaf)) - bits.Len32(uint32(id))
	return deeper >= 0 && leaf>>deeper == id
}

// paths is the family in which S_i is the path from the root through i to a
// leaf. All meet in the root.
type paths struct{ nodes int }

func tree(cfg Config) (family, error) { return paths{cfg.Nodes}, nil }

// leafBelow returns the leaf at which the path through id ends: one step to the
// right, then to the left as far as it goes. Each leaf is the end of few paths
// (in a complete tree its own, and at most one more), so that leaves share the
// work; if all paths kept to the left, the first leaf would serve log N nodes.
func (p paths) leafBelow(id dme.NodeID) dme.NodeID {
	if right := 2*id + 1; int(right) <= p.nodes {
		id = right
	}
	for int(2*id) <= p.nodes {
		id *= 2
	}
	return id
}

func (p paths) has(id, member dme.NodeID) bool { return onPath(member, p.leafBelow(id)) }

func (p paths) appendSet(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	return AppendTreePath(to, p.leafBelow(id))
}

// appendServed appends the nodes above id whose path comes through it, id, and
// all nodes below it.
func (p paths) appendServed(to []dme.NodeID, id dme.NodeID) []dme.NodeID {
	from := len(to)
	for above := id / 2; above >= 1; above /= 2 {
		if onPath(id, p.leafBelow(above)) {
			to = append(to, above)
		}
	}
	slices.Reverse(to[from:])
	width := dme.NodeID(1)
	for first := id; int(first) <= p.nodes; first *= 2 {
		for below := first; below < first+width && int(below) <= p.nodes; below++ {
			to = append(to, below)
		}
		width *= 2
	}
	return to
}

// TreeQuorum is the function GetQuorum of Agrawal and El Abbadi (the textbook's algorithm 9.6) on
// the tree of n nodes: it returns a quorum, in ascending order, of nodes that grant permission. If
// all do, that is the path from the root to the node towards, and on to a leaf; a node that does
// not is replaced by two paths, from its children to leaves. Any two quorums have a common node,
// whatever nodes had failed when each was formed.
//
// ok is false if there is no quorum. Unlike the printed text, which gives up for good (line 15),
// the search returns and tries the other child (lines 7 and 9). A node that grants and has one
// child descends into it, and does not choose the empty side. A node that does not grant and has
// one child cannot be replaced. The search takes O(n) steps.
func TreeQuorum(n int, towards dme.NodeID, grants func(dme.NodeID) bool) (quorum []dme.NodeID, ok bool) {
	leaf := paths{n}.leafBelow(towards) // where to go while nothing is in the way
	return ChooseTreeQuorum(n, func(id dme.NodeID) bool { return onPath(2*id+1, leaf) }, grants)
}

// ChooseTreeQuorum is [TreeQuorum] with another choice between the lines 7 and 9:
// right says of a node that grants permission whether its right child is tried
// first. It may be a different one for each quorum.
func ChooseTreeQuorum(n int, right, grants func(dme.NodeID) bool) (quorum []dme.NodeID, ok bool) {
	var find func(id dme.NodeID) []dme.NodeID
	find = func(id dme.NodeID) []dme.NodeID { // a quorum of the subtree of id, nil if there is none
		first, second := 2*id, 2*id+1
		switch {
		case int(id) > n:
			return nil
		case !grants(id):
			l := find(first)
			if l == nil {
				return nil
			}
			r := find(second)
			if r == nil {
				return nil
			}
			return append(l, r...)
		case int(first) > n:
			return []dme.NodeID{id}
		case right(id):
			first, second = second, first
		}
		q := find(first)
		if q == nil {
			q = find(second)
		}
		if q == nil {
			return nil
		}
		return append(q, id)
	}
	quorum = find(1)
	slices.Sort(quorum)
	return quorum, quorum != nil
}

// TreeQuorums yields every quorum that [TreeQuorum] may return while these
// nodes grant permission, each in ascending order; with nil, whichever do. There
// can be very many: the failed root of a complete tree alone leaves (2^(k−1))² of
// them.
func TreeQuorums(n int, grants func(dme.NodeID) bool) iter.Seq[[]dme.NodeID] {
	return func(yield func([]dme.NodeID) bool) {
		for q := range subtreeQuorums(n, 1, grants) {
			slices.Sort(q)
			if !yield(q) {
				return
			}
		}
	}
}

// subtreeQuorums yields the quorums of the subtree of id. The slices are the
// receiver's.
func subtreeQuorums(n int, id dme.NodeID, grants func(dme.NodeID) bool) iter.Seq[[]dme.NodeID] {
	left, right := 2*id, 2*id+1
	return func(yield func([]dme.NodeID) bool) {
		switch {
		case int(id) > n:
			return
		case grants != nil && !grants(id):
		case int(left) > n:
			yield([]dme.NodeID{id})
			return
		default:
			for _, child := range []dme.NodeID{left, right} {
				for q := range subtreeQuorums(n, child, grants) {
					if !yield(append(q, id)) {
						return
					}
				}
			}
			if grants != nil {
				return
			}
		}
		for l := range subtreeQuorums(n, left, grants) {
			for r := range subtreeQuorums(n, right, grants) {
				if !yield(append(r, l...)) {
					return
				}
			}
		}
	}
}

// TreeResilience says what becomes of the tree of n nodes while its nodes fail.
// It follows the definition of the textbook's section 9.9.1 from the leaves to the
// root, so that not all 2^n sets of failed nodes need be tried.
func TreeResilience(n int) Resilience {
	r := Resilience{Nodes: n}
	for _, sizes := range subtreeOutcomes(n, 1) {
		a := AfterFailures{Exact: true}
		for size, count := range sizes {
			a.add(count, size)
		}
		r.Failed = append(r.Failed, a)
	}
	return r
}

// outcomes counts the sets of failed nodes of a tree: outcomes[f][q] is the
// number of those of f nodes that leave a smallest quorum of q nodes, and
// outcomes[f][0] the number of those that leave none.
type outcomes [][]float64

// subtreeOutcomes counts for the subtree of id in the tree of n nodes.
func subtreeOutcomes(n, id int) outcomes {
	if id > n {
		return outcomes{{1}} // no node, and no quorum
	}
	if 2*id > n {
		return outcomes{{0, 1}, {1}}
	}
	a, b := subtreeOutcomes(n, 2*id), subtreeOutcomes(n, 2*id+1)
	o := make(outcomes, len(a)+len(b))
	for fa, as := range a {
		for fb, bs := range b {
			for p, x := range as {
				for q, y := range bs {
					o.add(fa+fb, together(1, smaller(p, q)), x*y)
					o.add(fa+fb+1, together(p, q), x*y)
				}
			}
		}
	}
	return o
}

func (o outcomes) add(failed, size int, count float64) {
	if count == 0 {
		return
	}
	for len(o[failed]) <= size {
		o[failed] = append(o[failed], 0)
	}
	o[failed][size] += count
}

// together adds the sizes of two parts of a quorum; 0 stands for none.
func together(p, q int) int {
	if p == 0 || q == 0 {
		return 0
	}
	return p + q
}

// smaller returns the smaller of two quorums; 0 stands for none.
func smaller(p, q int) int {
	if p == 0 || q == 0 {
		return max(p, q)
	}
	return min(p, q)
}
