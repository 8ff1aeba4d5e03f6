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
	t := treeSearch{nodes: n, leaf: paths{n}.leafBelow(towards), grants: grants}
	if ok = t.find(1); !ok {
		return nil, false
	}
	slices.Sort(t.found)
	return t.found, true
}

type treeSearch struct {
	nodes  int
	leaf   dme.NodeID // where to go while nothing is in the way
	grants func(dme.NodeID) bool
	found  []dme.NodeID
}

// find appends a quorum of the subtree of id to found, or reports that there is
// none and leaves found as it was.
func (t *treeSearch) find(id dme.NodeID) bool {
	before := len(t.found)
	left, right := 2*id, 2*id+1
	hasLeft, hasRight := int(left) <= t.nodes, int(right) <= t.nodes
	if !t.grants(id) {
		if hasRight && t.find(left) && t.find(right) {
			return true
		}
		t.found = t.found[:before]
		return false
	}
	t.found = append(t.found, id)
	if hasRight && onPath(right, t.leaf) {
		left, right = right, left
	}
	if !hasLeft || t.find(left) || hasRight && t.find(right) {
		return true
	}
	t.found = t.found[:before]
	return false
}

// TreeQuorums yields every quorum that [TreeQuorum] may return while these
// nodes grant permission, each in ascending order. There can be very many: the
// failed root of a complete tree alone leaves (2^(k−1))² of them.
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
		case grants(id) && int(left) > n:
			yield([]dme.NodeID{id})
		case grants(id):
			for _, child := range []dme.NodeID{left, right} {
				for q := range subtreeQuorums(n, child, grants) {
					if !yield(append(q, id)) {
						return
					}
				}
			}
		default:
			for l := range subtreeQuorums(n, left, grants) {
				for r := range subtreeQuorums(n, right, grants) {
					if !yield(append(r, l...)) {
						return
					}
				}
			}
		}
	}
}
