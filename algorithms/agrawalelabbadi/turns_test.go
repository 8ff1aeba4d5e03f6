package agrawalelabbadi

import (
	"testing"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
)

// From the root, the turns of a request lead to the leaf that is drawn for it, and each
// leaf is drawn about as often as any other.
func TestTurnsLeadToTheLeafThatIsDrawn(t *testing.T) {
	const nodes, requests = 15, 800
	l := leaves{nodes: nodes, seed: 3}
	first, last := quorum.TreeLeaves(nodes)
	drawn := make(map[dme.NodeID]int)
	for request := range uint64(requests) {
		id := dme.NodeID(request%nodes + 1)
		at := dme.NodeID(1)
		for right := l.turns(id, request); at < first; {
			at *= 2
			if right(at / 2) {
				at++
			}
		}
		if leaf := l.draw(id, request); at != leaf || leaf < first || leaf > last {
			t.Fatalf("request %d of node %d: the turns lead to %d, and %d was drawn", request, id, at, leaf)
		}
		drawn[at]++
	}
	each := requests / int(last-first+1)
	for leaf := first; leaf <= last; leaf++ {
		if n := drawn[leaf]; n < each/2 || n > 2*each {
			t.Errorf("leaf %d was drawn %d times of %d; want about %d", leaf, n, requests, each)
		}
	}
}
