package measure

import (
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/internal/record/entrylog"
	"dmebench/internal/runtime/noderun"
	"dmebench/runs"
	"dmebench/workload/fault"
)

// What came of a fault, by hand. Node 1 is killed at 100, inside; nodes 2 and 3 wait
// for it.
func TestFaultsByHand(t *testing.T) {
	const never = entrylog.Never
	kill, err := fault.Parse("kill holder @entry:2")
	if err != nil {
		t.Fatal(err)
	}
	entries := []entrylog.Entry{
		entry(1, 0, 10, 50), entry(2, 20, 160, 180), entry(3, 30, 200, 220), entry(2, 190, 230, 250), entry(3, 101, 240, 245),
	}
	gone := entrylog.Abandoned{Node: 1, Made: true, Requested: 60, Entered: 70, Ended: 100}
	made := func(node dme.NodeID, requested, entered, ended int64) entrylog.Abandoned {
		return entrylog.Abandoned{Node: node, Made: true, Requested: requested, Entered: entered, Ended: ended}
	}
	inLine := entrylog.Abandoned{Node: 1, Requested: 90, Entered: never, Ended: 100}
	for _, x := range []struct {
		name              string
		abandoned         []entrylog.Abandoned // beside node 1's entry
		recovered, served int64                // -1: null
		waiting, lost     uint64
		pending           uint64
	}{
		{"all are served", nil, 60, 100, 2, 1, 0},
		{"what was in line is lost too", []entrylog.Abandoned{inLine}, 60, 100, 2, 2, 0},
		{"one waits to the end", []entrylog.Abandoned{inLine, made(4, 99, never, never)}, 60, -1, 3, 2, 1},
		{"one asked later", []entrylog.Abandoned{made(4, 101, never, never)}, 60, 100, 2, 1, 1},
		{"one waited, and was killed", []entrylog.Abandoned{made(4, 80, never, 150)}, 60, 100, 3, 1, 0},
		{"one had been killed before", []entrylog.Abandoned{made(4, 80, never, 90)}, 60, 100, 2, 1, 0},
		{"one entered, and was killed inside", []entrylog.Abandoned{made(4, 80, 130, 140)}, 30, 100, 3, 1, 0},
		{"the same node later", []entrylog.Abandoned{made(1, 300, 310, 320)}, 60, 100, 2, 1, 0},
	} {
		x.abandoned = append(x.abandoned, gone)
		nodes := counted(4, entries, 0)
		for _, a := range x.abandoned {
			if a.Made {
				nodes[a.Node-1].Requests++
			}
		}
		r := Result(Observation{
			Job: jobOf(t, runs.Spec{Nodes: 4, Requests: 50, Warmup: "0"}), Status: runs.OK, Entries: entries, Nodes: nodes, MeanDelay: 1,
			Start: 5, Stop: 400, Abandoned: x.abandoned, Strikes: []Strike{{Fault: kill, Nodes: []dme.NodeID{1}, At: 100}},
		})
		if len(r.Faults) != 1 {
			t.Fatalf("%s: faults %+v", x.name, r.Faults)
		}
		f := r.Faults[0]
		same := func(got *int64, want int64) bool { return got == nil && want < 0 || got != nil && *got == want }
		if f.AtNS != 95 || f.What != "kill" || f.EndedNS != nil || !same(f.RecoveredNS, x.recovered) || !same(f.ServedNS, x.served) ||
			f.Waiting != x.waiting || f.Lost != x.lost || r.Liveness.Pending != x.pending {
			t.Errorf("%s: %s: %d pending", x.name, encode(t, r), r.Liveness.Pending)
		}
	}
}

// Nobody is hit by a partition: an entry on any side is a recovery.
func TestPartitionHitsNobody(t *testing.T) {
	cut, err := fault.Parse("partition 1|2 @1s-2s")
	if err != nil {
		t.Fatal(err)
	}
	entries := []entrylog.Entry{entry(1, 0, 110, 120)}
	r := Result(Observation{
		Job: jobOf(t, runs.Spec{Nodes: 2, Requests: 1, Warmup: "0"}), Status: runs.OK, Entries: entries, Nodes: counted(2, entries, 0),
		Strikes: []Strike{{Fault: cut, Nodes: []dme.NodeID{1}, At: 100, Ended: 105}},
	})
	f := r.Faults[0]
	if f.RecoveredNS == nil || *f.RecoveredNS != 10 || f.EndedNS == nil || *f.EndedNS != 5 || f.Waiting != 1 {
		t.Errorf("%+v", f)
	}
}

// Between the exit before a holder that dies and the entry after it there is no
// hand-over to measure.
func TestDeathIsNoHandOver(t *testing.T) {
	// Node 2 enters at 60 and dies; node 3, which has waited since 10, enters at 200.
	entries := []entrylog.Entry{entry(1, 0, 20, 50), entry(3, 10, 200, 210), entry(1, 60, 225, 230)}
	died := []entrylog.Abandoned{{Node: 2, Made: true, Requested: 5, Entered: 60, Ended: 70}}
	for _, x := range []struct {
		abandoned []entrylog.Abandoned
		mean      float64
		count     uint64
	}{{died, 15, 1}, {nil, (150. + 15) / 2, 2}} {
		r := Result(Observation{
			Job: jobOf(t, runs.Spec{Nodes: 3, Requests: 4, Warmup: "0"}), Status: runs.OK, Entries: entries, Nodes: counted(3, entries, 0),
			Abandoned: x.abandoned, Stop: 230,
		})
		if q := r.SyncDelay; q == nil || q.Count != x.count || q.Mean != x.mean {
			t.Errorf("%+v", q)
		}
	}
}

// A run of 3 nodes that were asked for requests, of which 6 were made.
func TestUnmadeRequests(t *testing.T) {
	kill, err := fault.Parse("kill 1-3 @5ms")
	if err != nil {
		t.Fatal(err)
	}
	const warned = "600 requests were asked for and 6 were made: a node that is down, or has left, makes none"
	for _, x := range []struct {
		name     string
		requests int
		duration runs.Duration
		at       int64 // of the last fault; -1: there was none
		down     []int
		status   runs.Status
		why      string // in the error; empty where there is none
		warning  string // in a warning; empty where none speaks of requests asked for
	}{
		{"all were made", 6, 0, 100, []int{1, 2, 3}, runs.OK, "", ""},
		{"nobody is left", 600, 0, 100, []int{1, 2, 3}, runs.Stalled,
			"600 requests were asked for and 6 were made: no node is left that could make more", ""},
		{"some are left", 600, 0, 100, []int{1, 3}, runs.OK, "",
			warned},
		{"all came back", 600, 0, 100, nil, runs.OK, "", warned},
		{"without a fault", 600, 0, -1, nil, runs.Failed, "", ""},
		{"nobody is left before the duration ends", 0, 1000, 100, []int{1, 2, 3}, runs.Stalled,
			"6 requests were made: no node is left", ""},
		{"nobody is left after the duration", 0, 1000, 1000, []int{1, 2, 3}, runs.OK, "", ""},
		{"some are left when the duration ends", 600, 1000, 100, []int{1}, runs.OK, "", ""},
		{"violated", 600, 0, 100, []int{1, 2, 3}, runs.Violated, "", warned},
	} {
		entries := closed()
		o := Observation{
			Job:    jobOf(t, runs.Spec{Nodes: 3, Requests: x.requests, Duration: x.duration, Warmup: "0"}),
			Status: runs.OK, Entries: entries, Nodes: counted(3, entries, 4), MeanDelay: 10, Stop: 250,
		}
		for _, id := range x.down {
			o.Nodes[id-1].Activity = uint64(noderun.Down)
		}
		if x.at >= 0 {
			o.Strikes = []Strike{{Fault: kill, Nodes: []dme.NodeID{1, 2, 3}, At: x.at}}
		} else {
			o.Status = runs.Failed
		}
		if x.status == runs.Violated {
			o.WitnessViolations = 1
		}
		r := Result(o)
		if r.Status != x.status || !strings.HasPrefix(r.Error, x.why) || (r.Error == "") != (x.why == "") {
			t.Errorf("%s: status %s: %q", x.name, r.Status, r.Error)
		}
		if r.Liveness.Stalled != (x.status == runs.Stalled) {
			t.Errorf("%s: %+v", x.name, r.Liveness)
		}
		told := slices.IndexFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "were asked for") })
		if (told >= 0) != (x.warning != "") || told >= 0 && !strings.HasSuffix(r.Warnings[told], x.warning) {
			t.Errorf("%s: %q", x.name, r.Warnings)
		}
	}
}
