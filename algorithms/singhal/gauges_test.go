package singhal

import (
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// Silent moments count where the request sets are no staircase, or not one of the site
// that executed last.
func TestMomentsWithoutAStaircase(t *testing.T) {
	s := conformance.Make(t, Algorithm(), 3, nil).Setting
	m := newStairs(s)
	wants := func(moments float64, any bool) {
		t.Helper()
		if got, ok := m.Value(); got != moments || ok != any {
			t.Errorf("%v moments, %v; want %v, %v", got, ok, moments, any)
		}
	}
	wants(0, false)
	serve := func(id dme.NodeID) {
		for _, what := range []dme.Occasion{dme.HasAsked, dme.HasEntered, dme.HasLeft} {
			m.Note(dme.Moment{What: what, ID: id, Node: s.System.Node(id)})
		}
	}
	serve(3)
	wants(1, true) // site 1 is at the right end
	serve(1)
	wants(1, true)
}
