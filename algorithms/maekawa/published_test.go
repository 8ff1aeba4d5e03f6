package maekawa_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/maekawa"
	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
	"dmebench/internal/search/check"
)

func texts() []*dme.Algorithm {
	return []*dme.Algorithm{maekawa.AsPublished(), maekawa.TextbookAsPublished()}
}

func TestPublishedDescriptions(t *testing.T) {
	for _, a := range texts() {
		if err := a.Check(); err != nil {
			t.Error(err)
		}
		if !a.AsPublished {
			t.Errorf("%s is not marked as a negative control", a.Name)
		}
		if _, err := a.New(7, 1, map[string]string{"quorum": "star"}); err == nil {
			t.Errorf("%s: quorum=star was accepted", a.Name)
		}
	}
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
		told := ""
		for _, e := range out.Effects() {
			if e.To == 2 {
				told += x.a.KindName(e.Msg.Kind)
			}
		}
		if told != x.want {
			t.Errorf("%s: node 2 is told %q, want %q", x.a.Name, told, x.want)
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
			if e.Kind == dme.EffectSend && e.Msg.Kind == kind("LOCKED", "REPLY") {
				granted = append(granted, e.To)
			}
		}
		if !slices.Equal(granted, x.want) {
			t.Errorf("%s, gives back twice: %v: %v are granted, want %v", x.a.Name, x.twice, granted, x.want)
		}
	}
}

// TestPublishedSurvivesGarbage throws random messages at nodes that ask and leave: none may
// panic, and the state survives being saved and loaded.
func TestPublishedSurvivesGarbage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, a := range texts() {
		for range 200 {
			sys, err := a.New(7, 1, map[string]string{"quorum": "majority"})
			if err != nil {
				t.Fatal(err)
			}
			n, twin := sys.Node(4), sys.Node(4)
			var out dme.Outbox
			asked := false
			for range 60 {
				if !asked {
					n.Request(&out)
					asked = true
				}
				m := dme.Message{Kind: dme.Kind(rng.IntN(8)), Clock: rng.Uint64N(5)}
				n.Receive(dme.NodeID(rng.IntN(9)), m, &out)
				for _, e := range out.Effects() {
					if e.Kind == dme.EffectEnter {
						asked = false
					}
				}
				out.Reset()
				if !asked {
					n.Release(&out)
					out.Reset()
				}
			}
			saved := dme.SaveState(nil, n)
			if rest, err := dme.LoadState(saved, twin); err != nil || len(rest) > 0 {
				t.Fatal(len(rest), err)
			}
			if !bytes.Equal(saved, dme.SaveState(nil, twin)) || dme.DescribeState(n) != dme.DescribeState(twin) {
				t.Fatalf("%s was loaded as %s", dme.DescribeState(n), dme.DescribeState(twin))
			}
		}
	}
}

func TestPublishedPeers(t *testing.T) {
	sys, err := maekawa.AsPublished().New(7, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := maekawa.AsPublished().RequestSet(sys, 4), []dme.NodeID{4, 5, 7}; !slices.Equal(got, want) {
		t.Errorf("S_4 = %v, want %v", got, want)
	}
	if got, want := maekawa.AsPublished().Peers(sys, 4), []dme.NodeID{1, 3, 5, 7}; !slices.Equal(got, want) {
		t.Errorf("peers of 4: %v, want %v", got, want)
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
			r, err := check.Exhaustive(t.Context(), maekawa.Algorithm(), check.Options{
				Nodes: 3, Requests: x.requests, Set: map[string]string{"quorum": "file:sets", "yield": yield},
				ReadFile: func(string) ([]byte, error) { return []byte(x.sets), nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.Violation != nil || !r.Complete {
				t.Errorf("%q, yield=%s: %+v", x.sets, yield, r)
			}
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
