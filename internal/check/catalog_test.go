package check

import (
	"flag"
	"fmt"
	"testing"

	"dmebench/algorithms/catalog"
	"dmebench/dme"
	"dmebench/dme/conformance"
)

var full = flag.Bool("full", false, "search all options, millions of states, and 20,000 schedules of each size")

// sound yields the algorithms that are not known to be wrong, with options for
// the links that each declares, on sizes that it can have.
func sound(t *testing.T, sizes []int, f func(t *testing.T, a *dme.Algorithm, o Options)) {
	for _, a := range catalog.All() {
		settings := []map[string]string{nil}
		if *full {
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
		case *full:
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
	case *full:
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
