package agrawalelabbadi

import (
	"strings"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
)

// largestListed bounds the trees of which all quorums are compared with one
// another: there are 255 of them on 15 nodes, and 65,535 on 31.
const largestListed = 15

// setsIn returns the sets that the text of an example names: "{1,2,3}, {2,4,5}".
func setsIn(text string) (sets [][]dme.NodeID) {
	for part := range strings.SplitSeq(text, "{") {
		if list, _, ok := strings.Cut(part, "}"); ok {
			nodes, err := dme.ParseNodes(list)
			if err != nil {
				panic("agrawalelabbadi: " + err.Error())
			}
			sets = append(sets, nodes)
		}
	}
	return sets
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
