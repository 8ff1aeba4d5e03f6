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
)

// One node crashes at any moment, with three requests of three nodes, and may come
// back; and two of two with four requests: every schedule. That a node which
// stays away is not waited for is part of it.
func TestEveryCrash(t *testing.T) {
	for _, path := range []string{"self", "random"} {
		for _, o := range []check.Options{{Nodes: 3, Requests: 3, Faults: 1}, {Nodes: 2, Requests: 4, Faults: 2}} {
			o.Set = map[string]string{optPath: path}
			r, err := check.Exhaustive(t.Context(), Algorithm(), o)
			if err == nil {
				err = r.Err()
			}
			if err != nil {
				t.Fatalf("path=%s, %d nodes: %v", path, o.Nodes, err)
			}
		}
	}
}

// Crashes and returns at random moments, on more nodes. Nobody sends what the
// other end must refuse.
func TestRandomCrashes(t *testing.T) {
	schedules := 1500
	if testing.Short() {
		schedules = 300
	}
	for _, path := range []string{"self", "random"} {
		for _, n := range []int{3, 6, 7, 15} {
			set := map[string]string{optPath: path}
			r, err := check.Random(t.Context(), Algorithm(), check.Options{Nodes: n, Requests: 3 * n, Faults: 4, Schedules: schedules, Set: set})
			if err == nil {
				err = r.Err()
			}
			if err != nil {
				t.Fatalf("path=%s, %d nodes: %v", path, n, err)
			}
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

// Whichever of 15 nodes are down, a live node enters if the text promises a quorum,
// waits if not, and enters when all are back. The request is made before the
// crashes by half of the nodes: then the quorum is changed while it is pending.
func TestEverySetOfFailedNodes(t *testing.T) {
	const nodes, step = 15, 127 // a prime: the sets that are left out are of all kinds
	stride := 1
	if testing.Short() {
		stride = step
	}
	entered, waited := 0, 0
	for mask := 0; mask < 1<<nodes-1; mask += stride {
		var down []dme.NodeID
		var asks dme.NodeID
		for id := dme.NodeID(1); id <= nodes; id++ {
			switch {
			case mask>>(id-1)&1 == 1:
				down = append(down, id)
			case asks == dme.None || mask%int(id) == 0:
				asks = id
			}
		}
		path := []string{"self", "random"}[mask%2]
		net := newNet(t, nodes, path)
		if mask/2%2 == 0 {
			net.Request(asks)
		}
		for _, id := range down {
			net.Crash(id)
		}
		if mask/2%2 == 1 {
			net.Settle()
			net.Request(asks)
		}
		net.Settle()
		want := survives(net.Setting, down)
		if in := slices.Contains(net.Inside(), asks); in != want {
			t.Fatalf("path=%s, %v down, node %d asks: is in: %v, there is a quorum: %v\n%s", path, down, asks, in, want, net.States())
		}
		if want {
			entered++
			continue
		}
		waited++
		for _, id := range down {
			net.Restart(id)
		}
		net.Settle()
		if !slices.Contains(net.Inside(), asks) || net.Err() != nil || net.Refused() > 0 {
			t.Fatalf("path=%s, %v are back, and node %d waits; %d refused, %v\n%s", path, down, asks, net.Refused(), net.Err(), net.States())
		}
	}
	if entered == 0 || waited == 0 {
		t.Errorf("%d entered, %d waited", entered, waited)
	}
}

// A site that comes back gives its permission to nobody while it may be in use:
// node 4 is in, by the permission of 1, 2 and 4, when the root crashes.
func TestGracePeriod(t *testing.T) {
	net := newNet(t, 7, "self")
	net.Request(4)
	net.Settle()
	net.Crash(1)
	net.Restart(1)
	net.Request(7) // of which the root hears before it has heard node 4
	for _, from := range []dme.NodeID{7, 3} {
		net.Deliver(1, from, 0) // down
		net.Deliver(1, from, 0) // up
	}
	net.Settle()
	if in := net.Inside(); !slices.Equal(in, []dme.NodeID{4}) {
		t.Fatalf("%v are in\n%s", in, net.States())
	}
	root := net.Host(1).Node().(*node)
	if root.granted.Node != 4 || root.failures.Recovering() {
		t.Errorf("the root knows of %v", root.granted)
	}
	if order := net.Drain(); !slices.Equal(order, []dme.NodeID{4, 7}) || net.Refused() > 0 {
		t.Errorf("entries %v, %d refused", order, net.Refused())
	}
}

// TestRecoveryMutantsAreCaught takes one rule of the recovery out at a time: the
// searches with crashes find it.
func TestRecoveryMutantsAreCaught(t *testing.T) {
	const (
		stall   = "stalled: "
		unsafe  = "in the critical section"
		refused = " messages refused: "
	)
	change := func(name, old, new, caught string) conformance.Mutant {
		return conformance.Mutant{Name: name, File: "recovery.go", Old: old, New: new, Caught: caught, Args: []string{"-short"}}
	}
	conformance.TestMutants(t, "^(TestEveryCrash|TestRandomCrashes)$",
		change("A6: the failed node keeps its place in the queue", "\tn.waiting.Remove(p)\n", "", stall),
		change("A6: the failed node keeps the permission",
			"\tcase n.granted.Node == p:\n\t\tn.grant(out)\n", "", stall),
		conformance.Mutant{ // rare: not in the short search
			Name: "A6: a permission of the failed site counts", File: "recovery.go",
			Old: "\t\tn.replied.Remove(k) // it has forgotten\n", New: "", Caught: stall,
		},
		change("nobody takes the place of a failed node",
			"\t\tn.replied.Remove(k) // it has forgotten\n\t\tn.changeQuorum(out)\n", "\t\tn.replied.Remove(k)\n", stall),
		change("A7: sites that are no longer asked are not told",
			"\t\t\tn.send(j, kindWithdraw, out)\n\t\t\tn.failures.Withdraw(j)\n", "", stall),
		change("A7: a Reply that has crossed a Withdraw counts",
			"return m.Num < n.failures.Withdrawn(j) }", "return false }", refused),
		change("A8: no grace period", "{ n.failures.Restart(n.nodes(), n.ID) }", "{}", unsafe),
		change("A8: nobody in its critical section reclaims", "\t\tm.Req = n.request\n", "", unsafe),
		conformance.Mutant{
			Name: "A8: the grace period does not wait for the last one", File: "../quorum/failures.go",
			Old: "return len(f.unheard) > 0 }", New: "return len(f.unheard) > 1 }", Caught: unsafe,
			Args: []string{"-short"},
		},
		change("A8: a failed node is waited for", "\tcase over:\n\t\tn.endGrace(out)\n", "\tcase over:\n", stall),
		change("a site that comes back is not asked again",
			"\t\t\tn.askFor(p, out)\n", "", stall),
		change("a node comes back, and its quorum is not looked for",
			"\t\tif !n.failures.NoneOf(n.Members) {\n\t\t\tn.changeQuorum(out)\n\t\t}\n", "", stall),
	)
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
