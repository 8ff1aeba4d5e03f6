package check

import (
	"context"
	"slices"
	"testing"
	"time"

	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
	"dmebench/dme/vnet"
)

// The first reason by the alphabet is told, whichever came first, and none where there is
// none.
func TestTheFirstReason(t *testing.T) {
	for _, x := range []struct{ a, b, want string }{
		{"", "", ""}, {"a", "", "a"}, {"", "b", "b"}, {"a", "b", "a"}, {"b", "a", "a"}, {"a", "a", "a"},
	} {
		if got := firstReason(x.a, x.b); got != x.want {
			t.Errorf("of %q and %q: %q", x.a, x.b, got)
		}
	}
}

// A report is an error where something is broken, not seen or refused, in this order.
func TestReportsAsErrors(t *testing.T) {
	bad := &vnet.Violation{Property: Progress, Verdict: "stalled"}
	for _, x := range []struct {
		r    Report
		want string
	}{
		{Report{Complete: true}, ""}, {Report{Complete: true, Refused: 1, Refusal: "why"}, "1 messages refused: why"},
		{Report{Stopped: "out of time", Refused: 2}, "out of time"},
		{Report{Violation: bad, Seed: 7, Stopped: "out of time"}, "seed 7: stalled"},
	} {
		err := x.r.Err()
		if (err == nil) != (x.want == "") || err != nil && err.Error() != x.want {
			t.Errorf("%+v: %v, want %q", x.r, err, x.want)
		}
	}
}

// Parts add up, whatever is in them; what is told is the first of each.
func TestPartsAddUp(t *testing.T) {
	var sum Part
	for _, p := range []Part{
		{First: 0, Done: 2, Steps: 10, Entries: 3, MaxBypass: 4, Refused: 1, Refusal: "b"},
		{First: 2, Done: 1, Steps: 5, Entries: 2, MaxBypass: 2, Starved: 2, Starving: "one"},
		{First: 3, Done: 4, Steps: 1, Entries: 1, MaxBypass: 5, Refused: 2, Refusal: "a", Starved: 1, Starving: "another", Broken: true},
	} {
		sum.add(p)
	}
	want := Part{Done: 7, Steps: 16, Entries: 6, MaxBypass: 5, Refused: 3, Refusal: "a", Starved: 3, Starving: "one", Broken: true}
	if sum != want {
		t.Errorf("%+v, want %+v", sum, want)
	}
}

// A part is of no more schedules than are left.
func TestPartsOfWhatIsLeft(t *testing.T) {
	s := searchOf(t, ricartagrawala.Algorithm(), Options{Nodes: 2, Requests: 2, Schedules: 10})
	for second, taken := range map[int]bool{6: true, 7: false} {
		r, err := s.Join(t.Context(), func(_ context.Context, first int) (Part, error) {
			return Part{First: first, Done: map[int]int{0: 4, 4: second}[first]}, nil
		})
		if (err == nil) != taken || taken && (!r.Complete || r.Schedules != 10) {
			t.Errorf("4 and %d schedules of 10: %d, %v", second, r.Schedules, err)
		}
	}
}

// After the last request a network runs on by a fixed rule: exits, messages from the
// oldest on, and timers where there are no messages, or when it is their turn.
func TestThePlainEnd(t *testing.T) {
	a := scripted("with a timer", script{
		request: func(s *script, out *dme.Outbox) {
			out.SetTimer(1, time.Second)
			out.SetTimer(2, time.Second)
			out.Send(3-s.id, dme.Message{Kind: 1})
			enter(s, out)
		},
		receive: func(s *script, from dme.NodeID, _ dme.Message, out *dme.Outbox) {
			if s.x++; s.id == 2 || s.x > 1 && s.x < 100 {
				out.Send(from, dme.Message{Kind: 1})
			}
		},
		timeout: func(*script, dme.TimerID, *dme.Outbox) {},
	})
	s := searchOf(t, a, Options{Nodes: 2, Requests: 1, Requesters: []dme.NodeID{1}})
	r := newRun(s, plan{model: s.model}, nil)
	r.take(vnet.Step{Kind: vnet.Ask, Node: 1})
	var kinds []vnet.StepKind
	for r.Violation == nil && len(kinds) < 20 {
		x, ok := r.plainStep()
		if !ok {
			break
		}
		kinds = append(kinds, x.Kind)
		r.take(x)
	}
	if want := []vnet.StepKind{vnet.Exit, vnet.Deliver, vnet.Deliver, vnet.Fire, vnet.Fire}; !slices.Equal(kinds, want) {
		t.Errorf("steps of kinds %v, want %v", kinds, want)
	}
}

// A schedule that comes to its end repeats nothing.
func TestAnEndIsNoCycle(t *testing.T) {
	s := searchOf(t, ricartagrawala.Algorithm(), Options{Nodes: 3, Requests: 3})
	for _, steps := range [][]vnet.Step{nil, {{Kind: vnet.Ask, Node: 1}, {Kind: vnet.Ask, Node: 3}}} {
		trace, taken := s.replay(s.model, steps, true)
		if trace.Repeats != 0 || trace.Violation.Property != "" || len(taken) != len(trace.Events) {
			t.Errorf("after %v: %d steps, of which %d repeat; %v", steps, len(taken), trace.Repeats, &trace.Violation)
		}
	}
}

// What a schedule is shortened with: its requests, what remains of it, and the shorter.
func TestPartsOfSchedules(t *testing.T) {
	ask, read := vnet.Step{Kind: vnet.Ask, Node: 1}, vnet.Step{Kind: vnet.AskShared, Node: 2}
	leave := vnet.Step{Kind: vnet.Exit, Node: 1}
	all := []vnet.Step{ask, leave, read, ask}
	if asked(all) != 3 || asked(nil) != 0 {
		t.Errorf("%d requests", asked(all))
	}
	if got := without(all, func(x vnet.Step) bool { return x.Node == 1 }); !slices.Equal(got, []vnet.Step{read}) {
		t.Errorf("without node 1: %v", got)
	}
	for _, x := range []struct{ a, b, want []vnet.Step }{
		{all, all[:2], all[:2]}, {all[:2], all, all[:2]}, {all[:1], all[1:2], all[:1]}, {nil, all, nil},
	} {
		if got := shorter(x.a, x.b); !slices.Equal(got, x.want) {
			t.Errorf("of %v and %v: %v", x.a, x.b, got)
		}
	}
}

// twice: node 2 is let in by node 1 as that leaves, and node 1 lets itself in at once: it
// takes two requests of node 1 to see them together.
func twice() *dme.Algorithm {
	return scripted("twice", script{
		request: func(s *script, out *dme.Outbox) {
			if s.x = 1; s.id == 1 || s.y > 0 {
				enter(s, out)
			}
		},
		release: func(s *script, out *dme.Outbox) {
			if s.x = 0; s.id == 1 {
				ping(s, out)
			}
		},
		receive: func(s *script, _ dme.NodeID, _ dme.Message, out *dme.Outbox) {
			if s.y = 1; s.x == 1 {
				enter(s, out)
			}
		},
	})
}

// A schedule that was drawn with more requests than the search has is shortened with
// those that it was drawn with.
func TestSchedulesKeepTheirRequests(t *testing.T) {
	s := searchOf(t, twice(), Options{Nodes: 2, Requests: 1})
	m := *s.model
	m.Requests = func(dme.NodeID) int { return 2 }
	node := func(kind vnet.StepKind, id dme.NodeID) vnet.Step { return vnet.Step{Kind: kind, Node: id} }
	steps := []vnet.Step{
		node(vnet.Ask, 1), node(vnet.Ask, 2), node(vnet.Exit, 1), {Kind: vnet.Deliver, From: 1, Node: 2}, node(vnet.Ask, 1),
	}
	trace := s.shrink(plan{model: &m}, steps, vnet.Exclusion)
	if trace.Violation.Property != vnet.Exclusion || len(trace.Events) != 5 {
		t.Errorf("%v in %d steps, want 5", &trace.Violation, len(trace.Events))
	}
}

// A search that is ended says by whom, and what it has seen until then.
func TestWhoEndsASearch(t *testing.T) {
	s := searchOf(t, ricartagrawala.Algorithm(), Options{Nodes: 3, Requests: 3, Schedules: 50, Workers: 1})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := s.Random(ctx); r.Complete || r.Stopped != "interrupted" || r.Schedules != 0 || r.Seed != s.Seed {
		t.Errorf("%+v", r)
	}
	ctx, cancel = context.WithCancel(t.Context())
	var seen []uint64
	s = searchOf(t, ricartagrawala.Algorithm(), Options{Nodes: 3, Requests: 3, Schedules: 200, Workers: 1, Progress: func(done uint64) {
		seen = append(seen, done)
		if done == 128 {
			cancel()
		}
	}})
	r := s.Random(ctx)
	if want := s.Part(t.Context(), 0, 128); r.Schedules != 128 || r.Steps != want.Steps || r.Entries != 128*3 || r.Stopped != "interrupted" {
		t.Errorf("%+v, want the steps of %+v", r, want)
	}
	if !slices.Equal(seen, []uint64{64, 128}) {
		t.Errorf("progress is told at %v", seen)
	}
	whole := searchOf(t, ricartagrawala.Algorithm(), Options{Nodes: 3, Requests: 3, Schedules: 10})
	if r := whole.Random(t.Context()); !r.Complete || r.Stopped != "" || r.Schedules != 10 || r.Workers != whole.Workers {
		t.Errorf("%+v", r)
	}
}

// Verdicts name who waits, and say for how long.
func TestVerdictsOfWaiting(t *testing.T) {
	for _, x := range []struct {
		v        *vnet.Violation
		property vnet.Property
		says     string
	}{
		{stalled([]dme.NodeID{2}), Progress, "stalled: node 2 waits, nobody is in the critical section, and no message is on the way"},
		{tooLong([]dme.NodeID{1, 3}, 40), Liveness, "no entry in 40 steps, though nodes 1, 3 wait"},
		{tooLong(nil, 40), Rest, "no rest: 40 steps after the last exit messages still flow, though nobody will ask again"},
		{repeats([]dme.NodeID{2}, 6), Liveness, "no entry: the last 6 steps repeat for ever, though node 2 waits"},
		{repeats(nil, 6), Rest, "no rest: the last 6 steps repeat for ever, though nobody will ask again"},
	} {
		if x.v.Property != x.property || x.v.Verdict != x.says || (x.v.Nodes == nil) != (x.property == Rest) {
			t.Errorf("%s: %q, want %s: %q", x.v.Property, x.v.Verdict, x.property, x.says)
		}
	}
}

// The shortest schedule of the same requests is found.
func TestShortestOfTheRequests(t *testing.T) {
	s := searchOf(t, anarchy(), Options{Nodes: 3, Requests: 9})
	ask, leave := vnet.Step{Kind: vnet.Ask, Node: 1}, vnet.Step{Kind: vnet.Exit, Node: 1}
	long := []vnet.Step{ask, leave, ask, leave, ask, {Kind: vnet.Ask, Node: 2}}
	r := &shrinker{Search: s, plan: plan{model: s.model}, property: vnet.Exclusion, left: shrinkingSteps}
	if _, ok := r.fails(long, false); !ok {
		t.Fatalf("%v break nothing", long)
	}
	if short := r.shortest(long); len(short) != 2 || !asks(short[0]) || !asks(short[1]) || short[0].Node == short[1].Node {
		t.Errorf("the shortest is %v, want requests of nodes 1 and 2", short)
	}
}
