package vnet

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/maekawa"
	"dmebench/algorithms/raymond"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/suzukikasami"
	"dmebench/dme"
)

// describe writes down all that an invariant can see of a state.
func describe(v dme.GlobalView) string {
	var lines []string
	nodes := v.Setting().Nodes
	for id := dme.NodeID(1); int(id) <= nodes; id++ {
		state := "-"
		if n := v.Node(id); n != nil {
			state = dme.DescribeState(n)
		}
		lines = append(lines, fmt.Sprintf("node %d is %v, reads %t: %s", id, v.Activity(id), v.Reads(id), state))
	}
	var all, byLink []string
	for _, f := range v.InFlight() {
		all = append(all, fmt.Sprintf("%d→%d %+v", f.From, f.To, *f.Message))
	}
	for from := dme.NodeID(1); int(from) <= nodes; from++ {
		for to := dme.NodeID(1); int(to) <= nodes; to++ {
			for _, m := range v.Between(from, to) {
				byLink = append(byLink, fmt.Sprintf("%d→%d %+v", from, to, *m))
			}
		}
	}
	slices.Sort(all)
	slices.Sort(byLink)
	if !slices.Equal(all, byLink) {
		lines = append(lines, fmt.Sprintf("InFlight %v, Between %v", all, byLink))
	}
	return strings.Join(append(lines, all...), "\n")
}

// Of a network that runs and of the same state as a vector, invariants see the same.
func TestInvariantsSeeTheSameInBothForms(t *testing.T) {
	for _, c := range []struct {
		alg       *dme.Algorithm
		unordered bool
		crashes   int
	}{
		{suzukikasami.Algorithm(), true, 0}, {ricartagrawala.ReadersWriters(), true, 0},
		{maekawa.Algorithm(), false, 1}, {raymond.Robust(), false, 2},
	} {
		var seen string
		a := *c.alg
		a.Invariants = []dme.Invariant{{
			Name: "anything", Faults: true, Holds: func(v dme.GlobalView) error { seen = describe(v); return nil },
		}}
		opt, err := a.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewModel(Config{
			Algorithm: &a, Nodes: 3, Options: opt, Unordered: c.unordered, Crashes: c.crashes, Restarts: true,
			Requests: func(dme.NodeID) int { return 2 },
		})
		if err != nil {
			t.Fatal(err)
		}
		space := NewSpace(m)
		walker := space.NewWalker()
		cramped := space.NewWalker() // every place is taken by another all the time
		cramped.decoded.room = room{1, 1, 1}
		held := 0 // bytes, when every place was taken
		for seed := range uint64(20) {
			rng := rand.New(rand.NewPCG(seed, 1))
			n := New(m)
			if seed == 1 {
				held = cramped.decoded.bytes
			}
			for {
				steps := n.Enabled(nil)
				if len(steps) == 0 {
					break
				}
				before, _ := space.Of(n)
				n.Broken()
				seenBefore := seen
				seen = ""
				n.Take(steps[rng.IntN(len(steps))])
				inNetwork := seen
				v, _ := space.Of(n)
				seen = ""
				walker.Broken(v, dme.None)
				inVector := seen
				cramped.Broken(v, dme.None)
				if inNetwork == "" || inVector != inNetwork || seen != inNetwork {
					t.Fatalf("%s, seed %d: the network shows\n%s\nthe vector\n%s\nwithout room\n%s", a.Name, seed, inNetwork, inVector, seen)
				}
				if cramped.Broken(before, dme.None); seen != seenBefore {
					t.Fatalf("%s, seed %d: the network showed\n%s\nthe vector, after another,\n%s", a.Name, seed, seenBefore, seen)
				}
			}
		}
		if cramped.decoded.bytes != held || held == 0 {
			t.Errorf("%s: %d bytes are in places that held %d before", a.Name, cramped.decoded.bytes, held)
		}
		if walker.decoded.bytes == 0 || walker.Footprint() < walker.decoded.bytes {
			t.Errorf("%s: %d bytes of decoded nodes are in a footprint of %d", a.Name, walker.decoded.bytes, walker.Footprint())
		}
	}
}

// After a step the pairs are asked about of which one node took it, in both orders.
func TestWhichPairsAreLookedAt(t *testing.T) {
	var asked [][2]dme.NodeID
	a := suzukikasami.Algorithm()
	a.Invariants = []dme.Invariant{{Name: "pairs", Pair: func(_ dme.GlobalView, i, j dme.NodeID, _, _ dme.Node) error {
		asked = append(asked, [2]dme.NodeID{i, j})
		return nil
	}}}
	m, err := NewModel(Config{Algorithm: a, Nodes: 3, Faults: true})
	if err != nil {
		t.Fatal(err)
	}
	n := New(m)
	saved := n.Save(nil)
	want := func(what string, pairs ...[2]dme.NodeID) {
		t.Helper()
		slices.SortFunc(asked, func(x, y [2]dme.NodeID) int { return int(4*x[0]+x[1]) - int(4*y[0]+y[1]) })
		if !slices.Equal(asked, pairs) {
			t.Errorf("%s: %v, want %v", what, asked, pairs)
		}
		asked = nil
	}
	all := [][2]dme.NodeID{{1, 1}, {1, 2}, {1, 3}, {2, 1}, {2, 2}, {2, 3}, {3, 1}, {3, 2}, {3, 3}}
	want("at the beginning", all...)
	n.Take(Step{Kind: dme.Request, Node: 2})
	want("node 2 asks", [2]dme.NodeID{1, 2}, [2]dme.NodeID{2, 1}, [2]dme.NodeID{2, 2}, [2]dme.NodeID{2, 3}, [2]dme.NodeID{3, 2})
	n.Take(Step{Kind: dme.Receive, From: 2, Node: 3})
	want("node 3 receives", [2]dme.NodeID{1, 3}, [2]dme.NodeID{2, 3}, [2]dme.NodeID{3, 1}, [2]dme.NodeID{3, 2}, [2]dme.NodeID{3, 3})
	n.Broken()
	want("on demand", all...)
	if err := n.Load(saved); err != nil {
		t.Fatal(err)
	}
	n.Take(Step{Kind: dme.Request, Node: 2})
	want("in a loaded state", all...)
	n.Model.Invariants[0].Faults = true
	n.Take(Step{Kind: dme.Crash, Node: 3})
	want("node 3 is down")
	n.Take(Step{Kind: dme.Receive, From: 2, Node: 1})
	want("node 1 receives", [2]dme.NodeID{1, 1}, [2]dme.NodeID{1, 2}, [2]dme.NodeID{2, 1})
}

// Invariants that hold as long as nodes neither crash nor leave are judged as long as that is so,
// whichever state was looked at before.
func TestNodesThatWereLookedAtAfterACrash(t *testing.T) {
	a := raymond.Robust()
	a.Invariants = []dme.Invariant{{Name: "node 2 does not ask", Pair: func(v dme.GlobalView, i, j dme.NodeID, _, _ dme.Node) error {
		if i == 1 && j == 2 && v.Activity(j) == dme.Requesting {
			return errors.New("it does")
		}
		return nil
	}}}
	opt, err := a.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewModel(Config{Algorithm: a, Nodes: 3, Options: opt, Watch: WatchAlways, Crashes: 1})
	if err != nil {
		t.Fatal(err)
	}
	n, space := New(m), NewSpace(m)
	n.Take(Step{Kind: dme.Request, Node: 2})
	before, _ := space.Of(n)
	n.Take(Step{Kind: dme.Crash, Node: 3})
	after, _ := space.Of(n)
	walker := space.NewWalker()
	for range 2 {
		if bad := walker.Broken(after, dme.None); bad != nil {
			t.Errorf("after a crash: %v", bad)
		}
		if walker.Broken(before, dme.None) == nil {
			t.Error("before a crash: nothing is broken")
		}
	}
}

// judged returns the names of the invariants by which a network is judged at the
// beginning and, if there is a step, after it.
func judged(t *testing.T, c Config, x *Step) (names string) {
	t.Helper()
	a := raymond.Robust()
	note := func(name string, faults bool) dme.Invariant {
		return dme.Invariant{Name: name, Faults: faults, Holds: func(dme.GlobalView) error {
			names += name + " "
			return nil
		}}
	}
	onOption := note("radiating", true)
	onOption.If = func(o dme.Options) bool { return o.Get("tree") == "radiating:3" }
	a.Invariants = []dme.Invariant{note("plain", false), note("robust", true), onOption}
	opt, err := a.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Algorithm, c.Options, c.Nodes = a, opt, 3
	m, err := NewModel(c)
	if err != nil {
		t.Fatal(err)
	}
	n := New(m)
	if x == nil {
		return names
	}
	names = ""
	n.Take(*x)
	inNetwork := names
	names = ""
	space := NewSpace(m)
	v, _ := space.Of(n)
	space.NewWalker().Broken(v, dme.None)
	if names != inNetwork && c.Crashes > 0 {
		t.Errorf("%+v: the network is judged by %q, a vector by %q", c, inNetwork, names)
	}
	return inNetwork
}

// Invariants are judged where their assumptions hold: on links that the algorithm
// needs, and before the first fault unless they bear faults.
func TestWhichInvariantsAreJudged(t *testing.T) {
	const both, none = "plain robust ", ""
	for _, x := range []struct {
		c    Config
		step *Step
		want string
	}{
		{Config{}, nil, both},
		{Config{Unordered: true}, nil, none},
		{Config{Duplicate: true}, nil, none},
		{Config{Lose: 1}, nil, none},
		{Config{Lose: 1, Unordered: true, Watch: WatchAlways}, nil, both},
		{Config{Watch: WatchNothing}, nil, none},
		{Config{Crashes: 1}, nil, both},
		{Config{Crashes: 1, Restarts: true}, &Step{Kind: dme.Crash, Node: 2}, "robust "},
		{Config{Crashes: 1, Restarts: true}, &Step{Kind: dme.Request, Node: 2}, both},
		{Config{Faults: true}, &Step{Kind: dme.Crash, Node: 2}, "robust "},
	} {
		if got := judged(t, x.c, x.step); got != x.want {
			t.Errorf("%+v, %v: %q, want %q", x.c, x.step, got, x.want)
		}
	}
}

// A network whose test hands it messages that nobody has sent is not judged.
func TestForgedMessagesEndTheJudgement(t *testing.T) {
	count := 0
	a := suzukikasami.Algorithm()
	a.Invariants = []dme.Invariant{{Name: "count", Holds: func(dme.GlobalView) error { count++; return nil }}}
	m, err := NewModel(Config{Algorithm: a, Nodes: 2})
	if err != nil {
		t.Fatal(err)
	}
	n := New(m)
	n.Take(Step{Kind: dme.Request, Node: 2})
	n.Inject(1, 2, &dme.Message{Kind: 2})
	n.Take(Step{Kind: dme.Receive, From: 2, Node: 1})
	if count != 2 || n.Broken() != nil || count != 3 {
		t.Errorf("judged %d times, want at the beginning, after one step, and on demand", count)
	}
}

// A broken invariant says its name, what is wrong and whom it concerns; the first
// violation stands. One that panics is told as such.
func TestBrokenInvariants(t *testing.T) {
	a := suzukikasami.Algorithm()
	a.Invariants = []dme.Invariant{{Name: "nobody asks", Holds: func(v dme.GlobalView) error {
		switch {
		case v.Activity(3) == dme.Requesting:
			panic("node 3")
		case v.Activity(2) == dme.Requesting:
			return dme.Broken([]dme.NodeID{2, 1, 2}, "node %d asks", 2)
		}
		return nil
	}}}
	m, err := NewModel(Config{Algorithm: a, Nodes: 3})
	if err != nil {
		t.Fatal(err)
	}
	n := New(m)
	if n.Take(Step{Kind: dme.Request, Node: 1}); n.Violation != nil {
		t.Fatal(n.Violation)
	}
	n.Take(Step{Kind: dme.Request, Node: 2})
	want := Violation{"nobody asks", "nobody asks: node 2 asks", []dme.NodeID{1, 2}}
	if v := n.Violation; v == nil || v.Property != want.Property || v.Verdict != want.Verdict || !slices.Equal(v.Nodes, want.Nodes) {
		t.Errorf("%+v, want %+v", n.Violation, want)
	}
	n.Take(Step{Kind: dme.Request, Node: 3})
	if n.Violation.Verdict != want.Verdict {
		t.Error(n.Violation)
	}
	if v := n.Broken(); v == nil || v.Verdict != "nobody asks: the invariant itself panics: node 3" {
		t.Error(v)
	}
	four := []dme.NodeID{4}
	if dme.Concerned(errors.New("nobody")) != nil || !slices.Equal(dme.Concerned(fmt.Errorf("%w", dme.Broken(four, ""))), four) {
		t.Error("Concerned finds other nodes than Broken was told")
	}
}

// Of the pairs only those are looked at that a step may have changed, and a vector's
// only once. Both notice the same fault in the same state as a look at all pairs, and of
// the states of many schedules, the first that has one.
func TestPairsAreLookedAtWhereTheyChange(t *testing.T) {
	for _, a := range []*dme.Algorithm{ricartagrawala.Algorithm(), maekawa.Algorithm(), raymond.Algorithm()} {
		opt, err := a.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewModel(Config{
			Algorithm: a, Nodes: 4, Options: opt, Watch: WatchAlways, Duplicate: true, Lose: 1, Recover: true,
			Requests: func(dme.NodeID) int { return 3 },
		})
		if err != nil {
			t.Fatal(err)
		}
		found := make(map[Property]int)
		space := NewSpace(m)
		walker, near, together := space.NewWalker(), space.NewWalker(), space.NewWalker()
		together.decoded.room.pairs = 64 // others take the places of pairs all the time
		var vectors []uint32
		var changed []dme.NodeID
		var broken []int // states
		for seed := range uint64(200) {
			rng := rand.New(rand.NewPCG(seed, 2))
			for n := New(m); n.Violation == nil; {
				steps := n.Enabled(nil)
				if len(steps) == 0 {
					break
				}
				x := steps[rng.IntN(len(steps))]
				n.Take(x)
				isInvariant := func(i dme.Invariant) bool { return Property(i.Name) == n.Violation.Property }
				if n.Violation != nil && !slices.ContainsFunc(a.Invariants, isInvariant) {
					break
				}
				v, _ := space.Of(n)
				all, vector, pairs := n.Broken(), walker.Broken(v, dme.None), near.Broken(v, x.Node)
				for _, bad := range []*Violation{all, vector, pairs} {
					if (n.Violation == nil) != (bad == nil) {
						t.Fatalf("%s, seed %d: after a step %v, all pairs %v, as a vector %v, its pairs with the node of the step %v",
							a.Name, seed, n.Violation, all, vector, pairs)
					}
				}
				if n.Violation != nil {
					found[n.Violation.Property]++
					if seed%100 != 99 {
						continue // what is judged together has few faults, far from each other
					}
					broken = append(broken, len(changed))
				}
				vectors, changed = append(vectors, v...), append(changed, x.Node)
			}
		}
		for begin := 0; begin <= len(changed); begin++ {
			var first *Violation
			of := 0
			if k, _ := slices.BinarySearch(broken, begin); k < len(broken) {
				of = broken[k] - begin
				first = walker.Broken(vectors[broken[k]*space.width:][:space.width], dme.None)
			}
			at, bad := together.FirstBroken(vectors[begin*space.width:], func(i int) dme.NodeID { return changed[begin+i] })
			if at != of || (bad == nil) != (first == nil) || bad != nil && bad.Verdict != first.Verdict {
				t.Fatalf("%s: from state %d of %d on, state %d breaks %v; want %d, %v", a.Name, begin, len(changed), at, bad, of, first)
			}
			if bad == nil {
				break
			}
			begin += max(0, at-3)
		}
		if len(found) == 0 {
			t.Errorf("%s: no invariant is broken on links that lose and duplicate", a.Name)
		}
		t.Logf("%s: %v; of %d states judged together, %v", a.Name, found, len(changed), broken)
	}
}
