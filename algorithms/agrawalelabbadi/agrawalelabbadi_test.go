package agrawalelabbadi

import (
	"math"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/conformance"
	"dmebench/internal/testkit/suite"
)

func newNet(t *testing.T, nodes int, path string) *conformance.Net {
	t.Helper()
	return conformance.Make(t, Algorithm(), nodes, map[string]string{optPath: path})
}

// predict evaluates the claim about a quantity whose formula begins so.
func predict(t *testing.T, s dme.Setting, q claim.Quantity, formula string, kind claim.Kind) (float64, bool) {
	t.Helper()
	for _, c := range claims() {
		if c.Quantity == q && strings.HasPrefix(c.Formula, formula) && c.Kind == kind {
			return c.Prediction(s)
		}
	}
	t.Fatalf("no claim %q about %s", formula, q)
	return 0, false
}

// A lone request takes three messages for each other node of its path.
func TestLightLoad(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 6, 7, 12, 15, 31} {
		net := newNet(t, n, "self")
		var total float64
		same := true
		for id := dme.NodeID(1); int(id) <= n; id++ {
			got, err := net.Serve(id)
			if err != nil {
				t.Fatal(err)
			}
			total += float64(got)
			same = same && float64(got) == total/float64(id)
		}
		exact, isExact := predict(t, net.Setting, claim.MessagesPerCS, "3(K−1)", claim.Exact)
		mean, isMean := predict(t, net.Setting, claim.MessagesPerCS, "3(K−1)", claim.Mean)
		if isExact != same || isExact == isMean {
			t.Errorf("N=%d: the same for all: %v; an exact claim: %v, a mean: %v", n, same, isExact, isMean)
		}
		if got := total / float64(n); isExact && got != exact || isMean && math.Abs(got-mean) > 1e-9 {
			t.Errorf("N=%d: %v messages on average, claimed exactly %v, on average %v", n, got, exact, mean)
		}
	}
}

// With a drawn path, the node may be on it: 3K(n−1)/n on average over all nodes
// and all leaves. Each node makes so many requests that every leaf comes up
// about equally often; the mean is then near the claim.
func TestLightLoadOnRandomPaths(t *testing.T) {
	const each = 400
	for _, n := range []int{1, 3, 6, 15} {
		net := newNet(t, n, "random")
		var total uint64
		for range each {
			for id := dme.NodeID(1); int(id) <= n; id++ {
				got, err := net.Serve(id)
				if err != nil {
					t.Fatal(err)
				}
				total += got
			}
		}
		want, ok := predict(t, net.Setting, claim.MessagesPerCS, "3K(n−1)", claim.Mean)
		if got := float64(total) / float64(each*n); !ok || math.Abs(got-want) > 0.02*want {
			t.Errorf("N=%d: %v messages on average, claimed %v, %v", n, got, want, ok)
		}
	}
}

// Leaves are drawn uniformly, and otherwise for another seed: Pearson's test
// with 15 degrees of freedom, whose 99.9th percentile is 37.7.
func TestLeavesAreDrawnUniformly(t *testing.T) {
	const nodes, ends, draws = 31, 16, 8000
	previous := 0
	for seed := range uint64(5) {
		s := leaves{nodes: nodes, seed: seed}
		for _, id := range []dme.NodeID{1, 2, 31} {
			var count [nodes + 1]float64
			sum := 0
			for request := range uint64(draws) {
				leaf := s.draw(id, request)
				count[leaf]++
				sum = sum*31 + int(leaf)
			}
			chi := 0.0
			for _, c := range count[nodes/2+1:] {
				d := c - draws/ends
				chi += d * d / (draws / ends)
			}
			if chi > 37.7 {
				t.Errorf("seed %d, node %d: χ² = %v: %v", seed, id, chi, count)
			}
			if sum == previous {
				t.Errorf("seed %d, node %d: the same leaves as before", seed, id)
			}
			previous = sum
		}
	}
}

// The coterie of section 9.9.6 on six nodes: 3, 5 and 6 ask, and the request of
// node 3 is the first at the sites 1 and 2.
func TestExampleOfSection996(t *testing.T) {
	sets, err := quorum.New("file:../quorum/testdata/textbook-9.9.6.txt", quorum.Config{Nodes: 6, ReadFile: os.ReadFile})
	if err != nil {
		t.Fatal(err)
	}
	a := Algorithm()
	a.Prepare = func(cfg dme.Config) (dme.System, error) {
		return ownPaths{sets, newNode}, nil
	}
	net := conformance.Make(t, a, 6, nil)
	for _, id := range []dme.NodeID{3, 5, 6} {
		net.Request(id)
	}
	net.Deliver(3, 2, 0)
	net.Deliver(3, 1, 0)
	net.Settle()
	if in := net.Inside(); !slices.Equal(in, []dme.NodeID{3}) {
		t.Fatalf("%v inside, want node 3\n%s", in, net.States())
	}
	net.Drain()
	if err := net.Err(); err != nil || len(net.Entries) != 3 || net.Refused() > 0 {
		t.Errorf("%d entries, %d messages refused; %v", len(net.Entries), net.Refused(), err)
	}
}

func TestPeers(t *testing.T) {
	sys, err := Algorithm().New(7, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Node 3 asks 1, 3, 7, and is asked by its descendants and by the root.
	if got, want := Algorithm().Peers(sys, 3), []dme.NodeID{1, 6, 7}; !slices.Equal(got, want) {
		t.Errorf("peers of 3: %v, want %v", got, want)
	}
	sys, err = Algorithm().New(7, 1, map[string]string{optPath: "random"})
	if err != nil {
		t.Fatal(err)
	}
	if Algorithm().Peers(sys, 3) != nil {
		t.Error("with a path drawn for each request, nobody's peers are known")
	}
}

// TestMemory: a leaf of a tree of a million nodes takes memory for the 20 nodes
// of its path, whichever path it asks. (The root keeps whom it serves, and these
// are all.)
func TestMemory(t *testing.T) {
	const nodes = 1<<20 - 1
	for _, a := range []*dme.Algorithm{Algorithm(), AsPublished()} {
		for _, path := range []string{"self", "random"} {
			sys, err := a.New(nodes, 1, map[string]string{optPath: path})
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			n := sys.Node(nodes)
			var out dme.Outbox
			n.Request(&out)
			runtime.ReadMemStats(&after)
			// The outbox takes most of it.
			if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 32<<10 {
				t.Errorf("%s, path=%s: a node of %d and its request take %d bytes", a.Name, path, nodes, bytes)
			}
			if got := len(out.Effects()); got < 19 {
				t.Errorf("%s, path=%s: %d Requests", a.Name, path, got)
			}
		}
	}
}

// Examples are judged by the sets that their texts name.
func TestSetsInATextAreRead(t *testing.T) {
	for text, want := range map[string][][]dme.NodeID{
		"none":                            nil,
		"0 of {1,2,3}, {4,1,6}, and more": {{1, 2, 3}, {1, 4, 6}},
		"1 of {7}":                        {{7}},
	} {
		if got := setsIn(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a set of something else is read")
		}
	}()
	setsIn("1 of {a,b}")
}

// On complete trees quorums are as large as the formula says. Of two sites the failure of
// the root leaves no quorum, none for (k−i)+2i = 2: the root has no second subtree.
func TestOffFormula(t *testing.T) {
	for n, want := range map[int]float64{1: 0, 2: 2, 3: 0, 7: 0, 15: 0} {
		if got := offFormula(n); got != want {
			t.Errorf("%d sites: off by %v, want %v", n, got, want)
		}
	}
}

func TestAlgorithm(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *node { return n.Host(id).Made().(*node) }
	suite.Run(t, suite.Suite{
		Algorithm: Algorithm(),
		Breaches: []conformance.Breach{
			{
				Invariant: "one Request", Nodes: 3, Says: "the Request (1,2) is 1 times on its way to site 1 and 1 times in its queue",
				Fault: func(n *conformance.Net) { n.Request(2); at(n, 1).waiting.Insert(dme.Stamp{Clock: 1, Node: 2}) },
			},
			{
				Invariant: "one permission", Nodes: 3, Says: "site 1 has granted (1,3); node 2 has its permission: false",
				Fault: func(n *conformance.Net) {
					n.Request(2)
					n.Deliver(2, 1, 0)
					at(n, 1).granted = dme.Stamp{Clock: 1, Node: 3}
				},
			},
			{
				Invariant: "one permission", Nodes: 3, Says: "site 1 has granted (1,2); node 2 has its permission: false, " +
					"and with messages between the two there are 0 permissions, not 1",
				Fault: func(n *conformance.Net) {
					n.Request(2)
					n.Deliver(2, 1, 0)
					n.Deliver(1, 2, 0)
					x := at(n, 2)
					x.replied.Remove(x.MemberIndex(1))
				},
			},
		},
		Refusals: []suite.Refusals{
			{
				Start: func() *conformance.Net {
					net := newNet(t, 7, "self")
					net.Request(2)
					net.Settle()
					net.Request(4) // waits behind node 2, everywhere
					net.Settle()
					return net
				},
				Messages: []suite.Refused{
					{What: "no clock", From: 3, To: 1, Series: []dme.Message{{Kind: kindRequest}}},
					{What: "a clock that overflows", From: 3, To: 1, Series: []dme.Message{{Kind: kindRequest, Clock: 1 << 63}}},
					{What: "second Request of the holder", From: 2, To: 1, Series: []dme.Message{{Kind: kindRequest, Clock: 9}}},
					{What: "second Request of one who waits", From: 4, To: 1, Series: []dme.Message{{Kind: kindRequest, Clock: 9}}},
					{What: "Request of a node on another path", From: 6, To: 2, Series: []dme.Message{{Kind: kindRequest, Clock: 9}}},
					{What: "Reply without a request", From: 1, To: 3, Series: []dme.Message{{Kind: kindReply, Clock: 9}}},
					{What: "second Reply", From: 1, To: 2, Series: []dme.Message{{Kind: kindReply, Clock: 9}}},
					{What: "Reply of a node that was not asked", From: 3, To: 4, Series: []dme.Message{{Kind: kindReply, Clock: 9}}},
					{What: "Yield of a permission not inquired about", From: 2, To: 1, Series: []dme.Message{{Kind: kindYield, Clock: 9}}},
					{What: "Yield of one who does not hold it", From: 4, To: 1, Series: []dme.Message{{Kind: kindYield, Clock: 9}}},
					{What: "Relinquish of one who does not hold it", From: 4, To: 1, Series: []dme.Message{{Kind: kindRelinquish, Clock: 9}}},
				},
			},
		},
	}, suite.Suite{Algorithm: AsPublished()})
}

func TestSchedules(t *testing.T) { suite.Schedules(t, Algorithm(), AsPublished()) }

func TestMutants(t *testing.T) { suite.Mutants(t) }
