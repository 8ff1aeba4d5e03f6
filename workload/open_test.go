package workload

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"dmebench/dme"
)

// merged lists the first n arrivals of all nodes together, by merging all that a
// plan without a number of requests has to say.
func merged(t *testing.T, s Spec, nodes int, seed uint64, set map[string]string) []arrivalOf {
	t.Helper()
	n := s.Requests
	s.Requests = 0
	// Four times as long as it takes on average, and more where few are to come.
	p := plan(t, Spec{Name: s.Name, Rate: s.Rate, TotalRate: s.TotalRate, Duration: time.Hour}, nodes, seed, set)
	long := time.Duration((4*float64(n) + 40) / p.OfferedRate() * float64(time.Second))
	var list []arrivalOf
	for id := dme.NodeID(1); int(id) <= nodes; id++ {
		c := p.Client(id)
		for at, ok := c.Next(); ok && at < long; at, ok = c.Next() {
			list = append(list, arrivalOf{at.Seconds(), id})
		}
	}
	slices.SortFunc(list, func(a, b arrivalOf) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.node, b.node)) })
	if len(list) < n {
		t.Fatalf("only %d arrivals in %v", len(list), long)
	}
	return list[:n]
}

// An open workload ends with the R-th arrival of all nodes together: what its
// clients make is the first R of the merged arrivals, no more and no less.
func TestOpenWorkloadsEndTogether(t *testing.T) {
	for _, x := range []struct {
		nodes, requests int
		spec            Spec
		set             map[string]string
	}{
		{1, 1, Spec{Name: "poisson", Rate: 3}, nil},
		{3, 10, Spec{Name: "poisson", Rate: 1000}, nil},
		{50, 7, Spec{Name: "poisson", TotalRate: 2}, nil},
		{8, 5000, Spec{Name: "poisson", TotalRate: 1e6}, nil},
		{5, 100, Spec{Name: "hotspot", TotalRate: 10}, map[string]string{"hot": "1", "share": "0.8"}},
		{40, 3000, Spec{Name: "hotspot", Rate: 1}, map[string]string{"hot": "2", "share": "0.7"}},
		{3, 100, Spec{Name: "hotspot", TotalRate: 10}, map[string]string{"hot": "1", "share": "1"}},
		{3, 7, Spec{Name: "hotspot", TotalRate: 10}, map[string]string{"hot": "3", "share": "0.2"}},
	} {
		for seed := uint64(1); seed <= 20; seed++ {
			what := fmt.Sprintf("%s, %d nodes, %d requests, seed %d", x.spec.Name, x.nodes, x.requests, seed)
			x.spec.Requests = x.requests
			p := plan(t, x.spec, x.nodes, seed, x.set)
			if p.Requests() != x.requests {
				t.Errorf("%s: %d in all", what, p.Requests())
			}
			want := make([][]time.Duration, x.nodes)
			for _, a := range merged(t, x.spec, x.nodes, seed, x.set) {
				want[a.node-1] = append(want[a.node-1], instant(a.at))
			}
			for i := range want {
				id := dme.NodeID(i + 1)
				got := all(p.Client(id))
				if len(got) != len(want[i]) || p.Share(id) != len(got) {
					t.Fatalf("%s: node %d makes %d requests of its share of %d; %d of its arrivals are among the first",
						what, id, len(got), p.Share(id), len(want[i]))
				}
				for k := range got {
					if d := got[k] - want[i][k]; d.Abs() > time.Nanosecond {
						t.Fatalf("%s: arrival %d of node %d at %v, want %v", what, k, id, got[k], want[i][k])
					}
				}
			}
		}
	}
}

// readingPlan is a plan of 4 nodes with a part of readers.
func readingPlan(t *testing.T, name, readers string, seed uint64) *Plan {
	t.Helper()
	spec := Spec{Name: name, CS: Distribution{Mean: time.Millisecond, Exponential: true}, Requests: 40}
	if kind, _ := Lookup(name); kind.Rated {
		spec.Rate = 10
	}
	set := map[string]string{}
	if readers != "" {
		set["readers"] = readers
	}
	return plan(t, spec, 4, seed, set)
}

// reads draws what the next n requests of a node are.
func reads(p *Plan, id dme.NodeID, n int) []bool {
	c := p.Client(id)
	all := make([]bool, n)
	for i := range all {
		all[i] = c.Reads()
	}
	return all
}

func TestReadersAreThatPart(t *testing.T) {
	for _, name := range []string{"saturate", "poisson", "serial", "burst", "hotspot"} {
		for readers, want := range map[string]float64{"": 0, "0": 0, "0.25": 0.25, "0.9": 0.9, "1": 1} {
			p := readingPlan(t, name, readers, 1)
			if p.Readers() != want {
				t.Errorf("%s: readers=%s: %v", name, readers, p.Readers())
			}
			readersSeen := 0
			for _, r := range reads(p, 2, 4000) {
				if r {
					readersSeen++
				}
			}
			if got := float64(readersSeen) / 4000; math.Abs(got-want) > 0.03 || want == math.Trunc(want) && got != want {
				t.Errorf("%s: readers=%s: %v of the requests", name, readers, got)
			}
		}
	}
}

// Who reads depends on the seed and the node, and on nothing else; and nothing
// else depends on who reads.
func TestReadersAreIndependent(t *testing.T) {
	p := readingPlan(t, "poisson", "0.5", 1)
	if !slices.Equal(reads(p, 2, 100), reads(readingPlan(t, "burst", "0.5", 1), 2, 100)) {
		t.Error("another workload, and others read")
	}
	if slices.Equal(reads(p, 2, 100), reads(p, 3, 100)) ||
		slices.Equal(reads(p, 2, 100), reads(readingPlan(t, "poisson", "0.5", 2), 2, 100)) {
		t.Error("the same requests are readers' at another node, or with another seed")
	}
	with, without := p.Client(3), readingPlan(t, "poisson", "0", 1).Client(3)
	for range 10 {
		with.Reads()
		a, _ := with.Next()
		b, _ := without.Next()
		if a != b || with.Hold() != without.Hold() {
			t.Fatal("readers ask at other times, or stay for another time")
		}
	}
}
