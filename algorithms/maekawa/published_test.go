package maekawa_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/maekawa"
	"dmebench/algorithms/quorum"
	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
	"dmebench/internal/search/check"
	"dmebench/internal/testkit"
	"dmebench/internal/testkit/suite"
)

func texts() []*dme.Algorithm {
	return []*dme.Algorithm{maekawa.AsPublished(), maekawa.TextbookAsPublished()}
}

// TestPublishedIsCaught: a search over few random schedules finds both faults in both
// texts, and none in the repaired algorithm.
func TestPublishedIsCaught(t *testing.T) {
	or := func(quorum string) map[string]string { return map[string]string{"quorum": quorum, "yield": "or"} }
	on := func(quorum string) map[string]string { return map[string]string{"quorum": quorum} }
	for _, x := range []struct {
		name     string
		a        *dme.Algorithm
		nodes    int
		set      map[string]string
		load     vnet.Load
		requests int
		seeds    int
		want     verdict
	}{
		{"a burst on the plane of 7", maekawa.AsPublished(), 7, on("plane"), vnet.Bursts, 1, 20, stalled},
		{"a burst on the plane of 13", maekawa.AsPublished(), 13, on("plane"), vnet.Bursts, 1, 20, stalled},
		{"a stale INQUIRE", maekawa.AsPublished(), 7, on("tree"), vnet.Churn, 3, 500, unsafe},
		{"two sites, each locks itself", maekawa.TextbookAsPublished(), 2, on("plane"), vnet.Bursts, 1, 5, stalled},
		{"a burst on the triangle", maekawa.TextbookAsPublished(), 3, on("plane"), vnet.Bursts, 1, 5, stalled},
		{"a forgotten INQUIRE", maekawa.TextbookAsPublished(), 3, or("plane"), vnet.Bursts, 1, 10, stalled},
		{"stale and several INQUIREs", maekawa.TextbookAsPublished(), 7, or("plane"), vnet.Churn, 3, 300, unsafe},
	} {
		w := conformance.Walk{Algorithm: x.a, Nodes: x.nodes, Set: x.set, Requests: conformance.Each(x.requests), Load: x.load}
		if got := search(t, w, x.seeds); got[x.want] == 0 {
			t.Errorf("%s, %s: %v, want some %s", x.a.Name, x.name, got, x.want)
		}
		w.Algorithm, w.Set = maekawa.Algorithm(), on(x.set["quorum"])
		if got := search(t, w, x.seeds); got[held] != x.seeds {
			t.Errorf("repaired, %s: %v", x.name, got)
		}
	}
}

// TestPublishedOnFigure1b: on the sets of the paper itself, where only the nodes 2, 3, 4 and
// 5 ask, at once.
func TestPublishedOnFigure1b(t *testing.T) {
	burst := conformance.Walk{
		Nodes: 7, Set: map[string]string{"quorum": "file:testdata/maekawapublished/figure1b.txt"},
		Requests: conformance.Only(2, 3, 4, 5), Load: vnet.Bursts,
	}
	for _, x := range []struct {
		a    *dme.Algorithm
		want verdict
	}{{maekawa.AsPublished(), stalled}, {maekawa.TextbookAsPublished(), stalled}, {maekawa.Algorithm(), held}} {
		prepare := x.a.Prepare
		x.a.Prepare = func(cfg dme.Config) (dme.System, error) {
			cfg.ReadFile = os.ReadFile
			return prepare(cfg)
		}
		burst.Algorithm = x.a
		got := search(t, burst, 300)
		if got[x.want] == 0 || x.want == held && got[held] != 300 {
			t.Errorf("%s: %v, want %s", x.a.Name, got, x.want)
		}
	}
}

// TestPublishedLightLoad: without contention the texts are right, and cost 3(K−1).
func TestPublishedLightLoad(t *testing.T) {
	for _, a := range texts() {
		net := conformance.Make(t, a, 13, nil)
		for id := dme.NodeID(1); id <= 13; id++ {
			if got, err := net.Serve(id); err != nil || got != 9 {
				t.Errorf("%s, node %d: %d messages, %v; want 9", a.Name, id, got, err)
			}
		}
	}
}

// TestPassedRequest shows the fault of the paper's step (2) at one arbiter: a
// REQUEST that caused the INQUIRE is passed by a more preceding one, and its
// node hears nothing of it, unlike that of the repaired algorithm.
func TestPassedRequest(t *testing.T) {
	for _, x := range []struct {
		a    *dme.Algorithm
		want string
	}{{maekawa.AsPublished(), ""}, {maekawa.Algorithm(), "FAILED"}} {
		sys, err := x.a.New(7, 1, map[string]string{"quorum": "majority"})
		if err != nil {
			t.Fatal(err)
		}
		n := sys.Node(4)  // asked by the nodes 1 to 4
		const request = 1 // the first of Algorithm.Kinds
		var out dme.Outbox
		for _, r := range []dme.Stamp{{Clock: 3, Node: 1}, {Clock: 2, Node: 2}, {Clock: 1, Node: 3}} {
			n.Receive(r.Node, dme.Message{Kind: request, Clock: r.Clock}, &out)
		}
		sent := ""
		for _, e := range out.Effects() {
			if e.To == 2 {
				sent += x.a.KindName(e.Msg.Kind)
			}
		}
		if sent != x.want {
			t.Errorf("%s: node 2 is told %q, want %q", x.a.Name, sent, x.want)
		}
	}
}

// A site that has given back is granted again once the one that went before it is done.
// Where it gives back twice, the textbook's text takes the other's grant and forgets it.
func TestGivenBackWaitsOn(t *testing.T) {
	for _, x := range []struct {
		a     *dme.Algorithm
		twice bool
		want  []dme.NodeID // are granted, one after the other
	}{
		{maekawa.AsPublished(), false, []dme.NodeID{1, 2, 1}},
		{maekawa.TextbookAsPublished(), false, []dme.NodeID{1, 2, 1}},
		{maekawa.TextbookAsPublished(), true, []dme.NodeID{1, 2, 1}},
	} {
		sys, err := x.a.New(7, 1, map[string]string{"quorum": "majority"})
		if err != nil {
			t.Fatal(err)
		}
		n := sys.Node(4) // asked by the nodes 1 to 4
		kind := func(names ...string) dme.Kind {
			return dme.Kind(1 + slices.IndexFunc(x.a.Kinds, func(name string) bool { return slices.Contains(names, name) }))
		}
		request, yield, release := kind("REQUEST"), kind("RELINQUISH", "YIELD"), kind("RELEASE")
		var out dme.Outbox
		n.Receive(1, dme.Message{Kind: request, Clock: 3}, &out)
		n.Receive(2, dme.Message{Kind: request, Clock: 2}, &out)
		n.Receive(1, dme.Message{Kind: yield}, &out)
		if x.twice {
			n.Receive(1, dme.Message{Kind: yield}, &out)
			n.Receive(1, dme.Message{Kind: release}, &out)
		}
		n.Receive(2, dme.Message{Kind: release}, &out)
		var granted []dme.NodeID
		for _, e := range out.Effects() {
			if e.Kind == dme.Send && e.Msg.Kind == kind("LOCKED", "REPLY") {
				granted = append(granted, e.To)
			}
		}
		if !slices.Equal(granted, x.want) {
			t.Errorf("%s, gives back twice: %v: %v are granted, want %v", x.a.Name, x.twice, granted, x.want)
		}
	}
}

// Request sets that contain one another meet, as Maekawa's condition (a) asks, and
// nothing else is asked of them: every schedule is safe and comes to an end.
func TestNestedRequestSets(t *testing.T) {
	for _, x := range []struct {
		sets     string
		requests int
	}{
		{"1: 1 2\n2: 2\n3: 2 3\n", 5},
		{"1: 1 2 3\n2: 2 3\n3: 1 3\n", 4},
		{"1: 1 2\n2: 1 2\n3: 1 2 3\n", 4},
	} {
		for _, yield := range []string{"failed", "always"} {
			suite.Search{Options: check.Options{
				Nodes: 3, Requests: x.requests, Set: map[string]string{"quorum": "file:sets", "yield": yield},
				ReadFile: func(string) ([]byte, error) { return []byte(x.sets), nil },
			}}.Test(t, maekawa.Algorithm())
		}
	}
}

// verdict is what became of a schedule.
type verdict string

const (
	held    verdict = "held"
	unsafe  verdict = "unsafe"  // two nodes in the critical section
	stalled verdict = "stalled" // a request is pending and nothing moves
)

// search counts the verdicts of a walk over seeds.
func search(t *testing.T, w conformance.Walk, seeds int) map[verdict]int {
	t.Helper()
	count := make(map[verdict]int)
	for w.Seed = range uint64(seeds) {
		_, err := w.Run()
		switch {
		case err == nil:
			count[held]++
		case strings.Contains(err.Error(), conformance.Unsafe):
			count[unsafe]++
		case strings.Contains(err.Error(), conformance.Stalled):
			count[stalled]++
		default:
			t.Fatal(err)
		}
	}
	return count
}

// Every schedule in which one node of three crashes at any moment, with three requests, and
// may come back, and two of two with four requests. That a node which stays away is not
// waited for, where there is another quorum, is part of it. Then crashes at random on more
// nodes; with numbered grants on links that reorder.
func TestRandomCrashes(t *testing.T) {
	for _, set := range []map[string]string{
		{}, {"yield": "always"}, {"grants": "numbered"}, {"grants": "numbered", "yield": "always"},
		{"quorum": "grid"}, {"quorum": "tree"}, {"quorum": "weighted", "weights": "2,1,1"}, {"quorum": "singleton"},
	} {
		suite.Search{Options: check.Options{Nodes: 3, Requests: 3, Faults: 1, Set: set}}.Test(t, maekawa.Algorithm())
		if set["weights"] == "" {
			suite.Search{Options: check.Options{Nodes: 2, Requests: 4, Faults: 2, Set: set}}.Test(t, maekawa.Algorithm())
		}
	}
	schedules := 40
	if testkit.Long() {
		schedules = 400
	}
	for _, n := range []int{3, 5, 7, 9} {
		for _, q := range []string{"plane", "grid", "majority", "tree", "hierarchical", "weighted"} {
			for _, set := range []map[string]string{
				{"yield": "failed"}, {"yield": "always"}, {"yield": "failed", "grants": "numbered"}, {"yield": "always", "grants": "numbered"},
			} {
				if set["quorum"] = q; q == "weighted" {
					set["weights"] = "4,3,2,1,1,1,1,1,1"[:2*n-1]
				}
				suite.Search{Options: check.Options{
					Nodes: n, Requests: 3 * n, Faults: 4, Schedules: schedules, Set: set, Unordered: set["grants"] == "numbered",
				}}.Test(t, maekawa.Algorithm())
				if err := conformance.SearchFaults(maekawa.Algorithm(), n, set, uint64(max(1, schedules/n/4))); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// What Survives says is told here once more: some request set, majority or tree quorum is
// whole.
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
		suite.EverySetOfFailedNodes(t, maekawa.Algorithm(), x.nodes, 1, x.set, x.quorum)
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
