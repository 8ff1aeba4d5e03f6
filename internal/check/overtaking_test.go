package check

import (
	"fmt"
	"strings"
	"testing"

	"dmebench/algorithms/centralized"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
)

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

// The bounds of TR-869's appendix are reached exactly, with and without order, and a
// bound that is one less is broken by as much.
func TestOvertakingIsCountedExactly(t *testing.T) {
	for _, c := range []struct {
		o    Options
		most int
	}{
		{Options{Nodes: 2, Requests: 6, Unordered: true}, 2},
		{Options{Nodes: 2, Requests: 6}, 2},
		{Options{Nodes: 3, Requests: 7, Unordered: true}, 5},
		{Options{Nodes: 3, Requests: 6}, 4},
	} {
		c.o.Bypass = c.most
		r, err := Exhaustive(t.Context(), ricartagrawala.Algorithm(), c.o)
		if err != nil || r.Violation != nil || !r.Complete || r.MaxBypass != c.most {
			t.Errorf("%d nodes, unordered %v: %v, %v, overtaken by %d, want %d",
				c.o.Nodes, c.o.Unordered, err, r.Violation, r.MaxBypass, c.most)
		}
		c.o.Bypass--
		r, err = Exhaustive(t.Context(), ricartagrawala.Algorithm(), c.o)
		want := fmt.Sprintf("%d entries of others since it asked, more than %d", c.most, c.most-1)
		if err != nil || r.Violation == nil || !strings.Contains(r.Violation.Verdict, want) {
			t.Errorf("%d nodes, unordered %v: %v, %v, want %q", c.o.Nodes, c.o.Unordered, err, r.Violation, want)
		}
	}
}
