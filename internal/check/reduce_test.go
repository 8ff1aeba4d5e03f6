package check

import (
	"fmt"
	"testing"

	"dmebench/algorithms/catalog"
	"dmebench/dme"
	"dmebench/dme/conformance"
)

// A search with reduction comes to the same verdict as one without: of every
// algorithm, of every literal text that is known to be wrong, and of the toys that
// break each property.
func TestReductionAndItsTwin(t *testing.T) {
	compared := map[string]bool{}
	same := func(t *testing.T, a *dme.Algorithm, o Options) {
		o.WithoutInvariants = true
		s, err := New(a, o)
		if err != nil {
			t.Fatal(err)
		}
		with := s.reduced(t.Context())
		if with == nil {
			if s.WhyNotReduced() == "" {
				t.Errorf("%s %+v: is not reduced, and nobody knows why", a.Name, o)
			}
			return
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
			if _, err := with.trace(); err != nil {
				t.Errorf("%s %+v: %v", a.Name, o, err)
			}
		}
	}
	budgets, states := [][2]int{{2, 3}, {3, 2}}, uint64(5_000)
	if *full {
		budgets, states = [][2]int{{2, 6}, {3, 4}, {3, 6}, {4, 3}, {4, 4}, {5, 3}}, 5_000_000
	}
	for _, a := range catalog.All() {
		t.Run(a.Name, func(t *testing.T) {
			settings := []map[string]string{nil}
			if *full {
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
						same(t, a, Options{Nodes: b[0], Requests: b[1], Set: set, Unordered: unordered, States: states})
					}
				}
			}
		})
	}
	for _, a := range []*dme.Algorithm{
		anarchy(), silence(), uninvited(), explosive(), favouritism(), library(), nonAtomic(), earlyBird(),
		chatter(), restlessToy(), implicit(1), metronome(), phoenix(), queuers("queuers", 0),
	} {
		t.Run(a.Name, func(t *testing.T) {
			for n := 2; n <= 3; n++ {
				requests := n
				if a.Name == "uninvited" {
					requests = 1 // with more it breaks two properties
				}
				same(t, a, Options{Nodes: n, Requests: requests, States: states})
			}
		})
	}
	if len(compared) < 25 {
		t.Errorf("only %d algorithms have been searched with reduction", len(compared))
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
