package measure

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/record/entrylog"
	"dmebench/internal/runtime/stall"
	"dmebench/runs"
	"dmebench/workload/fault"
)

// Records may be wrong: a node that seems to have asked before it left waits for nobody
// else all the same, and hand-overs are what their definition says of any records.
func TestHandoversOfWildRecords(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	for range 3000 {
		var entries []entrylog.Entry
		for range rng.IntN(9) {
			at := rng.Int64N(20)
			e := entry(dme.NodeID(1+rng.IntN(3)), at-rng.Int64N(15), at, at+rng.Int64N(6))
			e.Shared = rng.IntN(3) == 0
			entries = append(entries, e)
		}
		tl := newTimeline(entries)
		if got, want := tl.handovers(nil).delays, handoversTwin(tl); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v of %+v", got, want, entries)
		}
	}
}

// Who left in the instant of an entry was not inside with it; who was inside for no time
// was inside alone.
func TestReadersInsideByHand(t *testing.T) {
	reader := func(node dme.NodeID, requested, entered, exited int64) entrylog.Entry {
		e := entry(node, requested, entered, exited)
		e.Shared = true
		return e
	}
	for _, x := range []struct {
		entries []entrylog.Entry
		want    float64
	}{
		{[]entrylog.Entry{reader(1, 0, 10, 20), reader(2, 0, 20, 30)}, 1},
		{[]entrylog.Entry{reader(1, 0, 10, 21), reader(2, 0, 20, 30)}, 2},
		{[]entrylog.Entry{reader(1, 0, 10, 10)}, 1},
		{[]entrylog.Entry{reader(1, 0, 10, 10), reader(2, 0, 11, 12)}, 1},
		{[]entrylog.Entry{reader(1, 0, 10, 20), entry(2, 0, 20, 30), reader(3, 0, 40, 50)}, 1},
	} {
		if got, ok := newTimeline(x.entries).readersInside(); got != x.want || !ok {
			t.Errorf("%v %v, want %v of %+v", got, ok, x.want, x.entries)
		}
	}
	for name, entries := range map[string][]entrylog.Entry{
		"writers": {entry(1, 0, 1, 2), entry(2, 0, 3, 4)}, "readers": {reader(1, 0, 1, 2), reader(2, 0, 3, 4)}, "nobody": nil,
	} {
		if got, ok := newTimeline(entries).readersBeforeWriter(); ok || got != 0 {
			t.Errorf("readers before a writer, of %s alone: %v", name, got)
		}
	}
}

// Of those that saw the same version of a resource the readers came first, wherever their
// records stand and whatever their clocks say.
func TestReadersComeFirst(t *testing.T) {
	var entries []entrylog.Entry
	for k := range int64(12) {
		e := entry(dme.NodeID(k+1), 0, 100+k, 200)
		e.Order, e.Shared = 1, k >= 9
		entries = append(entries, e)
	}
	rng := rand.New(rand.NewPCG(63, 64))
	for range 20 {
		rng.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		tl := newTimelineOn(entries, nil, true)
		for k, want := range []dme.NodeID{10, 11, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9} {
			if got := tl.entered(k).Node; got != want {
				t.Fatalf("entry %d is of node %d, want %d", k, got, want)
			}
		}
	}
}

// What a fault did not touch, and what the node that it hit does later, by hand.
func TestFaultsThatKeepNobodyWaiting(t *testing.T) {
	kill, err := fault.Parse("kill 1 @entry:1")
	if err != nil {
		t.Fatal(err)
	}
	at := func(entries ...entrylog.Entry) runs.Fault {
		return Result(Observation{
			Job: jobOf(t, runs.Spec{Nodes: 3, Requests: 9, Warmup: "0"}), Status: runs.OK, Entries: entries,
			Nodes: counted(3, entries, 0), Strikes: []Strike{{Fault: kill, Nodes: []dme.NodeID{1}, At: 0, Ended: 1}},
		}).Faults[0]
	}
	f := at()
	if f.RecoveredNS != nil || f.ServedNS != nil || f.Messages != nil || f.Waiting != 0 || f.EndedNS == nil || *f.EndedNS != 1 {
		t.Errorf("nobody enters: %+v", f)
	}
	f = at(entry(2, 5, 10, 20))
	if f.RecoveredNS == nil || *f.RecoveredNS != 10 || f.ServedNS != nil || f.Waiting != 0 {
		t.Errorf("one enters who asked later: %+v", f)
	}
	f = at(entry(1, 0, 10, 20))
	if f.RecoveredNS != nil || f.ServedNS != nil || f.Waiting != 0 {
		t.Errorf("the one that was hit comes back: %+v", f)
	}
	f = at(entry(2, 0, 1, 20))
	if f.RecoveredNS == nil || *f.RecoveredNS != 1 || f.ServedNS == nil || *f.ServedNS != 1 || f.Waiting != 1 {
		t.Errorf("one waits for an instant: %+v", f)
	}
	// Only who entered and went has died inside.
	o := &Observation{Abandoned: []entrylog.Abandoned{
		{Entered: 5, Ended: 7}, {Entered: 6, Ended: entrylog.Never}, {Entered: entrylog.Never, Ended: 8},
	}}
	if got := diedInside(o); !slices.Equal(got, []int64{5}) {
		t.Errorf("died inside: %v", got)
	}
}

// Why a run stands still: since when nodes are gone, whether the token went with them, and
// what got lost where no loss is known.
func TestWhatAStandstillIsToldOf(t *testing.T) {
	parse := func(text string) fault.Fault {
		f, err := fault.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	o := &Observation{Start: 100, Strikes: []Strike{
		{Fault: parse("kill 2 @entry:1"), Nodes: []dme.NodeID{2}, At: 300}, {Fault: parse("leave 2 @entry:1"), Nodes: []dme.NodeID{2}, At: 400},
		{Fault: parse("kill holder @entry:2"), Nodes: []dme.NodeID{3}, At: 500},
		{Fault: parse("pause 2 @1s-2s"), Nodes: []dme.NodeID{2}, At: 600},
	}}
	for id, want := range map[dme.NodeID]stall.Absent{
		1: {Node: 1}, 2: {Node: 2, Since: 300 * time.Nanosecond}, 3: {Node: 3, Since: 400 * time.Nanosecond, Token: true},
	} {
		a := stall.Absent{Node: id}
		if o.describe(&a); a != want {
			t.Errorf("%+v, want %+v", a, want)
		}
	}
	var sum totals
	sum.Sent[0], sum.Sent[1], sum.Handled[1], sum.Sent[2] = 4, 7, 4, 1
	o.Job = jobOf(t, runs.Spec{Nodes: 3})
	if got := sum.missing(o.Job.Algorithm); !slices.Equal(got, []string{"3 ASK", "1 GRANT"}) {
		t.Errorf("missing: %q", got)
	}
	for name, x := range map[string]struct {
		s    stall.Standstill
		lost bool
	}{
		"nothing is known": {stall.Standstill{Waiting: []dme.NodeID{1}}, true},
		"a loss is known":  {stall.Standstill{Waiting: []dme.NodeID{1}, Losses: make([]stall.Loss, 1)}, false},
		"a node is down":   {stall.Standstill{Waiting: []dme.NodeID{1}, Absent: []stall.Absent{{Node: 3}}}, false},
	} {
		x.s.Nodes, x.s.Tokens, x.s.Edges = 3, -1, []stall.Edge{{Node: 1, For: 2, What: "GRANT"}}
		var told, want runs.Liveness
		o.Standstill = &x.s
		explain(&told, o, &sum)
		if len(x.s.Absent) > 0 && x.s.Absent[0].Since != 0 {
			t.Errorf("%s: what was observed has changed", name)
		}
		x.s.Lost = nil
		explain(&want, o, new(totals))
		if same := slices.Equal(told.Why, want.Why); same == x.lost {
			t.Errorf("%s: %q and, with nothing missing, %q", name, told.Why, want.Why)
		}
	}
}
