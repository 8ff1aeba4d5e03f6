package agrawalelabbadi

import (
	"dmebench/algorithms/quorum"
	"dmebench/dme"
)

// largestListed bounds the trees of which all quorums are compared with one
// another: there are 255 of them on 15 nodes, and 65,535 on 31.
const largestListed = 15

// coterie makes the sets of an example.
func coterie(quorums ...[]uint) [][]dme.NodeID {
	all := make([][]dme.NodeID, len(quorums))
	for i, q := range quorums {
		for _, id := range q {
			all[i] = append(all[i], dme.NodeID(id))
		}
	}
	return all
}

// disjoint counts the pairs of quorums without a common node.
func disjoint(all [][]dme.NodeID) (pairs float64) {
	for p := range quorum.Pairs(all) {
		if p.Common == 0 {
			pairs++
		}
	}
	return pairs
}

// superfluous counts the pairs of quorums of which one contains the other.
func superfluous(all [][]dme.NodeID) (pairs float64) {
	for p := range quorum.Pairs(all) {
		if p.Common == min(len(all[p.I]), len(all[p.J])) {
			pairs++
		}
	}
	return pairs
}
