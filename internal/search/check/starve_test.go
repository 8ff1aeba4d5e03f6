package check

import (
	"fmt"
	"strings"
	"testing"

	"dmebench/algorithms/centralized"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
	"dmebench/dme/vnet"
)

// fair counts again, by the events of a trace alone, how many steps were taken before
// what was possible happened, and how often the node was passed over that is said to starve.
func fair(t *testing.T, trace *Trace) {
	t.Helper()
	victim := trace.Violation.Nodes[0]
	sent, inside := map[uint64]int{}, map[dme.NodeID]int{}
	delay, passed := 0, 0
	for i, e := range trace.Events {
		switch e.Kind {
		case dme.Receive:
			delay = max(delay, i-1-sent[e.Number])
			delete(sent, e.Number)
		case dme.Exit:
			delay = max(delay, i-1-inside[e.Node])
			delete(inside, e.Node)
		case dme.Request, dme.RequestShared:
			if e.Node == victim {
				passed = 0
			}
		}
		for _, x := range e.Effects {
			switch x.Kind {
			case dme.Send:
				sent[x.Number] = i
			case dme.Enter:
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
	r.take(vnet.Step{Kind: dme.Request, Node: 2})
	for range 900 {
		r.take(vnet.Step{Kind: dme.Request, Node: 1})
		r.take(vnet.Step{Kind: dme.Exit, Node: 1})
	}
	if r.Violation != nil || r.starvation.passed[2] != 900 || r.starvation.most() != 1800 {
		t.Errorf("%v, passed over %d times, %d steps held back", r.Violation, r.starvation.passed[2], r.starvation.most())
	}
}

// Random schedules show no more overtaking than there can be, and the same each time.
func TestOvertaking(t *testing.T) {
	for _, a := range []*dme.Algorithm{centralized.Algorithm(), ricartagrawala.Algorithm()} {
		o := Options{Nodes: 3, Requests: 5, Bypass: 1000}
		all, err := Exhaustive(t.Context(), a, o)
		if err != nil || !all.Complete {
			t.Fatalf("%v, %+v", err, all)
		}
		o.Bypass = 0
		s, err := New(a, o)
		if err != nil {
			t.Fatal(err)
		}
		most, schedules := s.Overtaking(t.Context())
		again, _ := s.Overtaking(t.Context())
		if most < 2 || most > all.MaxBypass || schedules != sampled || again != most {
			t.Errorf("%s: %d and %d in %d random schedules, %d in all", a.Name, most, again, schedules, all.MaxBypass)
		}
	}
}
