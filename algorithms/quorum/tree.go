package quorum

import (
	"math/bits"
	"slices"

	"dmebench/dme"
)

// The tree is shaped like a heap: node 1 is the root, and the children of node
// i are 2i and 2i+1, as far as there are so many nodes. Where N = 2^(k+1)−1 it
// is complete, like that of 15 nodes in figure 9.16 of the textbook.

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
