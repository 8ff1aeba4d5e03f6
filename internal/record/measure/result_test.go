package measure

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/record"
	"dmebench/internal/runtime/noderun"
	"dmebench/runs"
	"dmebench/transport"
)

// The load of an open workload does not fall before the last arrival of all nodes
// together, and then once the first node has no request left.
func TestWhenTheSteadyPartOfAnOpenLoadEnds(t *testing.T) {
	job := jobOf(t, runs.Spec{Nodes: 2, Workload: "poisson", Rate: 1000, Requests: 20, Warmup: "0"})
	first, second := job.Plan.Share(1), job.Plan.Share(2)
	if first < 2 || second < 2 || first+second != 20 {
		t.Fatalf("shares of %d and %d: choose another seed", first, second)
	}
	for _, x := range []struct {
		name  string
		late  int64 // by how much later than its last request node 1 leaves
		until int64
		exits int
	}{
		{"node 1 is done early", 1, 9000, 19}, // node 2's last exit is at 9500
		{"both wait at the last arrival", 9100, 9100, 19},
		{"node 2 runs out first", 19000, 9500, 19},
	} {
		var entries []record.Entry
		for k := range first {
			at := int64(k)
			entries = append(entries, entry(1, at-int64(first)+1, at, at+1))
		}
		entries[first-1].Requested, entries[first-1].Exited = 0, x.late
		entries[first-1].Entered = x.late - 1
		for k := range second {
			at := 9000 * int64(k+1) / int64(second)
			entries = append(entries, entry(2, at, at+1, at+2))
		}
		entries[19].Exited = 9500
		r := result(Observation{Job: job, Status: runs.OK, Entries: entries, Nodes: counted(2, entries, 0), Stop: 9500, MeanDelay: 1})
		wants(t, x.name, r.Throughput, float64(x.exits)/(float64(x.until)*1e-9))
	}
}

// TestAnyObservationCanBeWritten throws nonsense at Result: it must neither
// panic nor give a number that JSON cannot hold, change its input, or depend on
// the order of the entries.
func TestAnyObservationCanBeWritten(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	extremes := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MaxInt64 / 2, int64(time.Hour) + 1, int64(40 * time.Millisecond)}
	when := func() int64 {
		if rng.IntN(4) == 0 {
			return extremes[rng.IntN(len(extremes))]
		}
		return rng.Int64N(1e9)
	}
	specs := []runs.Spec{
		{Requests: 50}, {Duration: runs.Duration(time.Second)}, {Workload: "poisson", Rate: 3}, {Workload: "serial"},
		{Warmup: "3"}, {Workload: "trace", Set: map[string]string{"file": "x"}}, {Transport: "tcp"},
	}
	for k := range 56 {
		spec := specs[k%len(specs)]
		spec.Nodes = 2 + rng.IntN(4)
		o := Observation{
			Job: jobOf(t, spec), Status: []runs.Status{runs.OK, runs.Stalled, runs.Failed}[rng.IntN(3)],
			Start: when(), Stop: when(), MeanDelay: []float64{0, 5, math.NaN(), math.Inf(1)}[rng.IntN(4)],
			Nodes: make([]noderun.Counts, rng.IntN(spec.Nodes+1)), FailedNodes: []int{3, 1},
			Environment: map[string]string{EnvironmentCores: "2"}, Workers: rng.IntN(5),
		}
		for i := range o.Nodes {
			o.Nodes[i] = noderun.Counts{
				Entries: rng.Uint64N(40), Requests: rng.Uint64N(40), Sent: rng.Uint64(), LastMove: when(),
			}
		}
		for range rng.IntN(100) {
			o.Entries = append(o.Entries, record.Entry{
				Node: dme.NodeID(rng.IntN(spec.Nodes + 1)), Shared: rng.IntN(3) == 0,
				Intended: when(), Arrived: when(), Requested: when(), Entered: when(), Exited: when(),
				Clock: rng.Uint64N(5), Order: rng.Uint64N(3), Sent: rng.Uint64N(1000),
			})
		}
		before := slices.Clone(o.Entries)
		text := encode(t, result(o))
		if !slices.Equal(o.Entries, before) || !slices.Equal(o.FailedNodes, []int{3, 1}) {
			t.Fatal("Result changed its input")
		}
		rng.Shuffle(len(o.Entries), func(i, j int) { o.Entries[i], o.Entries[j] = o.Entries[j], o.Entries[i] })
		if again := encode(t, result(o)); again != text {
			t.Fatalf("the order of the entries changes the result:\n%s\n%s", text, again)
		}
	}
}

// TestWarmupLooksAtTheSteadyPartOnly has responses that get faster once node 1
// has run out of requests: that is the end, and no warm-up.
func TestWarmupLooksAtTheSteadyPartOnly(t *testing.T) {
	var entries []record.Entry
	var at int64
	for k := range int64(500) {
		node, response := dme.NodeID(k%2+1), int64(1000)
		if k < 10 { // the warm-up
			response = 100
		}
		if k >= 200 {
			node, response = 2, 300
		}
		at += 2000
		entries = append(entries, entry(node, at, at, at+response))
	}
	entries[200].Node, entries[201].Node = 1, 1
	job := jobOf(t, runs.Spec{Nodes: 2, Duration: runs.Duration(time.Hour), Requests: 204})
	r := result(Observation{
		Job: job, Status: runs.OK, Entries: entries, Nodes: counted(2, entries, 1), MeanDelay: 1, Stop: int64(time.Hour),
	})
	if r.Warmup != (runs.Warmup{Entries: 10, Method: "mser-5"}) || len(r.Warnings) > 0 {
		t.Errorf("warm-up %+v, warnings %q", r.Warmup, r.Warnings)
	}
}

func TestWire(t *testing.T) {
	for _, c := range []struct {
		counters transport.Counters
		want     string
	}{
		{transport.Counters{Frames: 1, Bytes: 2, Writes: 3, Packets: 4, Retransmissions: 5, Duplicates: 6, KernelDrops: 7,
			RefusedConns: 8, RefusedFrames: 10},
			`{"frames":1,"bytes":2,"writes":3,"packets":4,"retransmissions":5,"duplicates":6,"kernel_drops":7,"refused":18}`},
		{transport.Counters{Frames: 1}, // of a transport that cannot tell its packets
			`{"frames":1,"bytes":0,"writes":0,"packets":null,"retransmissions":0,"duplicates":0,"kernel_drops":0,"refused":0}`},
	} {
		got, err := json.Marshal(Wire(c.counters))
		if err != nil || string(got) != c.want {
			t.Errorf("%+v: %s, %v; want %s", c.counters, got, err, c.want)
		}
	}
}

func BenchmarkResult(b *testing.B) {
	for _, n := range []int{1000, 1000000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var entries []record.Entry
			for node := range 64 { // as they are collected: node by node
				for k := range n / 64 {
					at := int64(k*64+node) * 1000
					entries = append(entries, entry(dme.NodeID(node+1), at-60000, at, at+500))
				}
			}
			o := Observation{
				Job: jobOf(b, runs.Spec{Nodes: 64, Requests: len(entries)}), Status: runs.OK, Entries: entries,
				Nodes: counted(64, entries, 126), MeanDelay: 500, Stop: int64(n) * 1000,
			}
			for b.Loop() {
				result(o)
			}
		})
	}
}

// Node 2 asks just after node 1 has entered, and waits while it enters again: as often as
// delays of messages explain, or once more.
func TestOvertaking(t *testing.T) {
	for times, starves := range map[int]bool{36: false, 37: true} {
		o := Observation{Job: jobOf(t, runs.Spec{Nodes: 3, Requests: 6, Warmup: "0"}), Status: runs.OK, MeanDelay: 10}
		for k := range int64(times + 1) {
			o.Entries = append(o.Entries, entry(1, 10*k, 10*k, 10*k+10))
		}
		end := int64(10 * (times + 1))
		o.Entries = append(o.Entries, entry(2, 1, end, end+10), entry(3, end, end+10, end+20))
		o.Nodes, o.Stop = counted(3, o.Entries, 4), end+20
		const want = "starving: a node that had asked saw 37 entries of others before its own; at most 12 for each of 3 nodes"
		if r := result(o); warned(r, want) != starves || len(r.Warnings) > 1 {
			t.Errorf("overtaken %d times: %q", times, r.Warnings)
		}
	}
}

// What a system remarks on itself is warned of, and that responses never settle.
func TestRemarksAndTrends(t *testing.T) {
	o := Observation{Job: jobOf(t, runs.Spec{Nodes: 3, Requests: 600}), Status: runs.OK, MeanDelay: 10}
	a := *o.Job.Algorithm
	a.Remarks = func(dme.System) []string { return []string{"sets are odd"} }
	o.Job.Algorithm = &a
	for k := range int64(600) {
		o.Entries = append(o.Entries, entry(1, k*1e6, k*1e6, k*1e6+k))
	}
	o.Nodes = counted(3, o.Entries, 4)
	if r := result(o); !warned(r, "sets are odd") || !warned(r, "only 300 of 600 entries were cut") {
		t.Errorf("%q", r.Warnings)
	}
}
