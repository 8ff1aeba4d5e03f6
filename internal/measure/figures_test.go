package measure

import (
	"maps"
	"math/rand/v2"
	"testing"

	"dmebench/dme"
	"dmebench/internal/entrylog"
	"dmebench/result"
)

// What the entries tell is what a look at every pair of them tells.
func TestFiguresOfEntries(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var entries []entrylog.Entry
		for node := dme.NodeID(1); node <= 5; node++ {
			now := rng.Int64N(10)
			for range 1 + rng.IntN(6) {
				asked := now + rng.Int64N(4)
				entered := asked + rng.Int64N(12)
				now = entered + 1 + rng.Int64N(5)
				e := entry(node, 8*asked, 8*entered+int64(node), 8*now) // no two enter at one instant
				e.Clock, e.Shared = uint64(rng.IntN(9)), rng.IntN(2) == 0
				entries = append(entries, e)
			}
		}
		tl := newTimeline(entries)
		numbers, inside, before := pairs(entries)
		for _, x := range []struct {
			what string
			got  func() (float64, bool)
			want float64
		}{
			{"number range", tl.numberRange, numbers}, {"readers inside", tl.readersInside, inside},
			{"readers before a writer", tl.readersBeforeWriter, before},
		} {
			if got, ok := x.got(); got != x.want || !ok && x.want > 0 {
				t.Fatalf("%s: %v %v, want %v of %v", x.what, got, ok, x.want, entries)
			}
		}
	}
}

// pairs looks at every pair of entries.
func pairs(entries []entrylog.Entry) (numbers, inside, before float64) {
	for _, late := range entries {
		together, readers := 0.0, 0.0
		for _, early := range entries {
			if late.Node == early.Node {
				continue
			}
			waited := early.Entered > late.Requested && early.Entered <= late.Entered
			if waited && early.Clock > 0 && late.Clock > 0 {
				numbers = max(numbers, float64(max(early.Clock, late.Clock)-min(early.Clock, late.Clock)))
			}
			if waited && early.Shared {
				readers++
			}
			if early.Shared && early.Entered <= late.Entered && early.Exited > late.Entered {
				together++
			}
		}
		if late.Shared {
			inside = max(inside, together+1)
		} else {
			before = max(before, readers)
		}
	}
	return numbers, inside, before
}

// Figures are those of which the algorithm's claims speak, and those of its gauges.
func TestFiguresThatClaimsName(t *testing.T) {
	a, b := entry(1, 0, 10, 20), entry(2, 5, 20, 30)
	a.Clock, b.Clock, a.Shared = 3, 7, true
	job := *jobOf(t, result.Spec{Nodes: 2, Requests: 2, Workload: "burst"})
	for _, x := range []struct {
		claimed []dme.Quantity
		gauges  map[string]float64
		want    map[string]float64
	}{
		{nil, nil, nil},
		{[]dme.Quantity{dme.MessagesPerCS}, nil, nil},
		{[]dme.Quantity{dme.NumberRange}, nil, map[string]float64{"number-range": 4}},
		{
			[]dme.Quantity{dme.NumberRange, dme.ReadersInside, dme.ReadersBeforeWriter}, map[string]float64{"own": 2},
			map[string]float64{"own": 2, "number-range": 4, "readers-inside": 1, "readers-before-writer": 1},
		},
	} {
		own := *job.Algorithm
		for _, q := range x.claimed {
			own.Claims = append(own.Claims, dme.Claim{Quantity: q})
		}
		job.Algorithm = &own
		entries := []entrylog.Entry{a, b}
		r := Result(Observation{Job: &job, Status: result.OK, Entries: entries, Nodes: counted(2, entries, 1), Figures: x.gauges})
		if !maps.Equal(r.Figures, x.want) {
			t.Errorf("%v: %v, want %v", x.claimed, r.Figures, x.want)
		}
	}
}
