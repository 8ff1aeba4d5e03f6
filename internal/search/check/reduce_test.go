package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms"
	"dmebench/algorithms/lamport"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
	"dmebench/internal/testkit"
	"dmebench/internal/testkit/toys"
)

// A search with reduction comes to the same verdict as one without: of every
// algorithm, of every literal text that is known to be wrong, and of the toys that
// break each property.
func TestReductionAndItsTwin(t *testing.T) {
	testkit.TakesLong(t)
	compared := map[string]bool{}
	same := func(t *testing.T, a *dme.Algorithm, o Options, effort vnet.Effort) {
		o.WithoutInvariants = true
		s, err := New(a, o)
		if err != nil {
			t.Fatal(err)
		}
		if s.WhyNotReduced() != "" {
			return
		}
		with := s.reduced(t.Context(), effort, s.States, 0)
		if effort.Total > 0 && with.found == nil && with.halt.Load() {
			return // it has given up
		}
		compared[a.Name] = true
		without := s.unreduced(t.Context(), s.States)
		if without.found == nil && without.halt.Load() {
			return // too many states for a comparison
		}
		if x, y := verdict(with), verdict(without); x != y {
			t.Errorf("%s %+v: with reduction %s, without %s", a.Name, o, x, y)
		}
		if x, y := with.count.Load(), without.count.Load(); x > y && without.found == nil {
			t.Errorf("%s %+v: %d states with reduction, %d without", a.Name, o, x, y)
		}
		if with.found != nil {
			if _, err := with.trace(t.Context()); err != nil {
				t.Errorf("%s %+v: %v", a.Name, o, err)
			}
		}
	}
	budgets, states := [][2]int{{2, 3}, {3, 2}}, uint64(5_000)
	if testkit.Full() {
		budgets, states = [][2]int{{2, 6}, {3, 4}, {3, 6}, {4, 3}, {4, 4}, {5, 3}}, 5_000_000
	}
	for _, a := range algorithms.All() {
		t.Run(a.Name, func(t *testing.T) {
			settings := []map[string]string{nil}
			if testkit.Full() {
				settings = conformance.Settings(a)
			}
			for _, set := range settings {
				opt, err := a.Resolve(set)
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range budgets {
					if a.CheckNodes(b[0], opt) != nil {
						continue
					}
					for _, unordered := range []bool{false, true} {
						o := Options{Nodes: b[0], Requests: b[1], Set: set, Unordered: unordered, States: states}
						same(t, a, o, vnet.Brief)
						if !unordered || testkit.Full() {
							same(t, a, o, vnet.Thorough(little/10))
						}
					}
				}
			}
		})
	}
	if len(compared) < 25 {
		t.Errorf("only %d algorithms have been searched with reduction", len(compared))
	}
}

// However early a search turns to a reduction, gives it up, and goes on where it was, it
// finds what one without finds.
func TestTurnsToReduction(t *testing.T) {
	before := turns
	defer func() { turns = before }()
	for _, early := range []uint64{1, 30, 400} {
		turns = turns[:0:0]
		for i := range uint64(3) {
			turns = append(turns, turn{early * (1 + i), vnet.Thorough(int(early * 20))})
		}
		turnedAway := 0
		for _, a := range algorithms.All() {
			for _, b := range [][2]int{{2, 3}, {3, 2}} {
				o := Options{Nodes: b[0], Requests: b[1], WithoutInvariants: true, States: 5_000}
				without, err := Exhaustive(t.Context(), a, o)
				if err != nil || without.Violation == nil && !without.Complete {
					continue // not for so few nodes, or more states than that
				}
				o.Reduce = true
				with, err := Exhaustive(t.Context(), a, o)
				switch {
				case err != nil:
					t.Errorf("%s %v: %v", a.Name, b, err)
				case propertyOf(with) != propertyOf(without) || with.Complete != without.Complete:
					t.Errorf("%s %v, from %d states: %q, complete %v; without %q, complete %v", a.Name, b, early,
						propertyOf(with), with.Complete, propertyOf(without), without.Complete)
				case !with.Reduced && with.Violation == nil && (with.States != without.States || with.Refused != without.Refused):
					t.Errorf("%s %v, from %d states: %d states, %d refusals; without turns %d, %d", a.Name, b, early,
						with.States, with.Refused, without.States, without.Refused)
				case !with.Reduced && with.States > early:
					turnedAway++
				}
			}
		}
		if turnedAway == 0 {
			t.Errorf("from %d states: no reduction has been given up", early)
		}
	}
}

func propertyOf(r Report) vnet.Property {
	if r.Violation == nil {
		return ""
	}
	return r.Violation.Property
}

// Where invariants are judged in as many states as may be visited, and there are more,
// all else is searched with reduction to the end.
func TestBeyondInvariants(t *testing.T) {
	o := Options{Nodes: 4, Requests: 4, States: 100_000, Reduce: true}
	r, err := Exhaustive(t.Context(), ricartagrawala.Algorithm(), o)
	if err != nil || !r.Complete || !r.Reduced || r.JudgedIn < o.States || r.States >= o.States {
		t.Errorf("%+v, %v", r, err)
	}
	x := NewResult(ricartagrawala.Algorithm(), o, true, r)
	var b strings.Builder
	if err := x.Print(&b); err != nil || !strings.Contains(b.String(), "but for invariants, of which that is not known") {
		t.Errorf("%v: %s", err, &b)
	}
	for name, o := range map[string]Options{
		"all states":    {Nodes: 3, Requests: 3, States: 20_000, Reduce: true},
		"no reduction":  {Nodes: 4, Requests: 4, States: 20_000},
		"saves nothing": {Nodes: 3, Requests: 9, States: 5_000, Reduce: true},
	} {
		r, err := Exhaustive(t.Context(), ricartagrawala.Algorithm(), o)
		if err != nil || r.Complete != (name == "all states") || r.JudgedIn > 0 || r.Reduced {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// verdict says which property is broken; where none is, whether all has been
// searched, and whether messages were refused.
func verdict(x *exhaustive) string {
	if x.found != nil {
		return string(x.found.Property)
	}
	return fmt.Sprintf("none is broken, complete %v, some refused %v", !x.halt.Load(), x.refused > 0)
}

// Each step that nodes take from a state is taken by the classes from a representative
// that covers the state, and what it leads to is covered again. Lamport's messages have
// either a timestamp or a rising clock, others have both.
func TestTimestampsCoverEveryState(t *testing.T) {
	budgets := [][2]int{{2, 2}, {2, 3}, {3, 2}}
	if testkit.Full() {
		budgets = append(budgets, [2]int{2, 6}, [2]int{3, 3})
	}
	telling := toys.Queuers("telling", 0, true)
	for _, a := range []*dme.Algorithm{lamport.Algorithm(), lamport.Optimized(), telling} {
		for _, b := range budgets {
			s, err := New(a, Options{Nodes: b[0], Requests: b[1], WithoutInvariants: true})
			if err != nil {
				t.Fatal(err)
			}
			space := vnet.NewSpace(s.model)
			walker, low, classes := space.NewWalker(), space.NewWalker(), space.NewClasses()
			first, h := space.Of(vnet.New(s.model))
			type pair struct {
				state, rep []uint32
				h          vnet.Hash
			}
			todo := []pair{{first, slices.Clone(classes.Of(first)), h}}
			seen, reps := map[vnet.Hash]bool{h: true}, map[string]bool{}
			for len(todo) > 0 {
				at := todo[len(todo)-1]
				todo = todo[:len(todo)-1]
				reps[string(textOf(at.rep))] = true
				steps, _ := walker.Enabled(at.state, nil)
				for _, x := range steps {
					if bad := walker.Do(at.state, at.h, x); bad != nil && a != telling {
						t.Fatal(bad)
					}
					var covering []uint32
					bad := classes.Step(low, at.rep, x, func(rep []uint32) {
						kept := slices.Clone(rep)
						if covering == nil && classes.Covers(kept, walker.Next) {
							covering = kept
						}
					})
					if bad != nil && a == telling {
						continue // a search ends here
					}
					if covering == nil {
						t.Fatalf("%s, %v: what %v leads to is not covered", a.Name, b, x)
					}
					if !seen[walker.Hash] {
						seen[walker.Hash] = true
						todo = append(todo, pair{slices.Clone(walker.Next), covering, walker.Hash})
					}
				}
			}
			if len(reps) >= len(seen) {
				t.Errorf("%s, %v: %d representatives of %d states", a.Name, b, len(reps), len(seen))
			}
		}
	}
}

func textOf(v []uint32) (b []byte) {
	for _, x := range v {
		b = append(b, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	}
	return b
}

// Of a handler that does more with its clocks than it says nothing is proven, and no
// property is said to hold in every state: it is found to be unsafe, or there is no
// verdict.
func TestNothingIsProvenOfABrokenContract(t *testing.T) {
	// The clock has not passed what the timestamp made of it in the same event is after.
	tie := func(clock uint64, known, request dme.Stamp) bool {
		return dme.Stamp{Clock: clock, Node: request.Node}.Precedes(known) && known.Precedes(request)
	}
	inNobody := func(uint64, dme.Stamp, dme.Stamp) bool { return false }
	for _, c := range []struct {
		name string
		rule func(clock uint64, known, request dme.Stamp) bool
	}{
		{"tie", tie},
		{"successor", func(clock uint64, known, _ dme.Stamp) bool { return known.Clock == clock+1 }},
		{"constant", func(clock uint64, _, _ dme.Stamp) bool { return clock == 3 }},
		{"modulus", func(clock uint64, _, _ dme.Stamp) bool { return clock%4 == 3 }},
		{"arithmetic", func(clock uint64, known, _ dme.Stamp) bool { return clock >= known.Clock+3 }},
	} {
		unsafe, err := Exhaustive(t.Context(), toys.Clerks(c.name, false, c.rule), Options{Nodes: 2, Requests: 10})
		if err != nil || unsafe.Violation == nil {
			t.Fatalf("%s: %+v, %v; want it to be unsafe", c.name, unsafe.Violation, err)
		}
		reduced, err := Exhaustive(t.Context(), toys.Clerks(c.name, false, c.rule), Options{Nodes: 2, Requests: 10, Reduce: true})
		givesNoVerdict(t, c.name+", exhaustive", reduced.Violation == nil && reduced.Complete, err)
		for _, n := range []int{2, 3} {
			s, err := New(toys.Clerks(c.name, false, c.rule), Options{Nodes: n, Unlimited: true, InFlight: 1})
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.Liveness(t.Context())
			givesNoVerdict(t, c.name+", liveness", r.Verdict == Holds, err)
		}
	}
	r := livenessOf(t, toys.Clerks("tie", true, tie), Options{Nodes: 2, InFlight: 1})
	if r.Verdict != Unsafe {
		t.Errorf("where the clock is shown as one that does more than rise: %+v, want what it does to be found", r)
	}
	for _, plain := range []bool{false, true} {
		r := livenessOf(t, toys.Clerks("right", plain, inNobody), Options{Nodes: 3, InFlight: 1})
		if r.Verdict != Holds {
			t.Errorf("%+v", r)
		}
	}
}

func givesNoVerdict(t *testing.T, what string, right bool, err error) {
	t.Helper()
	if err == nil {
		if right {
			t.Errorf("%s: nothing was found, and nothing refused", what)
		}
		return
	}
	for _, want := range []string{"Request of node 2", "node 2 is idle: clock=", "(clock, known, ", "if clocks are lower", "Visitor.Uint"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q is not in the error: %v", what, want, err)
		}
	}
}
