package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/centralized"
	"dmebench/algorithms/lamport"
	"dmebench/algorithms/maekawa"
	"dmebench/algorithms/raymond"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/suzukikasami"
	"dmebench/algorithms/tokenring"
	"dmebench/dme"
	"dmebench/internal/noderun"
)

// twin counts the states of a search the dumb way: every state is its text,
// and is reached by running its whole schedule again. It returns the steps
// taken too, and the first violation, by breadth.
func twin(t *testing.T, a *dme.Algorithm, o Options) (states, steps uint64, depth int, violation *Violation) {
	search, err := New(a, o)
	if err != nil {
		t.Fatal(err)
	}
	run := func(path []Step) *system {
		s := newSystem(search.model)
		for _, x := range path {
			s.do(x)
		}
		return s
	}
	seen := map[string]bool{text(run(nil)): true}
	for layer := [][]Step{nil}; len(layer) > 0; {
		var next [][]Step
		for _, path := range layer {
			s := run(path)
			if s.stalled() {
				return 0, 0, 0, stalled(s.whoWaits())
			}
			possible := s.faults(s.requests(s.moves(nil)))
			for _, x := range distinct(s, possible) {
				steps++
				after := run(append(slices.Clone(path), x))
				if after.violation != nil {
					return 0, 0, 0, after.violation
				}
				if key := text(after); !seen[key] {
					seen[key] = true
					next = append(next, append(slices.Clone(path), x))
				}
			}
		}
		layer = next
		if len(layer) > 0 {
			depth++
		}
	}
	return uint64(len(seen)), steps, depth, nil
}

// distinct leaves out steps that do the same to an equal message of the same link.
func distinct(s *system, steps []Step) []Step {
	seen := map[string]bool{}
	return slices.DeleteFunc(steps, func(x Step) bool {
		key := stamp(s, x)
		if key == "" || !seen[key] {
			seen[key] = true
			return false
		}
		return true
	})
}

// stamp identifies what happens to which message, whatever its place.
func stamp(s *system, x Step) string {
	if x.Kind != Deliver && x.Kind != Copy && x.Kind != Lose {
		return ""
	}
	l := s.links[s.linkOf(x.From, x.Node)].queue[x.Index]
	return fmt.Sprintf("%v %d %d %v", x.Kind, x.From, x.Node, letterText(&l))
}

func letterText(l *letter) string { return fmt.Sprintf("%+v %+v %v", l.msg, l.transit, l.marks) }

// text is everything about a system in words.
func text(s *system) string {
	var b strings.Builder
	for i := range s.ids() {
		h := s.hosts[i]
		fmt.Fprintf(&b, "%v shared=%v budget=%d stopped=%v %s\n", h.Activity(), h.Shared() && h.Activity() != noderun.Idle,
			s.budget[i], s.stopped[i], dme.DescribeState(h.Node()))
		if s.Bypass > 0 && h.Activity() == noderun.Requesting {
			fmt.Fprintf(&b, "overtaken %d\n", s.overtaken[i])
		}
	}
	for at := range s.links {
		var letters []string
		for i := range s.links[at].queue {
			letters = append(letters, letterText(&s.links[at].queue[i]))
		}
		if s.Unordered {
			slices.Sort(letters)
		}
		fmt.Fprintln(&b, at, letters)
	}
	fmt.Fprintf(&b, "lose %d alarms %+v\n", s.lose, s.alarms)
	return b.String()
}

// The search visits exactly the states that its twin does, by as many steps.
func TestTwin(t *testing.T) {
	for _, c := range []struct {
		name string
		alg  *dme.Algorithm
		o    Options
	}{
		{"", centralized.Algorithm(), Options{Nodes: 2, Requests: 4}},
		{"", centralized.Algorithm(), Options{Nodes: 3, Requests: 4, Unordered: true}},
		{"", tokenring.Algorithm(), Options{Nodes: 3, Requests: 3}},
		{"demand", tokenring.Algorithm(), Options{Nodes: 3, Requests: 3, Unordered: true, Set: map[string]string{"mode": "demand"}}},
		{"", lamport.Algorithm(), Options{Nodes: 2, Requests: 3}},
		{"", ricartagrawala.Algorithm(), Options{Nodes: 2, Requests: 4}},
		{"", ricartagrawala.Algorithm(), Options{Nodes: 3, Requests: 2, Unordered: true}},
		{"", suzukikasami.Algorithm(), Options{Nodes: 3, Requests: 2, Unordered: true}},
		{"", raymond.Algorithm(), Options{Nodes: 3, Requests: 3}},
		{"", maekawa.Algorithm(), Options{Nodes: 3, Requests: 2}},
		{"numbered", maekawa.Algorithm(), Options{Nodes: 2, Requests: 3, Unordered: true, Set: map[string]string{"grants": "numbered"}}},
		{"bypass", ricartagrawala.Algorithm(), Options{Nodes: 2, Requests: 4, Bypass: 4}},
		{"duplicates", suzukikasami.Algorithm(), Options{Nodes: 2, Requests: 3, Duplicate: true}},
		{"duplicates in any order", suzukikasami.Algorithm(), Options{Nodes: 2, Requests: 3, Duplicate: true, Unordered: true}},
		{"", ricartagrawala.ReadersWriters(), Options{Nodes: 2, Requests: 3}},
		{"timers", implicit(2), Options{Nodes: 2, Requests: 3}},
		{"more timers", implicit(3), Options{Nodes: 2, Requests: 2, Unordered: true}},
		{"on a medium", ricartagrawala.Broadcast(), Options{Nodes: 2, Requests: 4, Set: map[string]string{"form": "sequenced"}}},
		{"on a medium of three", ricartagrawala.Broadcast(), Options{Nodes: 3, Requests: 2, Set: map[string]string{"form": "sequenced"}}},
		{"chains", metronome(), Options{Nodes: 2, Requests: 1}},
	} {
		t.Run(c.alg.Name+c.name, func(t *testing.T) {
			states, steps, depth, violation := twin(t, c.alg, c.o)
			r, err := Exhaustive(t.Context(), c.alg, c.o)
			if err != nil {
				t.Fatal(err)
			}
			if violation != nil || r.Violation != nil {
				t.Fatalf("%v, the twin says %v", r.Violation, violation)
			}
			if r.States != states || r.Steps != steps || r.Depth != depth || !r.Complete {
				t.Errorf("%d states, %d steps, depth %d; the twin has %d, %d, %d", r.States, r.Steps, r.Depth, states, steps, depth)
			}
			if states < 10 {
				t.Errorf("%d states show nothing", states)
			}
		})
	}
}

// Where something is broken, both meet it, by schedules of the same length.
func TestTwinOfBrokenLinks(t *testing.T) {
	for _, c := range []struct {
		alg *dme.Algorithm
		o   Options
	}{
		{lamport.Algorithm(), Options{Nodes: 2, Requests: 2, Unordered: true}},
		{suzukikasami.Algorithm(), Options{Nodes: 2, Requests: 2, Lose: 1}},
		{ricartagrawala.Algorithm(), Options{Nodes: 2, Requests: 2, Lose: 1}},
		{raymond.Algorithm(), Options{Nodes: 3, Requests: 3, Lose: 1}},
		{nonAtomic(), Options{Nodes: 2, Requests: 2}},
	} {
		_, _, _, violation := twin(t, c.alg, c.o)
		r, err := Exhaustive(t.Context(), c.alg, c.o)
		if err != nil || r.Violation == nil || violation == nil || r.Violation.Property != violation.Property {
			t.Errorf("%s: %v, %v; the twin says %v", c.alg.Name, r.Violation, err, violation)
		}
	}
}

// Counted by hand: node 2's request is unmade, on its way, queued, its GRANT on
// its way, inside, its RELEASE on its way, or done; node 1, the coordinator, has
// its own unmade, is inside, or is done, or waits while node 2 has the grant.
// Queued means that node 1 is inside; with the grant given node 1 is unmade,
// waiting or done; else it is unmade, inside or done.
func TestCountedByHand(t *testing.T) {
	r, err := Exhaustive(t.Context(), centralized.Algorithm(), Options{Nodes: 2, Requests: 2})
	if want := uint64(3 + 3 + 1 + 3 + 3 + 3 + 3); err != nil || r.States != want {
		t.Errorf("%d states, %v; want %d", r.States, err, want)
	}
	// Alone: k requests still to make and idle, or inside with k to come.
	r, err = Exhaustive(t.Context(), ricartagrawala.Algorithm(), Options{Nodes: 1, Requests: 5})
	if err != nil || r.States != 11 || r.Depth != 10 {
		t.Errorf("%d states, depth %d, %v; want 11 and 10", r.States, r.Depth, err)
	}
}
