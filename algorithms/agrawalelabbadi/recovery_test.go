package agrawalelabbadi

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/check"
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
