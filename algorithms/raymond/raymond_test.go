package raymond

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/internal/search/check"
	"dmebench/internal/testkit"
)

func newNet(t *testing.T, nodes int, tree string) *conformance.Net {
	t.Helper()
	return conformance.Make(t, Algorithm(), nodes, map[string]string{optTree: tree})
}

// The nodes of figures 9.17 to 9.19. G comes first, since the privilege is at
// node 1 at the beginning.
const (
	G dme.NodeID = iota + 1
	C
	B
	D
	A
	F
	E
)

func figures(t *testing.T) *conformance.Net {
	t.Helper()
	towardsG := map[dme.NodeID]dme.NodeID{A: B, B: C, C: G, D: C, E: A, F: B}
	a := Algorithm()
	a.Prepare = func(c dme.Config) (dme.System, error) {
		return &system{tree: newTree(c.Nodes, func(i dme.NodeID) dme.NodeID { return towardsG[i] })}, nil
	}
	net := conformance.Make(t, a, 7, nil)
	return net
}

func at(net *conformance.Net, id dme.NodeID) *node { return net.Host(id).Node().(*node) }

func wantHolders(t *testing.T, figure string, net *conformance.Net, want map[dme.NodeID]dme.NodeID) {
	t.Helper()
	for id, holder := range want {
		if got := at(net, id).holder; got != holder {
			t.Errorf("figure %s: HOLDER of node %d is %d, want %d", figure, id, got, holder)
		}
	}
}

func wantQueues(t *testing.T, when string, net *conformance.Net, want map[dme.NodeID][]dme.NodeID) {
	t.Helper()
	for id, q := range want {
		if got := slices.Collect(at(net, id).requestQ.All()); !slices.Equal(got, q) {
			t.Errorf("%s: REQUEST_Q of node %d is %v, want %v", when, id, got, q)
		}
	}
}

// Section 9.12.1: B asks, and figure 9.18 becomes figure 9.19.
func TestFigures918And919(t *testing.T) {
	net := figures(t)
	wantHolders(t, "9.18", net, map[dme.NodeID]dme.NodeID{A: B, B: C, C: G, D: C, E: A, F: B, G: G})
	net.Request(B)
	net.Deliver(B, C, 0)
	net.Deliver(C, G, 0)
	net.Deliver(G, C, 0)
	net.Deliver(C, B, 0)
	wantHolders(t, "9.19", net, map[dme.NodeID]dme.NodeID{A: B, B: B, C: B, D: C, E: A, F: B, G: C})
	if in := net.Inside(); !slices.Equal(in, []dme.NodeID{B}) || net.Sent() != 4 {
		t.Errorf("%v inside after %d messages, want B after 4", in, net.Sent())
	}
}

// Section 9.12.4, starvation is impossible: the queues as the text shows them.
func TestStarvationExample(t *testing.T) {
	net := figures(t)
	net.Request(B)
	net.Settle()
	net.Request(C)
	net.Settle()
	net.Request(E)
	net.Settle()
	wantQueues(t, "while B executes", net, map[dme.NodeID][]dme.NodeID{E: {E}, A: {E}, B: {C, A}})
	net.Release(B)
	net.Settle()
	wantQueues(t, "while C executes", net, map[dme.NodeID][]dme.NodeID{C: {B}, B: {A}, A: {E}, E: {E}})
	net.Release(C)
	net.Settle()
	if in := net.Inside(); !slices.Equal(in, []dme.NodeID{E}) {
		t.Errorf("%v inside, want E; %v", in, net.Err())
	}
}

// Section 9.12.3, message overtaking: the REQUEST behind a PRIVILEGE comes first.
func TestOvertaking(t *testing.T) {
	net := newNet(t, 2, "line")
	net.Request(1)
	net.Request(2)
	net.Deliver(2, 1, 0)
	net.Release(1)
	net.Request(1)
	if got := net.InFlight(1, 2); len(got) != 2 || got[0].Kind != kindPrivilege || got[1].Kind != kindRequest {
		t.Fatalf("on the way: %+v", got)
	}
	net.Deliver(1, 2, 1)
	wantQueues(t, "after the REQUEST", net, map[dme.NodeID][]dme.NodeID{2: {2, 1}})
	net.Deliver(1, 2, 0)
	net.Release(2)
	net.Settle()
	if in := net.Inside(); !slices.Equal(in, []dme.NodeID{1}) || net.Refused() != 0 {
		t.Errorf("%v inside, want node 1; %v", in, net.Err())
	}
}

var shapes = []string{"binary", "star", "line", "kary:3", "kary:7", "radiating:3", "radiating:5"}

// A lone request costs a REQUEST and a PRIVILEGE for each edge between the
// requester and the last user; so the mean is twice the mean distance.
func TestSerialCost(t *testing.T) {
	const n = 13
	for _, shape := range shapes {
		net := newNet(t, n, shape)
		tree := net.Setting.System.(*system).tree
		var total, count float64
		serve := func(id dme.NodeID) uint64 {
			got, err := net.Serve(id)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		for from := dme.NodeID(1); from <= n; from++ {
			far := distances(tree, from)
			for to := dme.NodeID(1); to <= n; to++ {
				serve(from)
				got := serve(to)
				if want := uint64(2 * far[to]); got != want {
					t.Errorf("%s: from %d to %d: %d messages, want %d", shape, from, to, got, want)
				}
				total += float64(got)
				count++
			}
		}
		if mean := total / count; math.Abs(mean-2*tree.meanDistance()) > 1e-9 {
			t.Errorf("%s: mean %v, want %v", shape, mean, 2*tree.meanDistance())
		}
	}
}

// Section 9.12.5: when all nodes ask all the time, 4(N−1) messages for N
// entries. Critical sections are long here: everything that was sent arrives
// before a node leaves.
func TestSaturatedCost(t *testing.T) {
	for _, n := range []int{2, 3, 7, 12} {
		for _, shape := range shapes {
			net := newNet(t, n, shape)
			for id := dme.NodeID(1); int(id) <= n; id++ {
				net.Request(id)
			}
			round := func() uint64 {
				before := net.Sent()
				for range n {
					net.Settle()
					id := net.Inside()[0]
					net.Release(id)
					net.Request(id)
				}
				return net.Sent() - before
			}
			for range 8 {
				round()
			}
			for range 5 {
				if got, want := round(), uint64(4*(n-1)); got != want {
					t.Errorf("%s, N=%d: %d messages in a round, want %d", shape, n, got, want)
				}
			}
			if err := net.Err(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	refuses := conformance.Refusing(t, func() *conformance.Net {
		net := newNet(t, 7, "binary")
		net.Request(1)
		net.Request(2)
		net.Settle()
		return net
	})
	refuses("REQUEST from a stranger", 4, 1, dme.Message{Kind: kindRequest})
	refuses("second REQUEST", 2, 1, dme.Message{Kind: kindRequest})
	refuses("PRIVILEGE that was not asked for", 1, 3, dme.Message{Kind: kindPrivilege})
	refuses("PRIVILEGE from the wrong side", 4, 2, dme.Message{Kind: kindPrivilege})
	refuses("PRIVILEGE to its holder", 2, 1, dme.Message{Kind: kindPrivilege})
}

// distances is a breadth-first search: the twin of the closed forms.
func distances(t *tree, from dme.NodeID) []int {
	far := make([]int, t.nodes()+1)
	seen := map[dme.NodeID]bool{from: true}
	queue := []dme.NodeID{from}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		for _, next := range t.neighbours(id) {
			if !seen[next] {
				seen[next] = true
				far[next] = far[id] + 1
				queue = append(queue, next)
			}
		}
	}
	return far
}

func TestTreeAgainstSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	trees := map[string]*tree{}
	for _, n := range []int{1, 2, 3, 8, 31} {
		for _, name := range shapes {
			trees[fmt.Sprintf("%s %d", name, n)] = mustShape(t, name, n)
		}
		trees[fmt.Sprintf("random %d", n)] = newTree(n, func(i dme.NodeID) dme.NodeID {
			return dme.NodeID(1 + rng.IntN(int(i)-1))
		})
	}
	for name, tree := range trees {
		n := tree.nodes()
		longest, degree, sum := 0, 0, 0
		for id := dme.NodeID(1); int(id) <= n; id++ {
			near := tree.neighbours(id)
			degree = max(degree, len(near))
			if !slices.IsSorted(near) {
				t.Errorf("%s: neighbours %v of node %d", name, near, id)
			}
			for other := dme.NodeID(1); int(other) <= n; other++ {
				if other != id && tree.adjacent(id, other) != slices.Contains(near, other) {
					t.Errorf("%s: nodes %d and %d", name, id, other)
				}
			}
			for _, d := range distances(tree, id)[1:] {
				longest = max(longest, d)
				sum += d
			}
		}
		if got := tree.longestPath(); got != longest {
			t.Errorf("%s: longest path %d, want %d", name, got, longest)
		}
		if got := tree.maxDegree(); got != degree {
			t.Errorf("%s: degree %d, want %d", name, got, degree)
		}
		if got, want := tree.meanDistance(), float64(sum)/float64(n*n); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: mean distance %v, want %v", name, got, want)
		}
	}
}

// The mean distance of two different nodes of a line is (N+1)/3 (section 9.12.5).
func TestLineMeanDistance(t *testing.T) {
	for n := 2; n < 50; n++ {
		tree := newTree(n, heap(1))
		different := tree.meanDistance() * float64(n) / float64(n-1)
		if want := float64(n+1) / 3; math.Abs(different-want) > 1e-9 {
			t.Errorf("N=%d: %v, want %v", n, different, want)
		}
	}
}

func TestTreeOption(t *testing.T) {
	o := treeOption()
	for _, good := range append(shapes, o.Default, "kary:2", "kary:65535", "radiating:65535", "file:F", "mst:C:1") {
		if err := o.Accepts(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{
		"", "Binary", "kary", "kary:", "kary:0", "kary:1", "kary:-3", "kary:x", "kary:65536", "kary:K",
		"binary:2", "star:", "radiating", "radiating:2", "radiating:x", "file", "file:", "mst:",
	} {
		if o.Accepts(bad) == nil {
			t.Errorf("tree=%s is accepted", bad)
		}
	}
}

func TestNoTreePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("two nodes that are each other's parents are accepted as a tree")
		}
	}()
	newTree(3, func(i dme.NodeID) dme.NodeID { return 5 - i })
}

// The invariants can be broken: each of these states breaks one.
func TestInvariants(t *testing.T) {
	conformance.TestInvariants(t, Algorithm(),
		conformance.Breach{
			Invariant: "one token", Nodes: 3, Says: "there are 2 tokens: at node 1, at node 3",
			Fault: func(n *conformance.Net) { made(n, 3).holder = 3 },
		},
		conformance.Breach{
			Invariant: "one token", Nodes: 3, Says: "there are 2 tokens: at node 1, on its way from node 1 to node 2",
			Fault: func(n *conformance.Net) { n.Request(2); n.Deliver(2, 1, 0); made(n, 1).holder = 1 },
		},
		conformance.Breach{
			Invariant: "one token", Nodes: 3, Says: "no node has the token",
			Fault: func(n *conformance.Net) { made(n, 1).holder = 2 },
		},
		conformance.Breach{
			Invariant: "HOLDER path", Nodes: 3, Says: "HOLDER is 2 at node 2 and 1 at its neighbour 1, with 0 PRIVILEGEs",
			Fault: func(n *conformance.Net) { made(n, 2).holder = 2 },
		},
		conformance.Breach{
			Invariant: "HOLDER path", Nodes: 3, Says: "HOLDER is 1 at node 2 and 1 at its neighbour 1, with 1 PRIVILEGEs",
			Fault: func(n *conformance.Net) { n.Request(2); n.Deliver(2, 1, 0); made(n, 1).holder = 1 },
		},
		conformance.Breach{
			Invariant: "one REQUEST", Nodes: 3, Says: "node 2, HOLDER 1 and ASKED false, has 1 REQUESTs on their way",
			Fault: func(n *conformance.Net) { n.Request(2); made(n, 2).asked = false },
		},
		conformance.Breach{
			Invariant: "one REQUEST", Nodes: 3, Says: "node 2, HOLDER 1 and ASKED true, has 0 REQUESTs",
			Fault: func(n *conformance.Net) { made(n, 2).asked = true },
		},
	)
}

func TestInvariantsOfRecovery(t *testing.T) {
	at := func(n *conformance.Net) *robust { n.Settle(); return n.Host(2).Made().(*robust) }
	conformance.TestInvariants(t, Robust(),
		conformance.Breach{
			Invariant: "one token", Nodes: 3, Says: "there are 2 tokens", Fault: func(n *conformance.Net) { at(n).holder = 2 },
		},
		conformance.Breach{
			Invariant: "HOLDER path", Nodes: 3, Says: "HOLDER is 2 at node 2", Fault: func(n *conformance.Net) { at(n).holder = 2 },
		},
		conformance.Breach{
			Invariant: "HOLDER path", Nodes: 3, Says: "HOLDER is 2 at node 2",
			Fault: func(n *conformance.Net) { n.Settle(); n.Crash(3); at(n).holder = 2 },
		},
		conformance.Breach{
			Invariant: "one REQUEST", Nodes: 3, Says: "stands 0 times", Fault: func(n *conformance.Net) { at(n).asked = true },
		},
	)
}

func made(n *conformance.Net, id dme.NodeID) *node { return n.Host(id).Made().(*node) }

// Every schedule of a few requests, on links that need not keep order, keeps all of the
// rules and ends with every request served.
func TestEverySchedule(t *testing.T) {
	for _, c := range []struct {
		nodes, requests int
		tree            string
	}{
		{3, 6, "line"},
		{4, 6, "binary"},
		{4, 6, "star"},
		{5, 5, "line"},
	} {
		r, err := check.Exhaustive(t.Context(), Algorithm(), check.Options{
			Nodes: c.nodes, Requests: c.requests, Set: map[string]string{"tree": c.tree}, Unordered: true,
		})
		if err == nil {
			err = r.Err()
		}
		if err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Nor does any of some random schedules of larger systems break a rule, or starve a node.
func TestRandomSchedules(t *testing.T) {
	for _, tree := range []string{"binary", "line", "star"} {
		for _, nodes := range []int{3, 8} {
			o := check.Defaults(Algorithm(), nodes, map[string]string{"tree": tree})
			o.Schedules = 300
			r, err := check.Random(t.Context(), Algorithm(), o)
			if err == nil {
				err = r.Err()
			}
			if err != nil {
				t.Errorf("%d nodes, %s: %v", nodes, tree, err)
			}
		}
	}
}

// Each mutant is the algorithm with one of its rules taken out.
func TestSearchMutants(t *testing.T) {
	if !testkit.Full() {
		t.Skip("needs DMEBENCH_TESTS=full")
	}
	conformance.TestMutants(t, "^Test(EverySchedule|RandomSchedules)$",
		conformance.Mutant{
			Name: "the privilege leaves while it is used", File: "raymond.go",
			Old: "if n.holder != n.self || n.using || n.requestQ.Empty() {",
			New: "if n.holder != n.self || n.requestQ.Empty() {", Caught: conformance.Unsafe,
		},
		conformance.Mutant{
			Name: "ASKED is not cleared", File: "raymond.go",
			Old: "\tn.asked = false\n",
			New: "", Caught: "stalled: ",
		},
		conformance.Mutant{
			Name: "no REQUEST after the PRIVILEGE is passed on", File: "raymond.go",
			Old: "\tn.holder = n.self\n\tn.assignPrivilege(out)\n\tn.makeRequest(out)\n",
			New: "\tn.holder = n.self\n\tn.assignPrivilege(out)\n", Caught: "stalled: ",
		},
	)
}
