package check

import (
	"fmt"
	"strings"
	"testing"

	"dmebench/algorithms/centralized"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/testkit/toys"
)

// promising returns a with the claim that it is free of starvation.
func promising(a *dme.Algorithm) *dme.Algorithm {
	a.Claims = dme.SafeAndLive("nowhere")
	return a
}

// What starves is found without a word of advice, in a schedule that holds nothing back
// for long.
func TestStarvationIsFound(t *testing.T) {
	for _, make := range []func() *dme.Algorithm{toys.Favouritism, toys.ReadersFirst} {
		for _, n := range []int{3, 5} {
			a := promising(make())
			o := Defaults(a, n, nil)
			r, err := Random(t.Context(), a, o)
			if err != nil || r.Violation == nil || r.Violation.Property != Starvation {
				t.Fatalf("%s, N=%d: %v, %v in %d schedules", a.Name, n, err, r.Violation, r.Schedules)
			}
			if !strings.Contains(r.Violation.Verdict, "starves: ") || len(r.Trace.Events) == 0 {
				t.Errorf("%s, N=%d: %v", a.Name, n, r.Violation)
			}
			t.Logf("%s, N=%d: %v, in %d steps, schedule %d", a.Name, n, r.Violation, len(r.Trace.Events), r.Schedules)
			fair(t, r.Trace)

			// Nobody promises it: it is told, and breaks nothing.
			a = make()
			o.Schedules = 200
			r, err = Random(t.Context(), a, o)
			if err != nil || r.Violation != nil || r.Starved == 0 || !strings.Contains(r.Starving, "starves: ") {
				t.Errorf("%s, N=%d: %v, %+v", a.Name, n, err, r)
			}
			// Without an adversary nobody tries to.
			o.Adversary = Chance
			s, err := New(a, o)
			if err != nil || s.Watched() != "" {
				t.Errorf("%s: %q is watched, %v", a.Name, s.Watched(), err)
			}
			// Nor is anything said on links that are worse than it needs.
			o.Duplicate, o.Adversary = true, Mixed
			s, err = New(a, o)
			if err != nil || s.Watched() != "" {
				t.Errorf("%s: %q is watched, %v", a.Name, s.Watched(), err)
			}
		}
	}
}

// fair counts again, by the events of a trace alone, how many steps were taken before
// what was possible happened, and how often the node was passed over that is said to starve.
func fair(t *testing.T, trace *Trace) {
	t.Helper()
	victim := trace.Violation.Nodes[0]
	sent, inside := map[uint64]int{}, map[dme.NodeID]int{}
	delay, passed := 0, 0
	for i, e := range trace.Events {
		switch e.Kind {
		case vnet.Deliver:
			delay = max(delay, i-1-sent[e.Number])
			delete(sent, e.Number)
		case vnet.Exit:
			delay = max(delay, i-1-inside[e.Node])
			delete(inside, e.Node)
		case vnet.Ask, vnet.AskShared:
			if e.Node == victim {
				passed = 0
			}
		}
		for _, x := range e.Effects {
			switch x.Kind {
			case dme.EffectSend:
				sent[x.Number] = i
			case dme.EffectEnter:
				inside[e.Node] = i
				if passed++; e.Node == victim {
					passed = 0
				}
			}
		}
	}
	for _, at := range sent {
		delay = max(delay, len(trace.Events)-1-at)
	}
	for _, at := range inside {
		delay = max(delay, len(trace.Events)-1-at)
	}
	said := fmt.Sprintf("%d entries of others since it asked", passed)
	if passed <= tooMany(trace.Nodes, delay) || !strings.Contains(trace.Violation.Verdict, said) {
		t.Errorf("%v: %s, and a delay of %d", &trace.Violation, said, delay)
	}
}

// A node whose request is never delivered is overtaken without end, but that is the
// schedule's fault: what waits for ever counts as held back.
func TestUnfairSchedulesAccuseNobody(t *testing.T) {
	s, err := New(centralized.Algorithm(), Options{Nodes: 3, Requests: 3000, Watch: true})
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(s, plan{model: s.model, victim: 2, patience: leastPatience(3)}, nil)
	r.take(vnet.Step{Kind: vnet.Ask, Node: 2})
	for range 900 {
		r.take(vnet.Step{Kind: vnet.Ask, Node: 1})
		r.take(vnet.Step{Kind: vnet.Exit, Node: 1})
	}
	if r.Violation != nil || r.hunger.passed[2] != 900 || r.hunger.most() != 1800 {
		t.Errorf("%v, passed over %d times, %d steps held back", r.Violation, r.hunger.passed[2], r.hunger.most())
	}
}

// An exhaustive search that counts finds as much overtaking as there can be: one less is
// a bound that is broken, and random schedules show no more.
func TestGreatestOvertaking(t *testing.T) {
	for _, a := range []*dme.Algorithm{centralized.Algorithm(), ricartagrawala.Algorithm()} {
		o := Options{Nodes: 3, Requests: 5, Bypass: 1000}
		all, err := Exhaustive(t.Context(), a, o)
		if err != nil || !all.Complete {
			t.Fatalf("%v, %+v", err, all)
		}
		o.Bypass = all.MaxBypass
		if r, err := Exhaustive(t.Context(), a, o); err != nil || r.Violation != nil {
			t.Errorf("%s: bound %d: %v, %v", a.Name, o.Bypass, err, r.Violation)
		}
		o.Bypass--
		if r, err := Exhaustive(t.Context(), a, o); err != nil || r.Violation == nil {
			t.Errorf("%s: bound %d holds: %v", a.Name, o.Bypass, err)
		}
		o.Bypass = 0
		s, err := New(a, o)
		if err != nil {
			t.Fatal(err)
		}
		most, schedules := s.Overtaking(t.Context())
		if most < 2 || most > all.MaxBypass || schedules != sampled {
			t.Errorf("%s: %d in %d random schedules, %d in all", a.Name, most, schedules, all.MaxBypass)
		}
		again, _ := s.Overtaking(t.Context())
		if r, _ := s.Exhaustive(t.Context()); r.MaxBypass != 0 || again != most {
			t.Errorf("%s: uncounted, but %d; sampled %d and %d", a.Name, r.MaxBypass, most, again)
		}
	}
}
