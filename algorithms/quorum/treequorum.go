package quorum

import (
	"iter"
	"slices"

	"dmebench/dme"
)

// TreeQuorum is the function GetQuorum of Agrawal and El Abbadi (the textbook's
// algorithm 9.6) on the tree of n nodes: it returns a quorum, in ascending
// order, of nodes that grant permission. Where all do, that is the path from
// the root to the node towards, and on to a leaf; a node that does not is
// replaced by two paths, from its children to leaves. Any two quorums have a
// common node, whatever nodes had failed when each was formed.
//
// ok is false where there is no quorum, and only there: where the printed text
// gives up for good (line 15), the search here returns and tries the other
// child (lines 7 and 9). A node that grants and has one child descends into it,
// and does not choose the empty side. A node that does not grant and has one
// child cannot be replaced. The search takes O(n) steps.
func TreeQuorum(n int, towards dme.NodeID, grants func(dme.NodeID) bool) (quorum []dme.NodeID, ok bool) {
	leaf := paths{n}.leafBelow(towards) // where to go while nothing is in the way
	return ChooseTreeQuorum(n, func(id dme.NodeID) bool { return onPath(2*id+1, leaf) }, grants)
}

// ChooseTreeQuorum is [TreeQuorum] with another choice between the lines 7 and 9:
// right says of a node that grants permission whether its right child is tried
// first. It may be a different one for each quorum.
func ChooseTreeQuorum(n int, right, grants func(dme.NodeID) bool) (quorum []dme.NodeID, ok bool) {
	var find func(id dme.NodeID) []dme.NodeID
	find = func(id dme.NodeID) []dme.NodeID { // a quorum of the subtree of id, nil where there is none
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
