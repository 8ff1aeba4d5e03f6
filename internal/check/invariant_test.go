package check

import (
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/catalog"
	"dmebench/algorithms/suzukikasami"
	"dmebench/dme"
	"dmebench/dme/vnet"
)

// keptFrom is the algorithm of Suzuki and Kasami, with the false invariant that node 3
// never has the token.
func keptFrom() *dme.Algorithm {
	a := suzukikasami.Algorithm()
	a.Invariants = append(a.Invariants, dme.Invariant{
		Name: "never at 3", Citation: "nobody", Statement: "node 3 never has the token",
		Holds: func(v dme.GlobalView) error {
			if v.Node(3).(dme.TokenHolder).HasToken() {
				return dme.Broken([]dme.NodeID{3}, "node 3 has the token")
			}
			return nil
		},
	})
	return a
}

// Every search finds a broken invariant, by its name, and shows the shortest way
// there; where the invariants are left out, or the links too weak for them, none.
func TestSearchesCheckInvariants(t *testing.T) {
	o := Options{Nodes: 3, Requests: 3, Schedules: 200}
	searches := map[string]func(o Options) (Report, error){
		"random": func(o Options) (Report, error) { return Random(t.Context(), keptFrom(), o) },
		"exhaustive": func(o Options) (Report, error) {
			o.Workers = 1
			return Exhaustive(t.Context(), keptFrom(), o)
		},
		"exhaustive with 3 workers": func(o Options) (Report, error) {
			o.Workers = 3
			return Exhaustive(t.Context(), keptFrom(), o)
		},
	}
	for name, search := range searches {
		r, err := search(o)
		if err != nil || r.Violation == nil || r.Trace == nil {
			t.Errorf("%s: %v, %v", name, r.Violation, err)
			continue
		}
		want := &vnet.Violation{Property: "never at 3", Verdict: "never at 3: node 3 has the token", Nodes: []dme.NodeID{3}}
		if v := r.Violation; v.Property != want.Property || v.Verdict != want.Verdict || !slices.Equal(v.Nodes, want.Nodes) {
			t.Errorf("%s: %+v, want %+v", name, v, want)
		}
		if n := len(r.Trace.Events); n != 3 {
			t.Errorf("%s: %d steps, want a request, its arrival and the token's:\n%s", name, n, strings.Join(r.Trace.Lines(), "\n"))
		}
		if d := r.Trace.Diagram(); !slices.Equal(d.Bad, []int{d.Last}) || d.Caption[0] != want.Verdict {
			t.Errorf("%s: the picture marks row %v of %d and says %q", name, d.Bad, d.Last, d.Caption)
		}
		for _, weak := range []func(*Options){
			func(o *Options) { o.WithoutInvariants = true },
			func(o *Options) { o.Duplicate = true; o.Schedules, o.States = 1, 1000 },
		} {
			x := o
			weak(&x)
			if r, err := search(x); err != nil || r.Violation != nil && r.Violation.Property == want.Property {
				t.Errorf("%s, %+v: %v, %v", name, x, r.Violation, err)
			}
		}
	}
}

// A part of a search that is divided among hosts ends at the same schedule.
func TestPartsCheckInvariants(t *testing.T) {
	s, err := New(keptFrom(), Options{Nodes: 3, Requests: 3, Schedules: 200})
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Part(t.Context(), 0, 200); !p.Broken {
		t.Error("no schedule is broken")
	}
	if names := s.Invariants(); len(names) != 4 || names[3].Name != "never at 3" {
		t.Errorf("%d invariants are checked", len(names))
	}
}

// A message that is lost breaks an invariant of every algorithm that has some, before
// anybody stands still for want of it: they are checked, and they can be broken. (Those
// of the mesh are about the privilege only, and not about REQUESTs, which are lost first.)
func TestLossBreaksInvariants(t *testing.T) {
	for _, a := range catalog.All() {
		if a.AsPublished || len(a.Invariants) == 0 || a.Name == "chaudhuri-karaata" {
			continue
		}
		bold := *a
		bold.Needs = dme.Always(dme.Needs{})
		r, err := Exhaustive(t.Context(), &bold, Options{Nodes: 3, Requests: 3, Lose: 1, States: 100_000})
		if err != nil || r.Violation == nil {
			t.Errorf("%s: %v, %v, %d states", a.Name, r.Violation, err, r.States)
			continue
		}
		if !slices.ContainsFunc(a.Invariants, func(i dme.Invariant) bool { return string(r.Violation.Property) == i.Name }) {
			t.Errorf("%s: %+v", a.Name, r.Violation)
		}
	}
}
