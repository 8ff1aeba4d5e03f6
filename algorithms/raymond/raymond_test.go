package raymond

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"dmebench/algorithms/spanning"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/conformance"
	"dmebench/internal/search/check"
	"dmebench/internal/testkit"
	"dmebench/internal/testkit/suite"
)

func newNet(t *testing.T, nodes int, tree string) *conformance.Net {
	t.Helper()
	return conformance.Make(t, Algorithm(), nodes, map[string]string{spanning.OptTree: tree})
}

func at(net *conformance.Net, id dme.NodeID) *node { return net.Host(id).Node().(*node) }

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
		if mean := total / count; math.Abs(mean-2*tree.MeanDistance()) > 1e-9 {
			t.Errorf("%s: mean %v, want %v", shape, mean, 2*tree.MeanDistance())
		}
	}
}

// Section 9.12.5: when all nodes ask all the time, 4(N−1) messages for N
// entries, whatever the tree. Critical sections are long here: everything that was
// sent arrives before a node leaves. On a star that is more than under light load,
// contrary to what the section says of more requesters.
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
			messages := 4 * float64(n-1) / float64(n)
			for range 5 {
				if got := float64(round()); math.Abs(got-messages*float64(n)) > 1e-9 {
					t.Errorf("%s, N=%d: %v messages in a round, want %d", shape, n, got, 4*(n-1))
				}
			}
			for _, c := range claim.Of(net.Algorithm) {
				if n < 12 || c.Load != claim.Saturated || c.Kind != claim.UpperBound || c.Quantity != claim.MessagesPerCS {
					continue
				}
				if light, ok := c.Prediction(net.Setting); ok && (messages > light) != (c.KnownFalse != "") {
					t.Errorf("%s: %.3f messages per entry, %q says %.3f, known to be false: %q", shape, messages, c.Formula, light, c.KnownFalse)
				}
			}
			if err := net.Err(); err != nil {
				t.Error(err)
			}
		}
	}
}

// distances is a breadth-first search: the twin of the closed forms.
func distances(t *spanning.Tree, from dme.NodeID) []int {
	far := make([]int, t.Nodes()+1)
	seen := map[dme.NodeID]bool{from: true}
	queue := []dme.NodeID{from}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		for _, next := range t.Neighbours(id) {
			if !seen[next] {
				seen[next] = true
				far[next] = far[id] + 1
				queue = append(queue, next)
			}
		}
	}
	return far
}

func TestAlgorithm(t *testing.T) {
	at := func(n *conformance.Net) *robust { n.Settle(); return n.Host(2).Made().(*robust) }
	on := func(nodes, requests int, tree, init string) suite.Search {
		return suite.Search{Options: check.Options{
			Nodes: nodes, Requests: requests, Set: map[string]string{spanning.OptTree: tree, optInit: init}, Unordered: true,
		}}
	}
	atRandom := func(tree string) suite.Search {
		return suite.Search{Nodes: []int{3, 8}, Options: check.Options{Schedules: 300, Set: map[string]string{spanning.OptTree: tree}}}
	}
	crashes := 1
	if testkit.Full() {
		crashes = 2
	}
	crashing := func(tree string) suite.Search {
		return suite.Search{Options: check.Options{Nodes: 3, Requests: 3, Faults: crashes, Set: map[string]string{spanning.OptTree: tree}}}
	}
	uninitialized := func() *conformance.Net { return byMessages(t, 7, "binary") }
	initialized := func() *conformance.Net {
		net := uninitialized()
		net.Settle()
		return net
	}
	robustAtStart := func() *conformance.Net { return conformance.Make(t, Robust(), 7, nil) }
	suite.Run(t,
		suite.Suite{
			Algorithm: Algorithm(),
			Breaches: []conformance.Breach{
				{
					Invariant: "one token", Nodes: 3, Says: "there are 2 tokens: at node 1, at node 3",
					Fault: func(n *conformance.Net) { made(n, 3).holder = 3 },
				},
				{
					Invariant: "one token", Nodes: 3, Says: "there are 2 tokens: at node 1, on its way from node 1 to node 2",
					Fault: func(n *conformance.Net) { n.Request(2); n.Deliver(2, 1, 0); made(n, 1).holder = 1 },
				},
				{
					Invariant: "one token", Nodes: 3, Says: "no node has the token",
					Fault: func(n *conformance.Net) { made(n, 1).holder = 2 },
				},
				{
					Invariant: "HOLDER path", Nodes: 3, Says: "HOLDER is 2 at node 2 and 1 at its neighbour 1, with 0 PRIVILEGEs",
					Fault: func(n *conformance.Net) { made(n, 2).holder = 2 },
				},
				{
					Invariant: "HOLDER path", Nodes: 3, Says: "HOLDER is 1 at node 2 and 1 at its neighbour 1, with 1 PRIVILEGEs",
					Fault: func(n *conformance.Net) { n.Request(2); n.Deliver(2, 1, 0); made(n, 1).holder = 1 },
				},
				{
					Invariant: "one REQUEST", Nodes: 3, Says: "node 2, HOLDER 1 and ASKED false, has 1 REQUESTs on their way",
					Fault: func(n *conformance.Net) { n.Request(2); made(n, 2).asked = false },
				},
				{
					Invariant: "one REQUEST", Nodes: 3, Says: "node 2, HOLDER 1 and ASKED true, has 0 REQUESTs",
					Fault: func(n *conformance.Net) { made(n, 2).asked = true },
				},
			},
			Refusals: []suite.Refusals{
				{
					Start: func() *conformance.Net {
						net := newNet(t, 7, "binary")
						net.Request(1)
						net.Request(2)
						net.Settle()
						return net
					},
					Messages: []suite.Refused{
						{What: "REQUEST from a stranger", From: 4, To: 1, Series: []dme.Message{{Kind: kindRequest}}},
						{What: "second REQUEST", From: 2, To: 1, Series: []dme.Message{{Kind: kindRequest}}},
						{What: "PRIVILEGE that was not asked for", From: 1, To: 3, Series: []dme.Message{{Kind: kindPrivilege}}},
						{What: "PRIVILEGE from the wrong side", From: 4, To: 2, Series: []dme.Message{{Kind: kindPrivilege}}},
						{What: "PRIVILEGE to its holder", From: 2, To: 1, Series: []dme.Message{{Kind: kindPrivilege}}},
					},
				},

				{
					Start: uninitialized,
					Messages: []suite.Refused{
						{What: "REQUEST before INITIALIZE", From: 1, To: 2, Series: []dme.Message{{Kind: kindRequest}}},
						{What: "PRIVILEGE before INITIALIZE", From: 1, To: 2, Series: []dme.Message{{Kind: kindPrivilege}}},
						{What: "INITIALIZE from below", From: 4, To: 2, Series: []dme.Message{{Kind: kindInitialize}}},
						{What: "REQUEST from below before INITIALIZE", From: 4, To: 2, Series: []dme.Message{{Kind: kindRequest}}},
						{What: "stranger", From: 7, To: 2, Series: []dme.Message{{Kind: kindInitialize}}},
					},
				},
				{
					Start: initialized,
					Messages: []suite.Refused{
						{What: "second INITIALIZE", From: 1, To: 2, Series: []dme.Message{{Kind: kindInitialize}}},
						{What: "INITIALIZE to node 1", From: 2, To: 1, Series: []dme.Message{{Kind: kindInitialize}}},
					},
				},
			},
			Searches: []suite.Search{
				on(3, 6, "line", "computed"), on(4, 6, "binary", "computed"), on(4, 6, "star", "computed"), on(5, 5, "line", "computed"),
				// Requests come before INITIALIZE, while it spreads, and after it.
				on(2, 6, "line", "messages"), on(3, 5, "line", "messages"), on(3, 5, "star", "messages"),
				on(4, 4, "star", "messages"), on(4, 4, "binary", "messages"), on(4, 4, "line", "messages"),
				atRandom("binary"), atRandom("line"), atRandom("star"),
			},
		},
		suite.Suite{
			Algorithm: Robust(),
			Breaches: []conformance.Breach{
				{
					Invariant: "one token", Nodes: 3, Says: "there are 2 tokens", Fault: func(n *conformance.Net) { at(n).holder = 2 },
				},
				{
					Invariant: "HOLDER path", Nodes: 3, Says: "HOLDER is 2 at node 2", Fault: func(n *conformance.Net) { at(n).holder = 2 },
				},
				{
					Invariant: "HOLDER path", Nodes: 3, Says: "HOLDER is 2 at node 2",
					Fault: func(n *conformance.Net) { n.Settle(); n.Crash(3); at(n).holder = 2 },
				},
				{
					Invariant: "one REQUEST", Nodes: 3, Says: "stands 0 times", Fault: func(n *conformance.Net) { at(n).asked = true },
				},
			},
			Refusals: []suite.Refusals{
				{
					Start: func() *conformance.Net {
						net := robustAtStart()
						net.Settle()
						net.Serve(2)
						return net
					},
					To: 2,
					Messages: []suite.Refused{
						{What: "PRIVILEGE to its holder", From: 1, Series: []dme.Message{{Kind: kindPrivilege}}},
						{What: "second INITIALIZE", From: 1, Series: []dme.Message{{Kind: kindInitialize}}},
						// The first has been answered.
						{What: "third REQUEST", From: 1, Series: []dme.Message{{Kind: kindRequest}, {Kind: kindRequest}, {Kind: kindRequest}}},
						{What: "INITIALIZE from below", From: 4, Series: []dme.Message{{Kind: kindInitialize}}},
						{What: "stranger", From: 7, Series: []dme.Message{{Kind: kindRestart}}},
					},
				},
				{
					Start: robustAtStart, From: 4, To: 2,
					Messages: []suite.Refused{
						{What: "REQUEST before INITIALIZE", Series: []dme.Message{{Kind: kindRequest}}},
						{What: "PRIVILEGE before INITIALIZE", Series: []dme.Message{{Kind: kindPrivilege}}},
					},
				},
				{
					Start: func() *conformance.Net {
						net := robustAtStart()
						net.Settle()
						net.Crash(2)
						net.Restart(2)
						net.Host(2).Receive(1, &dme.Message{Kind: kindAdvise, Node: 1})
						return net
					},
					Messages: []suite.Refused{
						{What: "ADVISE of another direction", From: 4, To: 2, Series: []dme.Message{{Kind: kindAdvise, Node: 4}}},
					},
				},
			},
			Searches: []suite.Search{crashing("line"), crashing("star")},
		},
	)
}

func TestSchedules(t *testing.T) { suite.Schedules(t, Algorithm(), Robust()) }

func TestMutants(t *testing.T) { suite.Mutants(t) }

func made(n *conformance.Net, id dme.NodeID) *node { return n.Host(id).Made().(*node) }

func byMessages(t *testing.T, nodes int, tree string) *conformance.Net {
	t.Helper()
	return conformance.Make(t, Algorithm(), nodes, map[string]string{spanning.OptTree: tree, optInit: "messages"})
}

func holderOf(net *conformance.Net, id dme.NodeID) dme.NodeID {
	return net.Host(id).Node().(*initialized).holder
}

// INITIALIZE goes once over each edge, and every HOLDER is then what it is computed to be.
func TestInitialize(t *testing.T) {
	for _, tree := range shapes {
		for _, nodes := range []int{1, 2, 3, 7, 20} {
			net := byMessages(t, nodes, tree)
			net.Settle()
			if got := net.SentOf(kindInitialize); got != uint64(nodes-1) || net.Sent() != got || net.Refused() != 0 {
				t.Errorf("%s of %d: %d INITIALIZE of %d messages, %d refused", tree, nodes, got, net.Sent(), net.Refused())
			}
			computed := newNet(t, nodes, tree)
			for id := dme.NodeID(1); int(id) <= nodes; id++ {
				if got, want := holderOf(net, id), at(computed, id).holder; got != want {
					t.Errorf("%s of %d: HOLDER of node %d is %d, want %d", tree, nodes, id, got, want)
				}
			}
		}
	}
}

// What is claimed of INITIALIZE is measured on nodes of either form, and not on nodes
// that are told by nobody; a claim about all messages of a run is made of these alone.
func TestInitializeClaims(t *testing.T) {
	measured := func(a *dme.Algorithm, nodes int, init string) (claims int) {
		t.Helper()
		set := map[string]string{}
		if init != "" {
			set[optInit] = init
		}
		setting := conformance.Make(t, a, nodes, set).Setting
		for _, c := range claim.Of(a) {
			value, ok := c.Prediction(setting)
			if c.Quantity == claim.MessagesPerCS && ok {
				claims++
			}
			if c.Quantity != InitializeMessages {
				continue
			}
			got, measured := c.Measure(setting)
			if c.Set[optInit] != "messages" && init != "" {
				t.Errorf("%s: the claim is made under %v", a.Name, c.Set)
			}
			if ok != (init != "computed") || measured != ok || measured && (value != float64(nodes-1) || got != value) {
				t.Errorf("%s, init=%s, %d nodes: claimed %v, %v, measured %v, %v", a.Name, init, nodes, value, ok, got, measured)
			}
		}
		return claims
	}
	for _, nodes := range []int{1, 2, 7, 12} {
		measured(Robust(), nodes, "")
		if n := measured(Algorithm(), nodes, "messages"); n != 0 {
			t.Errorf("%d claims about all messages count INITIALIZE", n)
		}
		if n := measured(Algorithm(), nodes, "computed"); nodes > 2 && n == 0 {
			t.Error("no claims about all messages")
		}
	}
	// A beginning that does not reach everybody is not measured.
	setting := conformance.Make(t, Algorithm(), 3, map[string]string{optInit: "messages"}).Setting
	setting.System.(*system).tree.Neighbours(1)[1] = 2
	if got, ok := initializeMessages(setting); ok {
		t.Errorf("node 3 is told by nobody, and %v is measured", got)
	}
}

// Section 9.12.5: the worst case of the radiating star is O(log_(K−1) N), and
// the mean falls with a higher fan-out. 2 · longest path is at most four times
// the logarithm and a little (a path of two edges for each level, two messages
// for each edge), for all K alike.
func TestRadiatingStarClaim(t *testing.T) {
	for _, c := range claims() {
		if !strings.Contains(c.Formula, "radiating") || c.Load != claim.Worst {
			continue
		}
		for k := 3; k <= 12; k++ {
			for n := 2; n <= 2000; n += 1 + n/7 {
				value := fmt.Sprintf("radiating:%d", k)
				made, err := Algorithm().New(n, 1, map[string]string{spanning.OptTree: value})
				if err != nil {
					t.Fatal(err)
				}
				log, ok := c.Prediction(dme.Setting{Nodes: n, Options: dme.Options{spanning.OptTree: value}})
				if worst := float64(2 * made.(*system).tree.LongestPath()); !ok || worst > 4*log+4 {
					t.Errorf("%s of %d: worst case %v messages, log N is %v, %v", value, n, worst, log, ok)
				}
			}
		}
		if _, ok := c.Prediction(dme.Setting{Nodes: 9, Options: dme.Options{spanning.OptTree: "kary:3"}}); ok {
			t.Error("the claim is made for another tree")
		}
	}
	before := math.Inf(1)
	for k := 3; k <= 12; k++ {
		mean := spanning.Radiating(1000, dme.NodeID(k)).MeanDistance()
		if mean >= before {
			t.Errorf("K=%d: mean distance %v, with one less %v", k, mean, before)
		}
		before = mean
	}
}

// The algorithm runs on a tree from a file like on any other.
func TestServiceOnATreeFromAFile(t *testing.T) {
	a := Algorithm()
	prepare := a.Prepare
	a.Prepare = func(c dme.Config) (dme.System, error) {
		c.ReadFile = func(string) ([]byte, error) { return []byte("3 1\n3 4\n2 4\n5 3\n"), nil }
		return prepare(c)
	}
	net := conformance.Make(t, a, 5, map[string]string{spanning.OptTree: "file:tree"})
	// From 1 to 2 and from 2 to 5: three edges each.
	for _, id := range []dme.NodeID{2, 5} {
		if got, err := net.Serve(id); err != nil || got != 6 {
			t.Errorf("node %d: %d messages, %v; want 6", id, got, err)
		}
	}
}

// Nothing is said of how the messages of one node grow: it sends none, and its logarithm
// is 0. Two nodes are a tree, on which something is said wherever degrees are bounded.
func TestGrowthIsClaimedOfTreesWithEdges(t *testing.T) {
	found := 0
	for _, c := range claims() {
		if c.Quantity != claim.MessagesPerCS || c.Formula != "O(log N) (trees of bounded degree)" {
			continue
		}
		found++
		for tree, bounded := range map[string]bool{"binary": true, "kary:3": true, "radiating:4": true, "line": false, "star": false} {
			for n := 1; n <= 3; n++ {
				_, ok := c.Prediction(dme.Setting{Nodes: n, Options: dme.Options{spanning.OptTree: tree}})
				if want := bounded && n >= 2; ok != want {
					t.Errorf("%s of %d: claimed %v", tree, n, ok)
				}
			}
		}
	}
	if found != 1 {
		t.Errorf("%d claims", found)
	}
}
