package raymond

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/testkit"
)

// The whole number of random schedules takes a minute.
func TestRobustConformance(t *testing.T) { conformance.Test(t, Robust()) }

// What a correct neighbour never sends is refused, and changes nothing.
func TestRobustRefusals(t *testing.T) {
	holding := func() *conformance.Net {
		net := conformance.Make(t, Robust(), 7, nil)
		net.Settle()
		net.Serve(2)
		return net
	}
	for from, series := range map[dme.NodeID]map[string][]dme.Message{
		1: {
			"PRIVILEGE to its holder": {{Kind: kindPrivilege}},
			"second INITIALIZE":       {{Kind: kindInitialize}},
			// The first has been answered.
			"third REQUEST": {{Kind: kindRequest}, {Kind: kindRequest}, {Kind: kindRequest}},
		},
		4: {"INITIALIZE from below": {{Kind: kindInitialize}}},
		7: {"stranger": {{Kind: kindRestart}}},
	} {
		conformance.TestRefusals(t, from, 2, holding, series)
	}
	begin := func() *conformance.Net { return conformance.Make(t, Robust(), 7, nil) }
	conformance.TestRefusals(t, 4, 2, begin, map[string][]dme.Message{
		"REQUEST before INITIALIZE":   {{Kind: kindRequest}},
		"PRIVILEGE before INITIALIZE": {{Kind: kindPrivilege}},
	})
	n := vnet.New(model(t, Robust(), "binary", vnet.Config{Nodes: 7, Faults: true}))
	n.Do(vnet.Step{Kind: vnet.Crash, Node: 2})
	n.Do(vnet.Step{Kind: vnet.Restart, Node: 2})
	if e := n.Inject(1, 2, &dme.Message{Kind: kindAdvise, Node: 1}); e.Refused != "" {
		t.Errorf("ADVISE: %s", e.Refused)
	}
	if e := n.Inject(4, 2, &dme.Message{Kind: kindAdvise, Node: 4}); e.Refused == "" {
		t.Error("two ADVISE that name two directions: not refused")
	}
}

// privileges counts the nodes that have the privilege, and those on the way, and
// reports whether all nodes are up and know their HOLDER.
func privileges(n *vnet.Network) (count int, settled bool) {
	settled = true
	for id := range n.IDs() {
		if n.Algorithm.HasToken(n.Node(id)) {
			count++
		}
		if n.Node(id).(*robust).holder == dme.None {
			settled = false // this is so of a node that is down, too
		}
	}
	for _, f := range n.InFlight() {
		if f.Kind == kindPrivilege {
			count++
		}
	}
	return count, settled
}

// onePrivilege says what is wrong with the number of privileges: there is never a
// second one, and none only while a node still has to find out where it is.
func onePrivilege(n *vnet.Network) error {
	if count, settled := privileges(n); count > 1 || settled && count != 1 {
		return fmt.Errorf("%d privileges", count)
	}
	return nil
}

// faultOf says what is wrong with a state of a network.
func faultOf(n *vnet.Network) error {
	if n.Violation != nil {
		return errors.New(n.Violation.Verdict)
	}
	if count, reason := n.Refused(); count > 0 {
		return fmt.Errorf("%d messages refused: %s", count, reason)
	}
	return onePrivilege(n)
}

// model returns a model of nodes that can come back.
func model(t *testing.T, a *dme.Algorithm, tree string, c vnet.Config) *vnet.Model {
	t.Helper()
	opt, err := a.Resolve(map[string]string{optTree: tree})
	if err != nil {
		t.Fatal(err)
	}
	c.Algorithm, c.Options, c.Restarts = a, opt, true
	m, err := vnet.NewModel(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// watch carries out a schedule to its end, and says what was wrong with it. Every
// state is looked at.
func watch(n *vnet.Network, next func() (vnet.Step, bool)) error {
	for x, ok := next(); ok; x, ok = next() {
		n.Take(x)
		if err := faultOf(n); err != nil {
			return fmt.Errorf("after %v: %w\n%s", x, err, strings.Join(n.States(), "\n"))
		}
		if n.Steps > 100_000 {
			return fmt.Errorf("no end after %d steps", n.Steps)
		}
	}
	if len(n.Waiting()) > 0 {
		return fmt.Errorf("nodes %v wait and nothing moves\n%s", n.Waiting(), strings.Join(n.States(), "\n"))
	}
	if sent := n.Counts(dme.None).SentOf; sent[kindAdvise] > sent[kindRestart] {
		return fmt.Errorf("%d ADVISE for %d RESTART", sent[kindAdvise], sent[kindRestart])
	}
	return nil
}

// Up to five nodes crash at any moment, those that are recovering too, and come
// back at any moment. Then everybody is served.
func TestRecoveryAtRandom(t *testing.T) {
	schedules := uint64(1200)
	switch {
	case testkit.Full():
		schedules = 10_000
	case testing.Short():
		schedules = 300
	}
	for _, nodes := range []int{1, 2, 3, 4, 7, 13} {
		for _, tree := range []string{"binary", "line", "star"} {
			crashed := 0
			for seed := range schedules {
				rng := rand.New(rand.NewPCG(seed, 912))
				n := vnet.New(model(t, Robust(), tree, vnet.Config{
					Nodes: nodes, Crashes: 1 + rng.IntN(5), Requests: func(dme.NodeID) int { return 1 + rng.IntN(4) },
				}))
				s := &vnet.Schedule{
					Network: n, Rand: rng, Load: vnet.Load(rng.IntN(int(vnet.Loads))), Choose: vnet.Chance{Rand: rng},
					Fault: 1 / float64(1+rng.IntN(8*nodes)),
				}
				s.Begin()
				err := watch(n, func() (x vnet.Step, ok bool) {
					if x, ok = s.Next(); x.Kind == vnet.Crash {
						crashed++
					}
					return x, ok
				})
				if err != nil {
					t.Fatalf("%d nodes, %s, seed %d: %v", nodes, tree, seed, err)
				}
			}
			if crashed < int(schedules)/2 {
				t.Errorf("%d nodes, %s: only %d crashes", nodes, tree, crashed)
			}
		}
	}
}

// Nodes 2 and 4 of the binary tree are an interior node and a leaf next to it.
// Both fail while the others pass the privilege on, at any moment, and come back
// at any moment.
func TestInteriorNodeAndLeafFail(t *testing.T) {
	together := 0
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 1989))
		n := vnet.New(model(t, Robust(), "binary", vnet.Config{
			Nodes: 7, Faults: true, Requests: func(dme.NodeID) int { return 5 },
		}))
		s := &vnet.Schedule{Network: n, Rand: rng, Load: vnet.Churn, Choose: vnet.Chance{Rand: rng}}
		s.Begin()
		due := []struct {
			node dme.NodeID
			at   int
		}{{2, 1 + rng.IntN(120)}, {4, 1 + rng.IntN(120)}}
		err := watch(n, func() (vnet.Step, bool) {
			for i, crash := range due {
				if n.Steps >= crash.at {
					due = slices.Delete(due, i, i+1)
					return vnet.Step{Kind: vnet.Crash, Node: crash.node}, true
				}
			}
			if n.Activity(2) == noderun.Down && n.Activity(4) == noderun.Down {
				together++
			}
			return s.Next()
		})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if len(due) > 0 {
			t.Fatalf("seed %d: over after %d steps", seed, n.Steps)
		}
	}
	if together == 0 {
		t.Error("the two are never down together")
	}
}

// A node that comes back while all others are up has to ask its neighbours, and
// nobody else: two messages for each.
func TestCostOfRecovery(t *testing.T) {
	n := vnet.New(model(t, Robust(), "binary", vnet.Config{Nodes: 7, Faults: true}))
	settle := func() {
		for x, ok := n.Oldest(); ok; x, ok = n.Oldest() {
			n.Take(x)
		}
	}
	settle()
	for id, neighbours := range map[dme.NodeID]uint64{1: 2, 2: 3, 7: 1} {
		before := n.Counts(dme.None).Sent
		n.Take(vnet.Step{Kind: vnet.Crash, Node: id})
		settle()
		n.Take(vnet.Step{Kind: vnet.Restart, Node: id})
		settle()
		if sent := n.Counts(dme.None).Sent - before; sent != 2*neighbours {
			t.Errorf("node %d: %d messages, want %d", id, sent, 2*neighbours)
		}
		if err := onePrivilege(n); err != nil {
			t.Errorf("node %d: %v", id, err)
		}
	}
}

// While nodes are down, those are served whose way to the privilege leads over
// live nodes: also over one that has come back meanwhile, and has a neighbour
// that is down.
func TestLiveNodesGoOn(t *testing.T) {
	n := vnet.New(model(t, Robust(), "line", vnet.Config{Nodes: 5, Faults: true}))
	do := func(kind vnet.StepKind, id dme.NodeID) {
		n.Take(vnet.Step{Kind: kind, Node: id})
		for x, ok := n.Oldest(); ok; x, ok = n.Oldest() {
			n.Take(x)
		}
	}
	do(vnet.Crash, 4)
	do(vnet.Crash, 3)
	do(vnet.Restart, 3)
	for _, id := range []dme.NodeID{3, 1, 2, 3} {
		do(vnet.Ask, id)
		if !slices.Equal(n.Inside(), []dme.NodeID{id}) {
			t.Fatalf("%v inside, want node %d\n%s", n.Inside(), id, strings.Join(n.States(), "\n"))
		}
		do(vnet.Exit, id)
	}
	do(vnet.Ask, 5)
	if !slices.Equal(n.Waiting(), []dme.NodeID{5}) {
		t.Fatalf("%v wait, want node 5, behind the one that is down", n.Waiting())
	}
	do(vnet.Restart, 4)
	if !slices.Equal(n.Inside(), []dme.NodeID{5}) || faultOf(n) != nil {
		t.Errorf("%v inside, want node 5; %v", n.Inside(), faultOf(n))
	}
}

// Every schedule of three nodes with three requests, of which up to two crash: the
// states are reached one by one, each by the steps that lead to it.
func TestRecoveryExhaustively(t *testing.T) {
	crashes := 1
	if testkit.Full() {
		crashes = 2
	}
	for _, tree := range []string{"line", "star"} {
		m := model(t, Robust(), tree, vnet.Config{Nodes: 3, Crashes: crashes, Requests: func(dme.NodeID) int { return 1 }})
		space := vnet.NewSpace(m)
		type place struct {
			back *place
			step vnet.Step
		}
		var at func(p *place) *vnet.Network
		at = func(p *place) *vnet.Network {
			if p == nil {
				return vnet.New(m)
			}
			n := at(p.back)
			n.Take(p.step)
			return n
		}
		seen := map[vnet.Hash]bool{}
		var ahead []*place
		visit := func(p *place) {
			n := at(p)
			if err := faultOf(n); err != nil {
				t.Fatalf("%s: %v\n%s", tree, err, strings.Join(n.States(), "\n"))
			}
			_, h := space.Of(n)
			if seen[h] {
				return
			}
			seen[h] = true
			steps := n.Enabled(nil)
			if len(steps) == 0 && len(n.Waiting()) > 0 {
				t.Fatalf("%s: nodes %v wait and nothing moves\n%s", tree, n.Waiting(), strings.Join(n.States(), "\n"))
			}
			for _, x := range steps {
				ahead = append(ahead, &place{p, x})
			}
		}
		visit(nil)
		for len(ahead) > 0 {
			p := ahead[len(ahead)-1]
			ahead = ahead[:len(ahead)-1]
			visit(p)
		}
		t.Logf("%s: %d states", tree, len(seen))
	}
}

// Who has asked waits for the neighbour in whose direction the privilege is.
func TestRobustWaits(t *testing.T) {
	net := conformance.Make(t, Robust(), 3, map[string]string{optTree: "line"})
	net.Settle() // INITIALIZE
	net.Request(3)
	waits := net.Algorithm.Waits(net.Host(3).Node())
	if want := []dme.Wait{{For: 2, What: "PRIVILEGE"}}; !slices.Equal(waits, want) {
		t.Errorf("%v, want %v", waits, want)
	}
}

// TestRecoveryMutantsAreCaught shows that each rule of the recovery is needed.
func TestRecoveryMutantsAreCaught(t *testing.T) {
	const (
		two = "2 privileges"

		// What invariants say, long before two nodes are inside or all wait.
		tokens  = "one token: there are 2 tokens"
		request = "one REQUEST: "
	)
	var mutants []conformance.Mutant
	mutant := func(name, from, to, caught string) {
		mutants = append(mutants, conformance.Mutant{Name: name, File: "robust.go", Old: from, New: to, Caught: caught})
	}
	mutant("a neighbour that is down is waited for",
		"func (n *robust) Down(dme.NodeID, *dme.Outbox) {}",
		"func (n *robust) Down(peer dme.NodeID, out *dme.Outbox) {\n"+
			"if i, found := slices.BinarySearch(n.near, peer); found && n.recovering { n.awaited.Remove(i); n.proceed(out) } }", two)
	mutant("a neighbour that comes back is asked again",
		"found && n.recovering && n.awaited.Has(i) {", "found && n.recovering && n.awaited.Has(i) && n.using {", conformance.Stalled)
	mutant("HOLDER is the neighbour that has the privilege on its side",
		"n.holder, n.asked = holder, asked", "n.asked = asked", tokens)
	mutant("ASKED is what stands in the neighbour's REQUEST_Q",
		"slices.Contains(m.Vec, uint64(n.self))", "false", request)
	mutant("a neighbour that has ASKED belongs in REQUEST_Q",
		"m.Flags&flagAsked != 0", "m.Flags&flagAsked > flagAsked", request)
	mutant("REQUEST is as good as ADVISE",
		"n.awaited.Remove(i)\n	n.requestQ.Push(from)", "n.requestQ.Push(from)", request)
	mutant("a node that recovers answers once HOLDER is known",
		"n.owed.Add(i)\n", "if !n.recovering { n.owed.Add(i) }\n", conformance.Stalled)
	mutant("a node gives way to a parent that is recovering alone",
		"|| !n.owed.Has(i)", "", request)
	mutant("of two that recover one gives way",
		"i, found := slices.BinarySearch(n.near, n.parent)\n		if !found || !n.awaited.Has(i) || !n.owed.Has(i) {\n			return\n		}",
		"i := 0\n		for !n.awaited.Has(i) { i++ }\n		if !n.owed.Has(i) {\n			return\n		}", two)
	mutant("somebody gives way", "if !found || ", "if true || !found || ", conformance.Stalled)
	mutant("RESTART from the parent serves as INITIALIZE",
		"n.holder == dme.None && !n.recovering && from == n.parent {", "false {", conformance.Stalled)
	conformance.TestMutants(t, "^TestRecovery(AtRandom|Exhaustively)$", mutants...)
}
