package measure

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/internal/platform/clock"
	"dmebench/internal/record/entrylog"
	"dmebench/runs"
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
	job := *jobOf(t, runs.Spec{Nodes: 2, Requests: 2, Workload: "burst"})
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
		r := Result(Observation{Job: &job, Status: runs.OK, Entries: entries, Nodes: counted(2, entries, 1), Figures: x.gauges})
		if !maps.Equal(r.Figures, x.want) {
			t.Errorf("%v: %v, want %v", x.claimed, r.Figures, x.want)
		}
	}
	// Requests without numbers have no range of them.
	own := *job.Algorithm
	own.Claims = []dme.Claim{{Quantity: dme.NumberRange}}
	job.Algorithm = &own
	entries := []entrylog.Entry{entry(1, 0, 10, 20), entry(2, 5, 20, 30)}
	if r := Result(Observation{Job: &job, Status: runs.OK, Entries: entries, Nodes: counted(2, entries, 1)}); len(r.Figures) > 0 {
		t.Errorf("without numbers: %v", r.Figures)
	}
}

// A bound on overtaking is that of the run's own system, with its sets or its tree.
func TestOvertakingAsksTheSystem(t *testing.T) {
	job := *jobOf(t, runs.Spec{Nodes: 2, Requests: 2})
	own := *job.Algorithm
	own.Claims = []dme.Claim{{
		Quantity: dme.Bypass, Kind: dme.UpperBound, Load: dme.AnyLoad,
		Predict: func(s dme.Setting) (float64, bool) { return float64(7 * s.Nodes), s.System != nil },
	}}
	job.Algorithm = &own
	if bound := overtaking(&job); bound.Claim == nil || bound.Claimed != 14 {
		t.Errorf("%+v", bound)
	}
}

// shared is a run of two writers and, in between, two readers who share what they read.
func shared(t *testing.T) Observation {
	entries := []entrylog.Entry{entry(1, 0, 100, 200), entry(2, 0, 300, 400), entry(3, 0, 310, 390), entry(1, 450, 500, 600)}
	entries[1].Shared, entries[2].Shared = true, true
	for i, version := range []uint64{1, 2, 2, 2} {
		entries[i].Order = version
	}
	return Observation{
		Job: jobOf(t, runs.Spec{Nodes: 3, Requests: 4, Workload: "burst", Warmup: "0"}), Status: runs.OK,
		Entries: entries, Nodes: counted(3, entries, 1), Start: 50, Stop: 700, Workers: 3,
		Resource: &Resource{Kind: "nats", Updates: 2, Count: 2},
	}
}

func TestASharedResourceThatLostNothing(t *testing.T) {
	o := shared(t)
	r := Result(o)
	if s := r.Safety.Resource; r.Status != runs.OK || s == nil || s.Kind != "nats" || s.Updates != 2 || s.LostUpdates != 0 || s.Lost != nil {
		t.Errorf("status %s: %s, %+v", r.Status, r.Error, s)
	}
	// In the order of versions, readers first; the order of the records does not matter.
	slices.Reverse(o.Entries)
	tl := newTimeline(o.Entries)
	for k, want := range []int64{100, 300, 310, 500} {
		if got := tl.entered(k).Entered; got != want {
			t.Errorf("entry %d began at %d, want %d", k, got, want)
		}
	}
}

// Every account of the resource that cannot be true makes a run fail that seems to
// have gone well.
func TestAResourceThatDoesNotAddUp(t *testing.T) {
	for name, change := range map[string]func(*Observation){
		"a worker that did not write":   func(o *Observation) { o.Resource.Updates, o.Resource.Count = 1, 1 },
		"somebody else wrote":           func(o *Observation) { o.Resource.Updates = 3 },
		"a count that was not carried":  func(o *Observation) { o.Resource.Count = 1 },
		"two writers saw the same":      func(o *Observation) { o.Entries[3].Order = 1 },
		"a writer before a reader's":    func(o *Observation) { o.Entries[0].Shared, o.Resource.Updates, o.Resource.Count = true, 2, 2 },
		"a reader who is said to write": func(o *Observation) { o.Entries[1].Shared = false },
	} {
		o := shared(t)
		change(&o)
		if r := Result(o); r.Status == runs.OK {
			t.Errorf("%s: passes: %+v", name, r.Safety.Resource)
		}
	}
	o := shared(t) // what fell out of the log is not missed
	o.Entries, o.Dropped = o.Entries[1:], 1
	if r := Result(o); r.Status != runs.OK {
		t.Errorf("status %s: %s", r.Status, r.Error)
	}
}

// A lost update is a violation though nobody else has seen any, and is told with both
// critical sections: from entry to exit where there is a record, each on the clock of
// its host.
func TestLostUpdatesAreViolations(t *testing.T) {
	o := shared(t)
	ahead := new(clock.Relation)
	ahead.Add(clock.Exchange{Sent: 0, Received: 1000, Answered: 1000, Returned: 0})
	o.Hosts = []Host{
		{Host: runs.Host{Name: "one", Nodes: []int{1, 2}}},
		{Host: runs.Host{Name: "two", Nodes: []int{3}}, Relation: ahead},
	}
	o.Entries[2].Entered, o.Entries[2].Exited, o.Entries[2].Requested = 1310, 1390, 1000
	o.Resource.Lost = 5
	o.Resource.First = []entrylog.LostUpdate{{
		Version: 2,
		Update:  entrylog.Update{Node: 1, Entry: 2, Entered: 500, Left: 590},
		Other:   entrylog.Update{Node: 3, Entry: 9, Entered: 1550, Left: 1650},
	}}
	r := Result(o)
	want := runs.LostUpdate{Version: 2, Node: 1, EnteredNS: 450, ExitedNS: 550, Other: 3, OtherEntered: 500, OtherExited: 600}
	s := r.Safety.Resource
	if r.Status != runs.Violated || r.Safety.Violations != 5 || s.LostUpdates != 5 || len(s.Lost) != 1 || s.Lost[0] != want {
		t.Errorf("status %s, %d violations, %+v", r.Status, r.Safety.Violations, s)
	}
	const words = "5 updates of the shared resource were lost: first, node 1 was inside from 450ns to 550ns after the start and wrote, " +
		"and node 3, inside from 500ns to 600ns, had read version 2 before and overwrote it"
	if !slices.Contains(r.Warnings, words) {
		t.Errorf("warnings:\n%s", strings.Join(r.Warnings, "\n"))
	}
	o.Resource.Lost = 1
	if r := Result(o); !slices.ContainsFunc(r.Warnings, func(w string) bool {
		return strings.HasPrefix(w, "an update of the shared resource was lost: node 1 was inside ")
	}) {
		t.Errorf("warnings %q", r.Warnings)
	}
}
