package check

import (
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
