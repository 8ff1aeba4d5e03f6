package measure

import (
	"maps"
	"math/rand/v2"
	"testing"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/internal/record"
	"dmebench/runs"
)

// What the entries tell is what a look at every pair of them tells.
func TestFiguresOfEntries(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var entries []record.Entry
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
		tl := newTimeline(entries, nil, false)
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
func pairs(entries []record.Entry) (numbers, inside, before float64) {
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
	job := *jobOf(t, runs.Spec{Nodes: 2, Requests: 2, Workload: "burst"})
	for _, x := range []struct {
		claimed []claim.Quantity
		gauges  map[string]float64
		want    map[string]float64
	}{
		{nil, nil, nil},
		{[]claim.Quantity{claim.MessagesPerCS}, nil, nil},
		{[]claim.Quantity{claim.NumberRange}, nil, map[string]float64{"number-range": 4}},
		{
			[]claim.Quantity{claim.NumberRange, claim.ReadersInside, claim.ReadersBeforeWriter}, map[string]float64{"own": 2},
			map[string]float64{"own": 2, "number-range": 4, "readers-inside": 1, "readers-before-writer": 1},
		},
	} {
		own := *job.Algorithm
		for _, q := range x.claimed {
			own.Claims = append(claim.Of(&own), claim.Claim{Quantity: q})
		}
		job.Algorithm = &own
		entries := []record.Entry{a, b}
		r := result(Observation{Job: &job, Status: runs.OK, Entries: entries, Nodes: counted(2, entries, 1), Figures: x.gauges})
		if !maps.Equal(r.Figures, x.want) {
			t.Errorf("%v: %v, want %v", x.claimed, r.Figures, x.want)
		}
	}
	// Requests without numbers have no range of them.
	own := *job.Algorithm
	own.Claims = claim.List{{Quantity: claim.NumberRange}}
	job.Algorithm = &own
	entries := []record.Entry{entry(1, 0, 10, 20), entry(2, 5, 20, 30)}
	if r := result(Observation{Job: &job, Status: runs.OK, Entries: entries, Nodes: counted(2, entries, 1)}); len(r.Figures) > 0 {
		t.Errorf("without numbers: %v", r.Figures)
	}
}

// A bound on overtaking is that of the run's own system and options.
func TestOvertakingAsksTheSystem(t *testing.T) {
	job := *jobOf(t, runs.Spec{Nodes: 2, Requests: 2})
	own := *job.Algorithm
	own.Claims = claim.List{{
		Quantity: claim.Bypass, Kind: claim.UpperBound, Load: claim.AnyLoad,
		Predict: func(s dme.Setting) (float64, bool) { return float64(7 * s.Nodes), s.System != nil && s.Options != nil },
	}}
	job.Algorithm, job.Options = &own, dme.Options{}
	if bound := overtaking(&job); bound.Claim == nil || bound.Claimed != 14 {
		t.Errorf("%+v", bound)
	}
}

// Who left in the instant of an entry was not inside with it; who was inside for no time
// was inside alone.
func TestReadersInsideByHand(t *testing.T) {
	reader := func(node dme.NodeID, requested, entered, exited int64) record.Entry {
		e := entry(node, requested, entered, exited)
		e.Shared = true
		return e
	}
	for _, x := range []struct {
		entries []record.Entry
		want    float64
	}{
		{[]record.Entry{reader(1, 0, 10, 20), reader(2, 0, 20, 30)}, 1},
		{[]record.Entry{reader(1, 0, 10, 21), reader(2, 0, 20, 30)}, 2},
		{[]record.Entry{reader(1, 0, 10, 10)}, 1},
		{[]record.Entry{reader(1, 0, 10, 10), reader(2, 0, 11, 12)}, 1},
		{[]record.Entry{reader(1, 0, 10, 20), entry(2, 0, 20, 30), reader(3, 0, 40, 50)}, 1},
	} {
		if got, ok := newTimeline(x.entries, nil, false).readersInside(); got != x.want || !ok {
			t.Errorf("%v %v, want %v of %+v", got, ok, x.want, x.entries)
		}
	}
	for name, entries := range map[string][]record.Entry{
		"writers": {entry(1, 0, 1, 2), entry(2, 0, 3, 4)}, "readers": {reader(1, 0, 1, 2), reader(2, 0, 3, 4)}, "nobody": nil,
	} {
		if got, ok := newTimeline(entries, nil, false).readersBeforeWriter(); ok || got != 0 {
			t.Errorf("readers before a writer, of %s alone: %v", name, got)
		}
	}
}

// Of those that saw the same version of a resource the readers came first, wherever their
// records stand and whatever their clocks say.
func TestReadersComeFirst(t *testing.T) {
	var entries []record.Entry
	for k := range int64(12) {
		e := entry(dme.NodeID(k+1), 0, 100+k, 200)
		e.Order, e.Shared = 1, k >= 9
		entries = append(entries, e)
	}
	rng := rand.New(rand.NewPCG(63, 64))
	for range 20 {
		rng.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		tl := newTimeline(entries, nil, true)
		for k, want := range []dme.NodeID{10, 11, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9} {
			if got := tl.entered(k).Node; got != want {
				t.Fatalf("entry %d is of node %d, want %d", k, got, want)
			}
		}
	}
}
