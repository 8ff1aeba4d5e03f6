package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"dmebench/algorithms/catalog"
	"dmebench/algorithms/centralized"
	"dmebench/algorithms/chaudhurikaraata"
	"dmebench/algorithms/lamport"
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
			left[x.Node] = left[x.Node] || x.Kind == vnet.Exit
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
		Name: "CR3", File: "../../../algorithms/chaudhurikaraata/repaired.go",
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

// slow: node 2 asks node 1 again and again, whose clock rises by 1 each time, and is
// next when that clock has reached a goal.
type slow struct {
	id              dme.NodeID
	clock, goal     uint64
	busy            bool // node 1 is inside, or node 2 may be
	waiting, wanted bool // node 2 is next; node 1 asks
}

const (
	slowQuestion dme.Kind = iota + 1
	slowNotYet
	slowNow
	slowRelease
)

func slowly(goal uint64) *dme.Algorithm {
	a := toy("slow", func(id dme.NodeID, _ int) dme.Node { return &slow{id: id, goal: goal} }, "QUESTION", "NOT_YET", "NOW", "RELEASE")
	a.Clocks = func(int, dme.NodeID, *dme.Message, *dme.Visitor) {}
	return a
}

func (n *slow) Request(out *dme.Outbox) {
	if n.id == 2 {
		out.Send(1, dme.Message{Kind: slowQuestion})
		return
	}
	n.wanted = true
	n.serve(out)
}

func (n *slow) Release(out *dme.Outbox) {
	if n.id == 2 {
		out.Send(1, dme.Message{Kind: slowRelease})
		return
	}
	n.busy = false
	n.serve(out)
}

func (n *slow) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch {
	case m.Kind == slowNow:
		out.Enter(dme.Stamp{})
	case m.Kind == slowNotYet:
		out.Send(from, dme.Message{Kind: slowQuestion})
	case m.Kind == slowRelease:
		n.busy = false
		n.serve(out)
	case n.clock == n.goal:
		n.waiting = true
		n.serve(out)
	default:
		n.clock++
		out.Send(from, dme.Message{Kind: slowNotYet})
	}
}

func (n *slow) serve(out *dme.Outbox) {
	switch {
	case n.busy:
	case n.waiting:
		n.busy, n.waiting = true, false
		out.Send(2, dme.Message{Kind: slowNow})
	case n.wanted:
		n.busy, n.wanted = true, false
		out.Enter(dme.Stamp{})
	}
}

func (n *slow) State(v *dme.Visitor) {
	if n.id == 1 { // node 2's, which stays where it was, would fall behind at the same time
		v.Clock("clock", &n.clock)
		v.Clock("goal", &n.goal)
	}
	v.Bool("busy", &n.busy)
	v.Bool("waiting", &n.waiting)
	v.Bool("wanted", &n.wanted)
}

// A loop in which one clock comes closer to another ends some day: nobody waits for
// ever in it.
func TestALoopThatComesToAnEnd(t *testing.T) {
	if r := livenessOf(t, slowly(100), Options{Nodes: 2}); r.Verdict != Incomplete || r.Violation != nil {
		t.Errorf("%s of node %d: %v", r.Verdict, r.Node, r.Violation)
	}
}

// The account holds the states that a worker looks up together.
func TestWorkersAreOnTheAccount(t *testing.T) {
	for _, nodes := range []int{2, 30} {
		x := newExhaustive(searchOf(t, ricartagrawala.Algorithm(), Options{Nodes: nodes, Requests: 3}), 1)
		before := x.memory.held.Load()
		w := newWorker(x)
		want := cap(w.vectors)*int(unsafe.Sizeof(w.vectors[:1][0])) + cap(w.hashes)*int(unsafe.Sizeof(w.hashes[:1][0])) +
			cap(w.origins)*int(unsafe.Sizeof(w.origins[:1][0]))
		if got := x.memory.held.Load() - before; got != int64(want) {
			t.Errorf("%d nodes: a worker that takes %d bytes is on the account with %d", nodes, want, got)
		}
	}
}

// The account holds what a worker's classes and the common tables keep.
func TestClassesAreOnTheAccount(t *testing.T) {
	s := searchOf(t, lamport.Algorithm(), Options{Nodes: 3, Requests: 100, Workers: 1, Reduce: true, WithoutInvariants: true})
	x := newExhaustive(s, 1)
	x.byClass = true
	w := newWorker(x)
	first, h := x.space.Of(vnet.New(s.model))
	w.offer(w.classes.Of(first), h, 0)
	w.lookUp()
	before := x.memory.held.Load()
	w.expandBatch(w.filled()[0])
	own, grown := w.Footprint()+w.classes.Footprint(), x.memory.held.Load()-before
	if w.classes.Footprint() == 0 || w.held != own || grown < int64(own+x.space.Footprint()) {
		t.Errorf("a worker of %d bytes and states of %d are on the account with %d and %d", own, x.space.Footprint(), w.held, grown)
	}
}

// One worker finds by class what several find.
func TestOneWorkerByClass(t *testing.T) {
	var states []uint64
	for _, workers := range []int{1, 3} {
		r, err := Exhaustive(t.Context(), lamport.Algorithm(), Options{
			Nodes: 2, Requests: 4, Workers: workers, Reduce: true, WithoutInvariants: true,
		})
		if err != nil || !r.Complete || !r.ByClass {
			t.Fatalf("%d workers: %+v, %v", workers, r, err)
		}
		states = append(states, r.States)
	}
	if states[0] != states[1] {
		t.Errorf("%d classes with one worker, %d with three", states[0], states[1])
	}
}

// After so many steps without an entry as 4·N²+16 a schedule that goes on is compared with
// itself, and one turn of its cycle later it is at its end: a message that goes round two
// nodes comes back after 2 steps, round three after 3.
func TestWhenCyclesAreSeen(t *testing.T) {
	for nodes := 2; nodes <= 4; nodes++ {
		s := searchOf(t, chatter(), Options{Nodes: nodes, Requests: 1, Requesters: []dme.NodeID{1}})
		trace, taken := s.replay(s.model, asksOf(1), true)
		if want := 1 + 4*nodes*nodes + 16 + nodes; trace.Repeats != nodes || len(taken) != want {
			t.Errorf("%d nodes: after %d steps the last %d repeat, want %d after %d", nodes, len(taken), trace.Repeats, nodes, want)
		}
	}
}

// Of the random schedules a fifth has readers only, a fifth has none, and a fifth each has
// as many as a quarter, a half and three quarters of all requests.
func TestHowManyRead(t *testing.T) {
	const schedules, requests = 300, 60
	s := searchOf(t, readersFirst(), Options{Nodes: 3, Requests: requests, Adversary: Chance})
	var count [5]int // by the nearest quarter
	for seed := range uint64(schedules) {
		m, err := s.model.WithSeed(1 + seed)
		if err != nil {
			t.Fatal(err)
		}
		readers, all := 0, 0
		for _, x := range s.random(m, nil).taken {
			if asks(x) {
				all++
			}
			if x.Kind == vnet.AskShared {
				readers++
			}
		}
		if all != requests {
			t.Fatalf("seed %d: %d requests of %d", 1+seed, all, requests)
		}
		switch {
		case readers == all:
			count[4]++
		case readers > 0:
			count[min(max(1, (4*readers+all/2)/all), 3)]++
		default:
			count[0]++
		}
	}
	for quarters, n := range count {
		if n < schedules/5-25 || n > schedules/5+25 { // a standard deviation is 7
			t.Errorf("%d of %d schedules have %d quarters of readers; in all: %v", n, schedules, quarters, count)
		}
	}
}
