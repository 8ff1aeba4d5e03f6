package agrawalelabbadi

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/search/check"
	"dmebench/internal/testkit"
	"dmebench/internal/testkit/suite"
)

// Every schedule in which one node of three crashes at any moment, with three requests, and
// may come back, and two of two with four requests; and crashes at random on more nodes.
// That a node which stays away is not waited for is part of it.
func TestRandomCrashes(t *testing.T) {
	schedules := 100
	if testkit.Long() {
		schedules = 1500
	}
	for _, path := range []string{"self", "random"} {
		set := map[string]string{optPath: path}
		for _, o := range []check.Options{{Nodes: 3, Requests: 3, Faults: 1, Set: set}, {Nodes: 2, Requests: 4, Faults: 2, Set: set}} {
			suite.Search{Options: o}.Test(t, Algorithm())
		}
		for _, n := range []int{3, 6, 7, 15} {
			o := check.Options{Nodes: n, Requests: 3 * n, Faults: 4, Schedules: schedules, Set: set}
			suite.Search{Options: o}.Test(t, Algorithm())
			if err := conformance.SearchFaults(Algorithm(), n, set, uint64(schedules/n)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// crashed returns a system of 15 nodes of which these are down, as everybody knows.
func crashed(t *testing.T, path string, down ...dme.NodeID) *conformance.Net {
	t.Helper()
	net := newNet(t, 15, path)
	for _, id := range down {
		net.Crash(id)
	}
	net.Settle()
	return net
}

// The examples of section 9.9.4: with node 3 down, or 1 and 2, the quorums that
// are asked while the system runs are those that it lists, and no others.
func TestExamplesOfSection994(t *testing.T) {
	for _, down := range [][]dme.NodeID{nil, {3}, {1, 2}} {
		want := make(map[string]bool)
		for q := range quorum.TreeQuorums(15, func(id dme.NodeID) bool { return !slices.Contains(down, id) }) {
			want[fmt.Sprint(q)] = true
		}
		if number := map[int]int{0: 8, 1: 8, 2: 16}[len(down)]; len(want) != number {
			t.Fatalf("%v down: %d quorums, the text lists %d", down, len(want), number)
		}
		net := crashed(t, "random", down...)
		got := make(map[string]bool)
		for range 40 {
			for id := dme.NodeID(1); id <= 15; id++ {
				if slices.Contains(down, id) {
					continue
				}
				net.Request(id)
				got[fmt.Sprint(net.Host(id).Node().(*node).Members)] = true
				net.Settle()
				if in := net.Inside(); !slices.Equal(in, []dme.NodeID{id}) {
					t.Fatalf("%v down: node %d asked and %v are in", down, id, in)
				}
				net.Release(id)
				net.Settle()
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%v down: asked %v, want %v", down, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
		if net.Refused() > 0 || net.Err() != nil {
			t.Errorf("%d refused; %v", net.Refused(), net.Err())
		}
	}
}

// Whichever of 15 nodes are down, a live node enters if the text promises a quorum.
func TestEverySetOfFailedNodes(t *testing.T) {
	stride := 127 // a prime: the sets that are left out are of all kinds
	switch {
	case testkit.Full():
		stride = 1
	case testkit.Long():
		stride = 5
	}
	for _, path := range []string{"self", "random"} {
		suite.EverySetOfFailedNodes(t, Algorithm(), 15, stride, map[string]string{optPath: path}, func(up func(dme.NodeID) bool) bool {
			_, ok := quorum.TreeQuorum(15, 1, up)
			return ok
		})
	}
}

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
