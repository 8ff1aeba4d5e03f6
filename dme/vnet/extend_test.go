package vnet

import (
	"strings"
	"testing"

	"dmebench/algorithms/lamport"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/suzukikasami"
	"dmebench/dme"
)

// Of two nodes on links that keep order no message comes between another and its arrival,
// whatever is sent: what is forced remains so, and no search has to begin again.
func TestForcedArrivalsOfTwoNodesRemain(t *testing.T) {
	for _, a := range []*dme.Algorithm{ricartagrawala.Algorithm(), lamport.Algorithm()} {
		opt, err := a.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewModel(Config{
			Algorithm: a, Nodes: 2, Options: opt, Watch: WatchNothing, Recover: true, Requests: func(dme.NodeID) int { return 2 },
		})
		if err != nil {
			t.Fatal(err)
		}
		s := NewSpace(m)
		r, why := s.NewReduction()
		if why != "" {
			t.Fatal(why)
		}
		visit(s, r)
		if sent := len(r.pending); !r.Extend() || sent < 10 {
			t.Errorf("%s: %d messages were sent, and the search must begin again", a.Name, sent)
		}
	}
}

// An invariant that panics is named, and nothing else is.
func TestInvariantsThatPanic(t *testing.T) {
	fine := dme.Invariant{Name: "fine", Holds: func(dme.GlobalView) error { return nil }}
	for name, bad := range map[string]dme.Invariant{
		"whole": {Name: "whole", Holds: func(dme.GlobalView) error { panic("oh") }},
		"pair":  {Name: "pair", Pair: func(dme.GlobalView, dme.NodeID, dme.NodeID) error { panic("oh") }},
	} {
		a := suzukikasami.Algorithm()
		a.Invariants = []dme.Invariant{fine, bad}
		opt, err := a.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewModel(Config{Algorithm: a, Nodes: 2, Options: opt})
		if err != nil {
			t.Fatal(err)
		}
		n, s := New(m), NewSpace(m)
		v, _ := s.Of(n)
		for form, got := range map[string]*Violation{"network": n.Violation, "space": s.NewWalker().Broken(v)} {
			if got == nil || got.Property != Property(name) || !strings.Contains(got.Verdict, "panics: oh") {
				t.Errorf("%s, %s: %+v", form, name, got)
			}
		}
	}
}
