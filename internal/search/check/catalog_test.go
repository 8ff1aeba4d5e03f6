package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/catalog"
	"dmebench/algorithms/suzukikasami"
	"dmebench/dme"
	"dmebench/dme/conformance"
	"dmebench/dme/vnet"
	"dmebench/internal/testkit"
)

// sound yields the algorithms that are not known to be wrong, with options for
// the links that each declares, on sizes that it can have.
func sound(t *testing.T, sizes []int, f func(t *testing.T, a *dme.Algorithm, o Options)) {
	for _, a := range catalog.All() {
		settings := []map[string]string{nil}
		if testkit.Full() {
			settings = conformance.Settings(a)
		}
		for _, set := range settings {
			opt, err := a.Resolve(set)
			if err != nil {
				t.Fatal(err)
			}
			if a.AsPublished {
				continue
			}
			t.Run(fmt.Sprint(a.Name, set), func(t *testing.T) {
				for _, n := range sizes {
					if a.CheckNodes(n, opt) == nil {
						f(t, a, Options{Nodes: n, Set: set, Unordered: !a.Needs(opt).FIFO})
					}
				}
			})
		}
	}
}

func TestCatalogExhaustively(t *testing.T) {
	sound(t, []int{1, 2, 3}, func(t *testing.T, a *dme.Algorithm, o Options) {
		o.Requests = []int{0, 3, 4, 3}[o.Nodes]
		switch {
		case testkit.Full():
			o.Requests, o.States = 2*o.Requests, 5_000_000
		case testing.Short():
			o.States = 50_000
		default:
			o.States = 600_000
		}
		r, err := Exhaustive(t.Context(), a, o)
		if err != nil || r.Violation != nil {
			t.Fatalf("N=%d: %v, %v", o.Nodes, r.Violation, err)
		}
		if r.Stopped != "" {
			t.Logf("N=%d: %d states, %s", o.Nodes, r.States, r.Stopped)
		}
	})
}

func TestCatalogAtRandom(t *testing.T) {
	sizes := []int{2, 3, 5, 8}
	schedules := 400
	switch {
	case testkit.Full():
		schedules = 20_000
	case testing.Short():
		schedules = 50
	}
	sound(t, sizes, func(t *testing.T, a *dme.Algorithm, o Options) {
		o.Requests, o.Schedules = 3*o.Nodes-1, schedules
		r, err := Random(t.Context(), a, o)
		if err != nil || r.Violation != nil {
			t.Fatalf("N=%d: %v, %v, seed %d", o.Nodes, r.Violation, err, r.Seed)
		}
		if want := uint64(schedules * o.Requests); r.Entries != want {
			t.Errorf("N=%d: %d entries, want %d", o.Nodes, r.Entries, want)
		}
	})
}

// keptFrom is the algorithm of Suzuki and Kasami, with the false invariant that node 3
// never has the token.
func keptFrom() *dme.Algorithm {
	a := suzukikasami.Algorithm()
	a.Invariants = append(a.Invariants, dme.Invariant{
		Name: "never at 3", Citation: "nobody", Statement: "node 3 never has the token",
		Holds: func(v dme.GlobalView) error {
			if a.HasToken(v.Node(3)) {
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
	if names := s.Invariants(); len(names) != 5 || names[4].Name != "never at 3" {
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
