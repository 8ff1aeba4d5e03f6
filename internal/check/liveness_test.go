package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/catalog"
	"dmebench/algorithms/centralized"
	"dmebench/algorithms/chaudhurikaraata"
	"dmebench/algorithms/lodhakshemkalyani"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/suzukikasami"
	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
)

func livenessOf(t *testing.T, a *dme.Algorithm, o Options) LivenessResult {
	t.Helper()
	o.Unlimited = true
	s, err := New(a, o)
	if err != nil {
		t.Fatal(a.Name, err)
	}
	r, err := s.Liveness(t.Context())
	if err != nil {
		t.Fatal(a.Name, err)
	}
	if r.Proven != (r.Verdict == Holds) || (r.Lasso != nil) != (r.Verdict != Holds && r.Verdict != Incomplete) {
		t.Errorf("%s: verdict %s, proven %v, lasso %v", a.Name, r.Verdict, r.Proven, r.Lasso)
	}
	if r.Lasso != nil {
		checkLasso(t, s, r)
	}
	return r
}

// checkLasso follows a lasso in a network of its own.
func checkLasso(t *testing.T, s *Search, r LivenessResult) {
	t.Helper()
	n := vnet.New(s.model)
	take := func(steps []vnet.Step) {
		for _, x := range steps {
			if !n.Possible(x) {
				t.Fatalf("%v is not possible", x)
			}
			n.Do(x)
		}
	}
	take(r.Lasso.Prefix)
	switch r.Verdict {
	case Unsafe:
		if n.Violation == nil {
			t.Error("the prefix breaks nothing")
		}
		return
	case Deadlock:
		if !n.Stuck() || len(r.Lasso.Loop) > 0 {
			t.Errorf("stuck: %v, and %d steps follow", n.Stuck(), len(r.Lasso.Loop))
		}
		return
	}
	waits := func() bool { return slices.Contains(n.Waiting(), r.Node) }
	if !waits() {
		t.Fatalf("node %d does not wait at the beginning of the loop", r.Node)
	}
	before := string(n.SaveAlike(nil))
	for turn := range 5 {
		entries, arrived := n.Entries, make(map[[2]dme.NodeID]bool)
		full, inside := occupied(n), n.Inside()
		left := make(map[dme.NodeID]bool)
		for _, x := range r.Lasso.Loop {
			take([]vnet.Step{x})
			arrived[[2]dme.NodeID{x.From, x.Node}] = true
			left[x.Node] = left[x.Node] || x.Kind == vnet.Leave
			if !waits() {
				t.Fatalf("turn %d: node %d does not wait any more", turn, r.Node)
			}
		}
		if string(n.SaveAlike(nil)) != before {
			t.Fatalf("turn %d of the loop leads elsewhere", turn)
		}
		if (n.Entries > entries) != (r.Verdict == Starved) {
			t.Errorf("%s, and %d entries in a turn of the loop", r.Verdict, n.Entries-entries)
		}
		for _, link := range full {
			if !arrived[link] {
				t.Errorf("nothing arrives on link %v, which holds something", link)
			}
		}
		for _, id := range inside {
			if !left[id] {
				t.Errorf("node %d is inside and does not leave", id)
			}
		}
	}
}

func occupied(n *vnet.Network) (links [][2]dme.NodeID) {
	for _, f := range n.InFlight() {
		links = append(links, [2]dme.NodeID{f.From, f.To})
	}
	return links
}

// Each way to go wrong is told from the others.
func TestLivenessOfToys(t *testing.T) {
	for _, x := range []struct {
		a    *dme.Algorithm
		n    int
		want LivenessVerdict
		node dme.NodeID
	}{
		{silence(), 2, Deadlock, 1},
		{chatter(), 3, Livelock, 1},
		{favouritism(), 3, Starved, 1},
		{seniority(), 3, Starved, 3},
		{noisy(), 2, Holds, 0},
		{patient(), 2, Livelock, 2},
		{procrastinator(), 1, Livelock, 1},
		{anarchy(), 2, Unsafe, 0},
		{uninvited(), 2, Unsafe, 0},
		{explosive(), 2, Unsafe, 0},
		{earlyBird(), 2, Unsafe, 0},
		{restlessToy(), 1, Holds, 0},
	} {
		for _, unordered := range []bool{false, true} {
			r := livenessOf(t, x.a, Options{Nodes: x.n, Unordered: unordered})
			if r.Verdict != x.want || r.Verdict != Unsafe && r.Node != x.node {
				t.Errorf("%s on %d nodes: %s of node %d %s, want %s of %d", x.a.Name, x.n, r.Verdict, r.Node, r.Stopped, x.want, x.node)
			}
		}
	}
	// With one rival, only a REQUEST that overtakes the RELEASE before it can keep
	// node 1 waiting.
	for unordered, want := range map[bool]LivenessVerdict{false: Holds, true: Starved} {
		if r := livenessOf(t, favouritism(), Options{Nodes: 2, Unordered: unordered}); r.Verdict != want {
			t.Errorf("favouritism on two nodes, unordered %v: %s", unordered, r.Verdict)
		}
	}
	r := livenessOf(t, favouritism(), Options{Nodes: 3})
	want := fmt.Sprintf("starvation: node 1 waits for ever while others enter: the last %d steps repeat for ever", len(r.Lasso.Loop))
	drawn := r.Trace.Diagram().Loop
	if r.Violation == nil || r.Violation.Verdict != want || r.Trace.Repeats != len(r.Lasso.Loop) || drawn != len(r.Lasso.Loop) {
		t.Errorf("%v, want %s", r.Violation, want)
	}
}

// endless are algorithms whose states do not come to an end, and why.
var endless = map[string]string{
	"ricart-agrawala-priority": "draws from a sequence that does not repeat",
}

// Two nodes that ask without end: every sound algorithm is proved, and the literal
// texts that fail with two nodes do.
func TestLivenessOfAll(t *testing.T) {
	fails := map[string]LivenessVerdict{
		"maekawa-textbook-as-published": Deadlock, "agrawal-el-abbadi-as-published": Unsafe, "singhal-as-published": Unsafe,
		"ricart-agrawala-bounded-as-published": Unsafe, "ricart-agrawala-robust-as-published": Unsafe,
	}
	for _, a := range catalog.All() {
		if endless[a.Name] != "" {
			continue
		}
		want := fails[a.Name]
		if want == "" {
			want = Holds
		}
		if r := livenessOf(t, a, Options{Nodes: 2}); r.Verdict != want {
			t.Errorf("%s: %s %s, want %s", a.Name, r.Verdict, r.Stopped, want)
		}
	}
}

// Three nodes. Where a link could hold back a REQUEST for ever, or a node stay
// inside, none of these would hold.
func TestLivenessOfThree(t *testing.T) {
	for _, a := range catalog.All() {
		switch a.Name {
		case "centralized", "token-ring", "ricart-agrawala", "ricart-agrawala-ring", "raymond", "naimi-trehel", "maekawa",
			"agrawal-el-abbadi", "carvalho-roucairol", "singhal":
			if r := livenessOf(t, a, Options{Nodes: 3}); !r.Proven {
				t.Errorf("%s: %s of node %d %s", a.Name, r.Verdict, r.Node, r.Stopped)
			}
		}
	}
	for _, a := range []*dme.Algorithm{lodhakshemkalyani.AsPublished(), chaudhurikaraata.AsPublished()} {
		if r := livenessOf(t, a, Options{Nodes: 3}); r.Verdict != Deadlock {
			t.Errorf("%s: %s", a.Name, r.Verdict)
		}
	}
}

// Nothing acknowledges a REQUEST of Suzuki and Kasami, so that links fill without
// end, unless nobody may ask who would put a second message on one.
func TestInFlight(t *testing.T) {
	o := Options{Nodes: 3, States: 5000}
	if r := livenessOf(t, suzukikasami.Algorithm(), o); r.Verdict != Incomplete || r.Stopped != "limit of 5000 states" {
		t.Errorf("%s, %q", r.Verdict, r.Stopped)
	}
	o.InFlight = 1
	if r := livenessOf(t, suzukikasami.Algorithm(), o); !r.Proven {
		t.Errorf("%s, %q", r.Verdict, r.Stopped)
	}
}

// TR-869, section 6.4: numbers modulo 2N−1 are enough, and modulo 2N−2 are not.
func TestModulusIsTight(t *testing.T) {
	for nodes := 2; nodes <= 3; nodes++ {
		for _, enough := range []bool{true, false} {
			a := ricartagrawala.Bounded()
			modulus := 2*nodes - 1
			if !enough {
				modulus--
			}
			a.Options[0].Default, a.ValidNodes = fmt.Sprint(modulus), nil
			if r := livenessOf(t, a, Options{Nodes: nodes}); r.Proven != enough || r.Verdict == Incomplete {
				t.Errorf("N=%d, modulo %d: %s %s", nodes, modulus, r.Verdict, r.Stopped)
			}
		}
	}
}

// smallMesh has two planes of two nodes: the least in which a plane can go on by
// itself. Its invariants would notice a missing rule before anybody starves.
func smallMesh(t *testing.T) LivenessResult {
	return livenessOf(t, chaudhurikaraata.Algorithm(), Options{Nodes: 4, Set: map[string]string{"mesh": "2x1x2"}, WithoutInvariants: true})
}

func TestMeshStarvesNobody(t *testing.T) {
	if r := smallMesh(t); !r.Proven {
		t.Errorf("%s of node %d: %v\n%s", r.Verdict, r.Node, r.Lasso, strings.Join(r.Trace.Lines(), "\n"))
	}
}

// Without rule CR3 a plane that always has somebody waiting never gives the token
// away.
func TestMeshWithoutCR3Starves(t *testing.T) {
	conformance.TestMutants(t, "TestMeshStarvesNobody", conformance.Mutant{
		Name: "CR3", File: "../../algorithms/chaudhurikaraata/repaired.go",
		Old: "\tcase c.batch > 0: // CR3\n\t\tc.batch--\n", New: "\tcase len(c.own) > 0:\n", Caught: "starvation of node 1",
	})
}

func TestLivenessRefuses(t *testing.T) {
	for _, x := range []struct {
		o    Options
		want string
	}{
		{Options{Nodes: 3, Unlimited: true, Requests: 3}, "3 requests"},
		{Options{Nodes: LivenessMost + 1, Unlimited: true}, "33 nodes"},
		{Options{Nodes: 3, Unlimited: true, Lose: 1}, "links that deliver every message once"},
		{Options{Nodes: 3, Unlimited: true, Duplicate: true}, "links that deliver every message once"},
		{Options{Nodes: 3, Unlimited: true, Faults: 1}, "nodes that do not fail"},
		{Options{Nodes: 3, Unlimited: true, Bypass: 1}, "no bound on overtaking"},
		{Options{Nodes: 3, Requests: 3, InFlight: 1}, "in a search for liveness alone"},
		{Options{Nodes: 3, Unlimited: true, InFlight: -1}, "-1 messages in flight"},
	} {
		if _, err := New(centralized.Algorithm(), x.o); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v, want %q", x.o, err, x.want)
		}
	}
	s, err := New(centralized.Algorithm(), Options{Nodes: 2, Requests: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Liveness(t.Context()); err == nil {
		t.Error("a number of requests is no obstacle")
	}
}

func TestLivenessLimits(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, x := range []struct {
		ctx  context.Context
		o    Options
		want string
	}{
		{t.Context(), Options{States: 1000}, "limit of 1000 states"},
		{t.Context(), Options{Memory: 1 << 20}, "limit of 1 MiB of memory"},
		{ctx, Options{}, "interrupted"},
	} {
		x.o.Nodes, x.o.Unlimited = 3, true
		s, err := New(lodhakshemkalyani.Algorithm(), x.o)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := s.Liveness(x.ctx); err != nil || r.Verdict != Incomplete || r.Proven || r.Stopped != x.want {
			t.Errorf("%s, %q, %v; want %q", r.Verdict, r.Stopped, err, x.want)
		}
	}
}

// An invariant is looked at in every state, also where clocks have come far.
func TestLivenessLooksAtInvariants(t *testing.T) {
	a := ricartagrawala.Algorithm()
	a.Invariants = []dme.Invariant{{
		Name: "nobody waits", Citation: "nobody", Statement: "nobody waits.",
		Holds: func(v dme.GlobalView) error {
			for id := dme.NodeID(1); int(id) <= v.Setting().Nodes; id++ {
				if v.Activity(id) == dme.Requesting {
					return dme.Broken([]dme.NodeID{id}, "it waits")
				}
			}
			return nil
		},
	}}
	if r := livenessOf(t, a, Options{Nodes: 2}); r.Verdict != Unsafe || len(r.Lasso.Prefix) != 1 {
		t.Errorf("%s after %v: %v", r.Verdict, r.Lasso, r.Violation)
	}
}
