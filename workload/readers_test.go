package workload

import (
	"math"
	"slices"
	"testing"
	"time"

	"dmebench/dme"
)

// readingPlan is a plan of 4 nodes with a part of readers.
func readingPlan(t *testing.T, name, readers string, seed uint64) *Plan {
	t.Helper()
	kind, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]string{}
	if readers != "" {
		set["readers"] = readers
	}
	opt, err := dme.ResolveOptions(kind.Options, set)
	if err != nil {
		t.Fatal(err)
	}
	spec := Spec{Name: name, CS: Distribution{Mean: time.Millisecond, Exponential: true}, Requests: 40, Options: opt}
	if kind.Rated {
		spec.Rate = 10
	}
	p, err := New(spec, 4, seed)
	if err != nil {
		t.Fatal(err)
	}
	return p
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

func TestEveryWorkloadMayHaveReaders(t *testing.T) {
	for _, k := range Kinds() {
		i := slices.IndexFunc(k.Options, func(o dme.Option) bool { return o.Name == "readers" })
		if i < 0 {
			t.Errorf("%s has no readers", k.Name)
			continue
		}
		for value, ok := range map[string]bool{"0": true, "1": true, "0.5": true, "1.1": false, "-0.1": false, "NaN": false,
			"half": false, "": false} {
			if err := k.Options[i].Accepts(value); (err == nil) != ok {
				t.Errorf("%s: readers=%s: %v", k.Name, value, err)
			}
		}
	}
	if _, err := New(Spec{Name: "saturate", Requests: 1, Options: dme.Options{"think": "0", "readers": "2"}}, 1, 1); err == nil {
		t.Error("readers=2 is accepted")
	}
}
