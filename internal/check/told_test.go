package check

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/centralized"
	"dmebench/algorithms/lamport"
	"dmebench/dme"
	"dmebench/dme/vnet"
)

func asksOf(ids ...dme.NodeID) (steps []vnet.Step) {
	for _, id := range ids {
		steps = append(steps, vnet.Step{Kind: vnet.Ask, Node: id})
	}
	return steps
}

// While it goes on a search tells how far it is: of the 19 states that two nodes have
// with two requests, all are met in the end and none is left.
func TestHowFarASearchIs(t *testing.T) {
	var told []Reached
	var states []uint64
	r, err := Exhaustive(t.Context(), centralized.Algorithm(), Options{
		Nodes: 2, Requests: 2, Workers: 1,
		Reach: func(x Reached) { told = append(told, x) }, Progress: func(n uint64) { states = append(states, n) },
	})
	if err != nil || len(told) != len(states) || len(told) != r.Depth+1 {
		t.Fatalf("%d reports and %d of states, of %d layers; %v", len(told), len(states), r.Depth+1, err)
	}
	for i, x := range told {
		if x.Layer != i || x.States != states[i] || x.Held <= 0 || i > 0 && x.States < told[i-1].States {
			t.Errorf("report %d: %+v, %d states", i, x, states[i])
		}
		// A layer is expanded at once: what it led to is left.
		if i > 0 && x.Open != x.States-told[i-1].States {
			t.Errorf("report %d: %d are left of %d, of which %d were met before", i, x.Open, x.States, told[i-1].States)
		}
	}
	if last := told[len(told)-1]; last.States != 19 || last.Open != 0 || r.States != 19 {
		t.Errorf("in the end: %+v", last)
	}
}

// Every search says how long it took.
func TestSearchesTakeTime(t *testing.T) {
	o := Options{Nodes: 2, Requests: 2, Schedules: 5}
	for _, bits := range []Bytes{0, 1 << 16} {
		o.Bitstate = bits
		if r, err := Exhaustive(t.Context(), centralized.Algorithm(), o); err != nil || r.Elapsed <= 0 {
			t.Errorf("%v, %v", r.Elapsed, err)
		}
	}
	if r := searchOf(t, lamport.Algorithm(), Options{Nodes: 2, Requests: 2, Schedules: 5}).Random(t.Context()); r.Elapsed <= 0 {
		t.Errorf("%v", r.Elapsed)
	}
	if r := livenessOf(t, noisy(), Options{Nodes: 2}); r.Elapsed <= 0 {
		t.Errorf("%v", r.Elapsed)
	}
}

// Where a seed makes no system the search says why, and takes no step.
func TestNoSystem(t *testing.T) {
	a := anarchy()
	prepare := a.Prepare
	a.Prepare = func(c dme.Config) (dme.System, error) {
		if c.Seed == 3 {
			return nil, errors.New("three is no seed")
		}
		return prepare(c)
	}
	s := searchOf(t, a, Options{Nodes: 1, Requests: 2, Schedules: 5, Seed: 1})
	r := s.Random(t.Context())
	if r.Violation == nil || r.Violation.Property != vnet.Sanity || r.Violation.Verdict != "no system: three is no seed" {
		t.Fatalf("%v", r.Violation)
	}
	if r.Schedules != 3 || r.Seed != 3 || r.Trace != nil {
		t.Errorf("schedule %d of seed %d, trace %v", r.Schedules, r.Seed, r.Trace)
	}
}

// A schedule that stalls says who stands still, and no other does.
func TestStandstillsAreTold(t *testing.T) {
	s := searchOf(t, silence(), Options{Nodes: 2, Requests: 1, Requesters: []dme.NodeID{2}})
	trace, _ := s.replay(s.model, asksOf(2), false)
	if trace.Violation.Property != Progress || trace.Standstill == nil || !slices.Equal(trace.Standstill.Waiting, []dme.NodeID{2}) {
		t.Errorf("%v, %+v", &trace.Violation, trace.Standstill)
	}
	s = searchOf(t, anarchy(), Options{Nodes: 2, Requests: 2})
	trace, _ = s.replay(s.model, asksOf(1, 2), false)
	if trace.Violation.Property != vnet.Exclusion || trace.Standstill != nil || trace.Bypass != 0 {
		t.Errorf("%v, %+v", &trace.Violation, trace.Standstill)
	}
}

// A schedule that starves a node passes the bound in its last step: without it as many
// entries have passed over the node as are no starvation.
func TestBoundsOfStarvation(t *testing.T) {
	a := promising(favouritism())
	r, err := Random(t.Context(), a, Defaults(a, 3, nil))
	if err != nil || r.Violation == nil || r.Violation.Property != Starvation {
		t.Fatalf("%v, %v", r.Violation, err)
	}
	passed := 0
	for _, e := range r.Trace.Events {
		switch {
		case asks(e.Step) && e.Node == r.Violation.Nodes[0]:
			passed = 0
		case e.Entered():
			passed++
		}
	}
	if r.Trace.Bypass != passed-1 {
		t.Errorf("%d entries pass a bound of %d", passed, r.Trace.Bypass)
	}
}

// A schedule that the nodes cannot follow is a fault of the search, at its step.
func TestSchedulesThatCannotBeFollowed(t *testing.T) {
	x := newExhaustive(searchOf(t, centralized.Algorithm(), Options{Nodes: 2, Requests: 2}), 1)
	n := vnet.New(x.model)
	v, h := x.space.Of(n)
	r := &retracing{exhaustive: x, walker: x.space.NewWalker(), network: n}
	r.follow(v, h, asksOf(2)[0])
	if r.err != nil || len(r.steps) != 1 {
		t.Fatal(r.err)
	}
	elsewhere := *r
	elsewhere.follow(v, h, asksOf(1)[0])
	if elsewhere.err == nil || !strings.Contains(elsewhere.err.Error(), "step 1, ask 2, leads the nodes into another state") {
		t.Errorf("%v", elsewhere.err)
	}
	v, h = x.space.Of(n)
	impossible := *r
	impossible.follow(v, h, vnet.Step{Kind: vnet.Leave, Node: 2})
	if impossible.err == nil || !strings.Contains(impossible.err.Error(), "step 2, leave 2,") {
		t.Errorf("%v", impossible.err)
	}
	impossible.follow(v, h, asksOf(1)[0])
	if len(impossible.steps) != 1 {
		t.Error("steps are taken after the fault")
	}
}

// What a reduced search finds is shown without the arrivals that were forced on the way.
func TestForcedArrivalsAreNotShown(t *testing.T) {
	a := scripted("anarchy that tells", script{request: func(s *script, out *dme.Outbox) {
		ping(s, out)
		enter(s, out)
	}})
	x := searchOf(t, a, Options{Nodes: 3, Requests: 3, Reduce: true}).reduced(t.Context())
	if x == nil || x.found == nil || x.byClass {
		t.Fatalf("%+v", x)
	}
	trace, err := x.trace()
	if err != nil || trace.Violation.Property != vnet.Exclusion || len(trace.Events) != 2 {
		t.Errorf("%v, %v, want two requests", trace.Lines(), err)
	}
}
