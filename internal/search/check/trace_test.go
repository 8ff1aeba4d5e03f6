package check

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/centralized"
	"dmebench/algorithms/lamport"
	"dmebench/algorithms/suzukikasami"
	"dmebench/algorithms/tokenring"
	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/record/spacetime"
)

func played(t *testing.T, a *dme.Algorithm, o Options, steps ...vnet.Step) *Trace {
	t.Helper()
	s, err := New(a, o)
	if err != nil {
		t.Fatal(err)
	}
	trace, taken := s.replay(s.model, steps, false)
	if len(taken) != len(steps) {
		t.Fatalf("%d of %d steps were possible: %v", len(taken), len(steps), taken)
	}
	return trace
}

func TestLines(t *testing.T) {
	for name, c := range map[string]struct {
		trace *Trace
		want  string
	}{
		"a broken broadcast": {
			played(t, lamport.Algorithm(), Options{Nodes: 3, Requests: 3, Unordered: true},
				vnet.Step{Kind: vnet.Ask, Node: 2}, vnet.Step{Kind: vnet.Ask, Node: 1},
				vnet.Step{Kind: vnet.Deliver, From: 2, Node: 3}, vnet.Step{Kind: vnet.Deliver, From: 2, Node: 1},
				vnet.Step{Kind: vnet.Deliver, From: 3, Node: 2},
				vnet.Step{Kind: vnet.Deliver, From: 1, Node: 2, Index: 1}),
			`  1. node 2 asks: REQUEST 2→1 2→3 clock=1
  2. node 1 asks: REQUEST 1→2 1→3 clock=1
  3. REQUEST 2→3 clock=1 arrives: REPLY 3→2 clock=2
  4. REQUEST 2→1 clock=1 arrives: REPLY 1→2 clock=2
  5. REPLY 3→2 clock=2 arrives
  6. REPLY 1→2 clock=2 arrives: node 2 enters`,
		},
		"loss and duplication": {
			played(t, suzukikasami.Algorithm(), Options{Nodes: 3, Requests: 3, Lose: 1, Duplicate: true},
				vnet.Step{Kind: vnet.Ask, Node: 2}, vnet.Step{Kind: vnet.Lose, From: 2, Node: 3}, vnet.Step{Kind: vnet.Copy, From: 2, Node: 1},
				vnet.Step{Kind: vnet.Copy, From: 1, Node: 2}, vnet.Step{Kind: vnet.Exit, Node: 2}, vnet.Step{Kind: vnet.Deliver, From: 1, Node: 2}),
			`  1. node 2 asks: REQUEST 2→1 2→3 clock=1
  2. REQUEST 2→3 clock=1 is lost
  3. REQUEST 2→1 clock=1 arrives, and will again: TOKEN 1→2 vec=[0 0 0]
  4. TOKEN 1→2 vec=[0 0 0] arrives, and will again: node 2 enters
  5. node 2 leaves
  6. TOKEN 1→2 vec=[0 0 0] arrives: refused, TOKEN without a request`,
		},
		"start and stop": {
			played(t, tokenring.Algorithm(), Options{Nodes: 2, Requests: 1},
				vnet.Step{Kind: vnet.Deliver, From: 1, Node: 2}, vnet.Step{Kind: vnet.Ask, Node: 1}, vnet.Step{Kind: vnet.Deliver, From: 2, Node: 1},
				vnet.Step{Kind: vnet.Exit, Node: 1}, vnet.Step{Kind: vnet.Stop, Node: 2}),
			`  0. node 1 starts: TOKEN 1→2
  1. TOKEN 1→2 arrives: TOKEN 2→1
  2. node 1 asks
  3. TOKEN 2→1 arrives: node 1 enters
  4. node 1 leaves: TOKEN 1→2
  5. node 2 is told that no more requests will come`,
		},
		"timers": {
			played(t, implicit(2), Options{Nodes: 2, Requests: 2},
				vnet.Step{Kind: vnet.Ask, Node: 1}, vnet.Step{Kind: vnet.Deliver, From: 1, Node: 2}, vnet.Step{Kind: vnet.Fire, Node: 1}),
			`  1. node 1 asks: REQUEST 1→2 clock=1, timer 0 set to 20ms
  2. REQUEST 1→2 clock=1 arrives
  3. timer 0 of node 1 fires: node 1 enters`,
		},
		"readers": {
			played(t, library(), Options{Nodes: 2, Requests: 2}, vnet.Step{Kind: vnet.AskShared, Node: 1}, vnet.Step{Kind: vnet.Ask, Node: 2}),
			`  1. node 1 asks, as a reader: node 1 enters
  2. node 2 asks: node 2 enters`,
		},
	} {
		if got := strings.Join(c.trace.Lines(), "\n"); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, c.want)
		}
	}
}

// The picture has an arrow for every arrival, at the row of its line, and shows
// who is where he should not be.
func TestDiagram(t *testing.T) {
	r, err := Exhaustive(t.Context(), lamport.Algorithm(), Options{Nodes: 2, Requests: 2, Unordered: true, Workers: 1})
	if err != nil || r.Trace == nil {
		t.Fatal(r.Violation, err)
	}
	d := r.Trace.Diagram()
	if len(d.Lanes) != 2 || d.Last != len(r.Trace.Events) || !slices.Equal(d.Bad, []int{d.Last}) || d.Caption[0] != r.Violation.Verdict {
		t.Errorf("%+v", d)
	}
	arrivals := map[int]bool{}
	for _, m := range d.Messages {
		if m.Fate == spacetime.Arrives {
			arrivals[m.End] = true
			if m.Sent >= m.End || m.From == m.To {
				t.Errorf("%+v", m)
			}
		}
	}
	for i, e := range r.Trace.Events {
		if arrivals[i+1] != (e.Kind == vnet.Deliver) {
			t.Errorf("row %d is %v", i+1, e.Step)
		}
	}
	if len(d.Sections) != 2 || !d.Sections[0].Bad || !d.Sections[1].Bad || d.Sections[0].Leave != 0 {
		t.Errorf("sections %+v", d.Sections)
	}
	if len(d.SVG()) == 0 {
		t.Error("no picture")
	}
	explained(t, r.Trace, d)
	stall, err := Exhaustive(t.Context(), silence(), Options{Nodes: 3, Requests: 1})
	if err != nil || !slices.Equal(stall.Trace.Diagram().Ends, []string{"waits", "", ""}) {
		t.Errorf("%+v, %v", stall.Trace.Diagram(), err)
	}
}

// explained fails the test where the picture does not say what the steps have
// changed at their nodes, and what these hold at the end.
func explained(t *testing.T, trace *Trace, d *spacetime.Diagram) {
	t.Helper()
	for i, e := range trace.Events {
		if e.Kind != vnet.Ask { // of which each changes the node's own queue
			continue
		}
		if !slices.ContainsFunc(d.Notes, func(n spacetime.Note) bool {
			return n.Row == i+1 && n.Lane == int(e.Node)-1 && strings.Contains(n.Text, "request_queue=[(")
		}) {
			t.Errorf("row %d, %v, does not say what it changes: %+v", i+1, e.Step, d.Notes)
		}
	}
	for lane, state := range d.States {
		for _, line := range state {
			if !strings.Contains(trace.States[lane], line) {
				t.Errorf("node %d has %q at the end, not %q", lane+1, trace.States[lane], line)
			}
		}
		if !slices.ContainsFunc(state, func(line string) bool { return strings.HasPrefix(line, "request_queue=") }) {
			t.Errorf("node %d: no queue among %q", lane+1, state)
		}
	}
	if len(d.States) != trace.Nodes {
		t.Errorf("states of %d nodes", len(d.States))
	}
}

// Of a long schedule the end is drawn.
func TestLongDiagram(t *testing.T) {
	var steps []vnet.Step
	o := Options{Nodes: 2, Requests: 1, Patience: 1 << 20}
	for i := range 3 * maxRows {
		to := dme.NodeID(2 - i%2)
		steps = append(steps, vnet.Step{Kind: vnet.Deliver, From: 3 - to, Node: to})
	}
	d := played(t, tokenring.Algorithm(), o, steps...).Diagram()
	if d.First != 2*maxRows+1 || d.Last != 3*maxRows {
		t.Errorf("rows %d to %d", d.First, d.Last)
	}
}

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
	impossible.follow(v, h, vnet.Step{Kind: vnet.Exit, Node: 2})
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
