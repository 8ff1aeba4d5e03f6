package check

import (
	"fmt"
	"testing"
	"time"

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

// hasty: node 1 enters at once, and tells the others. Node 3 warns node 2, which sets a
// timer then. If that fires before node 2 has heard from node 1, it enters, too.
func hasty() *dme.Algorithm {
	const told, warning = 1, 2
	return scripted("hasty", script{
		request: func(s *script, out *dme.Outbox) {
			out.Broadcast(dme.Message{Kind: told})
			out.Enter(dme.Stamp{})
		},
		receive: func(s *script, _ dme.NodeID, m dme.Message, out *dme.Outbox) {
			switch {
			case m.Kind == warning:
				out.SetTimer(1, time.Second)
			case s.id == 3:
				out.Send(2, dme.Message{Kind: warning})
			default:
				s.x = 1
			}
		},
		timeout: func(s *script, _ dme.TimerID, out *dme.Outbox) {
			if s.x == 0 {
				out.Enter(dme.Stamp{})
			}
		},
	}, "TOLD", "WARNING")
}

// A message that sets a timer does not commute with one that what the timer does
// depends on.
func TestReductionLooksAtTimers(t *testing.T) {
	s, err := New(hasty(), Options{Nodes: 3, Requests: 1, Requesters: []dme.NodeID{1}, Reduce: true})
	if err != nil {
		t.Fatal(err)
	}
	if x := s.reduced(t.Context()); x == nil || x.found == nil {
		t.Error("the timer that fires too early is not found")
	}
}
