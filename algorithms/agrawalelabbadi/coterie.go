package agrawalelabbadi

import "dmebench/dme"

// largestListed bounds the trees of which all quorums are compared with one
// another: there are 255 of them on 15 nodes, and 65,535 on 31.
const largestListed = 15

// allQuorums returns every quorum that can be formed in the tree of n nodes,
// whatever has failed, as bits.
func allQuorums(n int, id dme.NodeID) []uint32 {
	left, right := 2*id, 2*id+1
	self := uint32(1) << (id - 1)
	switch {
	case int(left) > n:
		return []uint32{self}
	case int(right) > n:
		var all []uint32
		for _, q := range allQuorums(n, left) {
			all = append(all, q|self)
		}
		return all
	}
	a, b := allQuorums(n, left), allQuorums(n, right)
	var all []uint32
	for _, p := range a {
		all = append(all, p|self)
		for _, q := range b {
			all = append(all, p|q)
		}
	}
	for _, q := range b {
		all = append(all, q|self)
	}
	return all
}

// coterie builds the sets of an example.
func coterie(quorums ...[]uint) (all []uint32) {
	for _, q := range quorums {
		var bits uint32
		for _, id := range q {
			bits |= 1 << (id - 1)
		}
		all = append(all, bits)
	}
	return all
}

// disjoint counts the pairs of quorums without a common node.
func disjoint(all []uint32) (pairs float64) {
	for i, p := range all {
		for _, q := range all[:i] {
			if p&q == 0 {
				pairs++
			}
		}
	}
	return pairs
}

// superfluous counts the pairs of quorums of which one contains the other.
func superfluous(all []uint32) (pairs float64) {
	for i, p := range all {
		for _, q := range all[:i] {
			if p&q == p || p&q == q {
				pairs++
			}
		}
	}
	return pairs
}
