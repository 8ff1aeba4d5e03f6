package maekawa_test

import (
	"slices"
	"testing"

	"dmebench/algorithms/maekawa"
	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/search/check"
)

// One node of three crashes at any moment, and may come back, with three requests;
// two of two with four requests: every schedule. That a node which stays away is
// not waited for, where there is another quorum, is part of it.
func TestEveryCrash(t *testing.T) {
	for _, set := range []map[string]string{
		{}, {"yield": "always"}, {"grants": "numbered"}, {"grants": "numbered", "yield": "always"},
		{"quorum": "grid"}, {"quorum": "tree"}, {"quorum": "weighted", "weights": "2,1,1"}, {"quorum": "singleton"},
	} {
		for _, o := range []check.Options{{Nodes: 3, Requests: 3, Faults: 1}, {Nodes: 2, Requests: 4, Faults: 2}} {
			if o.Nodes == 2 && set["weights"] != "" {
				continue
			}
			o.Set = set
			r, err := check.Exhaustive(t.Context(), maekawa.Algorithm(), o)
			if err == nil {
				err = r.Err()
			}
			if err != nil {
				t.Fatalf("%v, %d nodes: %v", set, o.Nodes, err)
			}
		}
	}
}

// Crashes and returns at random moments, on more nodes; with numbered grants on
// links that reorder. Nobody sends what the other end must refuse.
func TestRandomCrashes(t *testing.T) {
	schedules := 400
	if testing.Short() {
		schedules = 150
	}
	for _, n := range []int{3, 5, 7, 9} {
		for _, q := range []string{"plane", "grid", "majority", "tree", "weighted"} {
			for _, yield := range []string{"failed", "always"} {
				for _, grants := range []string{"plain", "numbered"} {
					set := map[string]string{"quorum": q, "yield": yield, "grants": grants}
					if q == "weighted" {
						set["weights"] = "4,3,2,1,1,1,1,1,1"[:2*n-1]
					}
					r, err := check.Random(t.Context(), maekawa.Algorithm(), check.Options{
						Nodes: n, Requests: 3 * n, Faults: 4, Schedules: schedules, Set: set, Unordered: grants == "numbered",
					})
					if err == nil {
						err = r.Err()
					}
					if err != nil {
						t.Fatalf("%v, %d nodes: %v", set, n, err)
					}
					if err := conformance.SearchFaults(maekawa.Algorithm(), n, set, uint64(schedules/n/4)); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}

// Whichever nodes are down, a live node enters where Survives says so, waits
// elsewhere, and enters when all are back. What Survives says is told here once
// more: some request set, majority or tree quorum is whole.
func TestEverySetOfFailedNodes(t *testing.T) {
	for _, x := range []struct {
		set    map[string]string
		nodes  int
		quorum func(up func(dme.NodeID) bool) bool
	}{
		{map[string]string{"quorum": "plane"}, 7, someSet(t, "plane", 7)},
		{map[string]string{"quorum": "grid"}, 9, someSet(t, "grid", 9)},
		{map[string]string{"quorum": "singleton"}, 3, func(up func(dme.NodeID) bool) bool { return up(1) }},
		{map[string]string{"quorum": "majority"}, 6, moreThan(3, 1, 1, 1, 1, 1, 1)},
		{map[string]string{"quorum": "weighted", "weights": "3,1,1,1,1,0"}, 6, moreThan(3, 3, 1, 1, 1, 1, 0)},
		{map[string]string{"quorum": "tree"}, 7, func(up func(dme.NodeID) bool) bool {
			_, ok := quorum.TreeQuorum(7, 1, up)
			return ok
		}},
	} {
		entered, waited := 0, 0
		for mask := range 1<<x.nodes - 1 {
			var down []dme.NodeID
			var asks dme.NodeID
			for id := dme.NodeID(1); int(id) <= x.nodes; id++ {
				switch {
				case mask>>(id-1)&1 == 1:
					down = append(down, id)
				case asks == dme.None || mask%int(id) == 0:
					asks = id
				}
			}
			for _, before := range []bool{true, false} { // the request, or the crashes
				net := conformance.Make(t, maekawa.Algorithm(), x.nodes, x.set)
				if before {
					net.Request(asks)
				}
				for _, id := range down {
					net.Crash(id)
				}
				if !before {
					net.Settle()
					net.Request(asks)
				}
				net.Settle()
				want := x.quorum(func(id dme.NodeID) bool { return !slices.Contains(down, id) })
				in := slices.Contains(net.Inside(), asks)
				if in != want || want != maekawa.Algorithm().Survives(net.Setting, down) {
					t.Fatalf("%v: %v down, node %d asks: is in: %v, there is a quorum: %v\n%s", x.set, down, asks, in, want, net.States())
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
					t.Fatalf("%v: %v are back, and node %d waits; %d refused, %v\n%s", x.set, down, asks, net.Refused(), net.Err(), net.States())
				}
			}
		}
		if entered == 0 || waited == 0 {
			t.Errorf("%v: %d entered, %d waited", x.set, entered, waited)
		}
	}
}

// someSet tells whether some request set has no failed node.
func someSet(t *testing.T, construction string, nodes int) func(up func(dme.NodeID) bool) bool {
	t.Helper()
	s, err := quorum.New(construction, quorum.Config{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	return func(up func(dme.NodeID) bool) bool {
		for id := dme.NodeID(1); int(id) <= nodes; id++ {
			if !slices.ContainsFunc(s.RequestSet(id), func(j dme.NodeID) bool { return !up(j) }) {
				return true
			}
		}
		return false
	}
}

// moreThan tells whether the nodes that are up have more than so many votes.
func moreThan(half int, votes ...int) func(up func(dme.NodeID) bool) bool {
	return func(up func(dme.NodeID) bool) bool {
		sum := 0
		for i, v := range votes {
			if up(dme.NodeID(i + 1)) {
				sum += v
			}
		}
		return sum > half
	}
}

// A member that comes back gives its lock to nobody while it may be in use. Node
// 2's set of the triangle is {2,3}; node 3 crashes while 2 is in.
func TestGracePeriod(t *testing.T) {
	for _, grants := range []string{"plain", "numbered"} {
		net := conformance.Make(t, maekawa.Algorithm(), 3, map[string]string{"grants": grants})
		net.Request(2)
		net.Settle()
		net.Crash(3)
		net.Restart(3)
		net.Deliver(3, 1, 0) // down
		net.Deliver(3, 1, 0) // up
		net.Request(1)
		net.Request(3)
		net.Settle()
		if in := net.Inside(); !slices.Equal(in, []dme.NodeID{2}) {
			t.Fatalf("%v are in\n%s", in, net.States())
		}
		if order := net.Drain(); len(order) != 3 || net.Refused() > 0 || net.Err() != nil {
			t.Errorf("entries %v, %d refused, %v", order, net.Refused(), net.Err())
		}
	}
}

// TestRecoveryMutantsAreCaught takes one rule of the recovery out at a time: the
// searches with crashes find it.
func TestRecoveryMutantsAreCaught(t *testing.T) {
	const (
		stall  = "stalled: "
		unsafe = "in the critical section"
		panics = " panics: " // a node that is not in its own quorum any more hears from itself
	)
	in := func(file, name, old, new, caught string) conformance.Mutant {
		return conformance.Mutant{Name: name, File: file, Old: old, New: new, Caught: caught, Args: []string{"-short"}}
	}
	change := func(name, old, new, caught string) conformance.Mutant {
		return in("recovery.go", name, old, new, caught)
	}
	conformance.TestMutants(t, "^(TestEveryCrash|TestRandomCrashes)$",
		change("R5: the failed node keeps its place in the queue",
			"\tn.waiting.Remove(p)\n", "", stall),
		change("R5: the failed node keeps the lock",
			"\theld := n.locking.Node == p\n", "\theld := false\n", stall),
		change("R5: the lock of a failed member counts",
			"\t\tn.locked.Remove(k)\n", "", unsafe),
		change("nobody takes the place of a failed member",
			"\tif n.numbered {\n\t\treturn\n\t}\n\tq, ok", "\tif true {\n\t\treturn\n\t}\n\tq, ok", stall),
		change("no other quorum is sought for a new request",
			"\tif !n.numbered && !n.failures.NoneOf(n.own) {\n", "\tif false {\n", stall),
		change("R6: members that are no longer asked are not told",
			"\t\t\tn.send(j, dme.Message{Kind: kindWithdraw}, out)\n\t\t\tn.failures.Withdraw(j)\n", "", panics),
		change("R6: an answer that has crossed a WITHDRAW counts",
			"return !n.numbered && m.Num < n.failures.Withdrawn(from)", "return false", panics),
		change("R6: a lock that is withdrawn is not given to the next",
			"\t\tn.relock(out)\n\t\treturn\n\t}\n\tn.waiting.Remove(j)\n", "\t\treturn\n\t}\n\tn.waiting.Remove(j)\n", stall),
		change("R7: no grace period", "{ n.failures.Restart(n.sets.Nodes(), n.ID) }", "{}", unsafe),
		change("R7: nobody in its critical section reclaims", "\t\tm.Req = n.request\n", "", unsafe),
		in("../quorum/failures.go", "R7: the grace period does not wait for the last one",
			"return len(f.unheard) > 0 }", "return len(f.unheard) > 1 }", unsafe),
		change("R7: a failed node is waited for", "\tcase over:\n\t\tn.endGrace(out)\n", "\tcase over:\n", stall),
		change("R7: REQUESTs of the grace period get no FAILED",
			"\tn.inquiring = !n.locking.IsZero()\n\tfor _, r := range waiting {\n\t\tn.receiveRequest(r, out)\n\t}\n",
			"\tn.waiting = waiting\n\tif n.locking.IsZero() {\n\t\tn.relock(out)\n\t}\n", stall),
		in("arbiter.go", "R7, numbered: a RELEASE that overtakes its RECLAIM",
			"\t\tn.receiveReclaim(from, dme.Stamp{}, out)\n\t\treturn\n", "\t\treturn\n", stall),
		change("a member that comes back is not asked again",
			"\t\t\tn.askFor(p, out)\n", "", stall),
		change("a node comes back, and no quorum is sought",
			"\t\tif !n.failures.NoneOf(n.Members) {\n\t\t\tn.changeMembers(out)\n\t\t}\n", "", stall),
	)
}
