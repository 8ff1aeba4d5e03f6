package measure

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/record/entrylog"
	"dmebench/internal/runtime/noderun"
	"dmebench/runs"
	"dmebench/transport"
)

// closed is a run of three nodes that a pencil can check; times in units of 10.
//
//	node 1   R0 E2---4 R4       E10--12
//	node 2   R0      E5---7 R7           E13--15
//	node 3     R1       E8---9                     R20 E22--25
func closed() []entrylog.Entry {
	e := []entrylog.Entry{
		entry(1, 0, 20, 40), entry(2, 0, 50, 70), entry(3, 10, 80, 90),
		entry(1, 40, 100, 120), entry(2, 70, 130, 150), entry(3, 200, 220, 250),
	}
	for i, clock := range []uint64{1, 1, 2, 3, 3, 4} {
		e[i].Clock = clock
	}
	return e
}

func TestByHand(t *testing.T) {
	entries := closed()
	// Sent, when each left: 4 messages an entry, sent before it.
	for i, sent := range []uint64{4, 4, 4, 8, 8, 8} {
		entries[i].Sent = sent
	}
	nodes := counted(3, entries, 4)
	nodes[0].Sent[1], nodes[0].Sent[2] = 5, 3 // of the 8
	nodes[1].Handled[1], nodes[1].Handled[2] = 5, 3
	nodes[2].LongestQueue, nodes[1].LongestMessage = 7, 30
	r := Result(Observation{
		Job: jobOf(t, runs.Spec{Nodes: 3, Requests: 6, Warmup: "0"}), Status: runs.OK,
		Entries: entries, Nodes: nodes, MeanDelay: 10, Start: 0, Stop: 250, Method: "virtual-time",
	})
	if r.Status != runs.OK || r.Requests != 6 || r.Entries != 6 {
		t.Errorf("status %s (%s), %d requests, %d entries", r.Status, r.Error, r.Requests, r.Entries)
	}
	wants(t, "messages per CS", r.Messages.PerCS, 4)
	wants(t, "steady messages per CS", r.Messages.SteadyPerCS, 4)
	if r.Messages.Total != 24 || r.Messages.ByKind["ASK"] != 21 || r.Messages.ByKind["GRANT"] != 3 || r.Messages.PerEntry != nil {
		t.Errorf("messages %+v", r.Messages)
	}
	// Response: 40, 70, 80, 80, 80, 50. Waiting: 20, 50, 70, 60, 60, 20.
	if q := *r.ResponseTime; q != (runs.Quantiles{Count: 6, Mean: 400. / 6, P50: 70, P90: 80, P99: 80, P999: 80, Max: 80}) {
		t.Errorf("response time %+v", q)
	}
	if q := *r.WaitingTime; q != (runs.Quantiles{Count: 6, Mean: 280. / 6, P50: 50, P90: 70, P99: 70, P999: 70, Max: 70}) {
		t.Errorf("waiting time %+v", q)
	}
	// Exits with another request pending: 40→50, 70→80, 90→100, 120→130. At 150
	// nobody waits: the 70 until 220 are no hand-over.
	if q := *r.SyncDelay; q != (runs.Quantiles{Count: 4, Mean: 10, P50: 10, P90: 10, P99: 10, P999: 10, Max: 10}) {
		t.Errorf("synchronization delay %+v", q)
	}
	wants(t, "SD/T", r.SyncDelayOverT, 1)
	wants(t, "T", r.T, 10)
	wants(t, "critical section", r.CS, (20+20+10+20+20+30)/6.)
	// Node 1 runs out first, at 120, after four entries of all: 2 by node 1.
	wants(t, "throughput", r.Throughput, 4/120e-9)
	wants(t, "Jain", r.Fairness.Jain, 16./(3*(4+1+1)))
	// Between request and entry of node 1's second: nodes 2 and 3.
	if f := r.Fairness; f.LongestRun != 1 || f.MaxBypass != 2 || f.OutOfOrder != 0 {
		t.Errorf("fairness %+v", f)
	}
	wants(t, "work", r.Work.MaxOverMean, 1)
	if r.Work.LongestQueue != 7 || r.Work.LongestBytes != 30 || !slices.Equal(r.Work.SentByNode, []uint64{8, 8, 8}) {
		t.Errorf("work %+v", r.Work)
	}
	if r.Safety != (runs.Safety{Checked: 6, Method: "virtual-time"}) || r.Liveness.Stalled || r.Liveness.Pending != 0 {
		t.Errorf("safety %+v, liveness %+v", r.Safety, r.Liveness)
	}
	if r.Warmup != (runs.Warmup{Method: "none"}) || len(r.Warnings) != 0 || r.Lateness != nil || r.Offered != nil {
		t.Errorf("warm-up %+v, warnings %q, lateness %v", r.Warmup, r.Warnings, r.Lateness)
	}
}

func TestGivenWarmup(t *testing.T) {
	entries := closed()
	for i, sent := range []uint64{4, 4, 4, 8, 8, 8} {
		entries[i].Sent = sent
	}
	r := Result(Observation{
		Job: jobOf(t, runs.Spec{Nodes: 3, Requests: 6, Warmup: "2"}), Status: runs.OK,
		Entries: entries, Nodes: counted(3, entries, 4), MeanDelay: 10, Stop: 250,
	})
	if r.Warmup != (runs.Warmup{Entries: 2, Method: "given"}) {
		t.Errorf("warm-up %+v", r.Warmup)
	}
	// The cut is at 70. Node 1 has sent 4 at 40 and 8 at 120: 5.5. Node 2 has
	// sent 4. Node 3 has sent 0 at 0 and 4 at 90: 28/9.
	wants(t, "steady messages per CS", r.Messages.SteadyPerCS, (24-5.5-4-28./9)/4)
	// From 70 to 120, when node 1 runs out: one entry by node 3, one by node 1.
	wants(t, "throughput", r.Throughput, 2/50e-9)
	wants(t, "Jain", r.Fairness.Jain, 4./(3*2))
	wants(t, "messages per CS", r.Messages.PerCS, 4)
	if r.ResponseTime.Count != 6 {
		t.Errorf("%d response times, want all 6", r.ResponseTime.Count)
	}

	r = Result(Observation{
		Job: jobOf(t, runs.Spec{Nodes: 3, Requests: 6, Warmup: "600"}), Status: runs.OK,
		Entries: entries, Nodes: counted(3, entries, 4), MeanDelay: 10, Stop: 250,
	})
	wants(t, "throughput after everything was cut", r.Throughput, math.NaN())
	wants(t, "messages after everything was cut", r.Messages.SteadyPerCS, math.NaN())
	wants(t, "Jain after everything was cut", r.Fairness.Jain, math.NaN())
}

func TestWhenTheSteadyPartEnds(t *testing.T) {
	ten := func(node dme.NodeID, n int, period int64) (e []entrylog.Entry) {
		for k := range int64(n) {
			e = append(e, entry(node, k*period, k*period+1, k*period+2))
		}
		return e
	}
	// Node 1 leaves every 1000 ns until 4002, node 2 until 9102 (in between).
	entries := ten(1, 5, 1000)
	for _, e := range ten(2, 10, 1000) {
		entries = append(entries, entry(2, e.Requested+100, e.Entered+100, e.Exited+100))
	}
	for _, x := range []struct {
		name    string
		spec    runs.Spec
		status  runs.Status
		stop    int64
		dropped uint64
		want    float64
	}{
		{"node 2's share is 5 too, and it made more", runs.Spec{Requests: 10}, runs.OK, 9102, 0, 9 / 4002e-9},
		{"nobody has run out", runs.Spec{Requests: 30}, runs.Stalled, 9102, 0, 15 / 9102e-9},
		{"the duration ends", runs.Spec{Duration: runs.Duration(3050)}, runs.OK, 3050, 0, 7 / 3050e-9},
		{"the duration of a run that failed means nothing", runs.Spec{Duration: runs.Duration(time.Hour)}, runs.Failed,
			int64(time.Hour), 0, 15 / 9102e-9},
		{"the log was full", runs.Spec{Duration: runs.Duration(20000)}, runs.OK, 20000, 3, 9 / 4002e-9},
		{"steps", runs.Spec{Workload: "serial", Requests: 15}, runs.OK, 9102, 0, 15 / 9102e-9},
		{"a trace", runs.Spec{Workload: "trace", Set: map[string]string{"file": "x"}}, runs.OK, 9102, 0, 15 / 9102e-9},
	} {
		x.spec.Nodes, x.spec.Warmup = 2, "0"
		r := Result(Observation{
			Job: jobOf(t, x.spec), Status: x.status, Entries: entries, Dropped: x.dropped,
			Nodes: counted(2, entries, 0), Stop: x.stop, MeanDelay: 1,
		})
		wants(t, x.name, r.Throughput, x.want)
	}
}

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
		var entries []entrylog.Entry
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
		r := Result(Observation{Job: job, Status: runs.OK, Entries: entries, Nodes: counted(2, entries, 0), Stop: 9500, MeanDelay: 1})
		wants(t, x.name, r.Throughput, float64(x.exits)/(float64(x.until)*1e-9))
	}
}

func TestStatus(t *testing.T) {
	base := func() Observation {
		e := closed()
		return Observation{
			Job: jobOf(t, runs.Spec{Nodes: 3, Requests: 6, Warmup: "0"}), Status: runs.OK,
			Entries: e, Nodes: counted(3, e, 4), MeanDelay: 10, Stop: 250, Method: "shared-page",
		}
	}
	for _, x := range []struct {
		name       string
		change     func(o *Observation)
		status     runs.Status
		violations uint64
		says       string
	}{
		{"nothing", func(*Observation) {}, runs.OK, 0, ""},
		{"the witness saw more than the intervals", func(o *Observation) { o.WitnessViolations = 3 }, runs.Violated, 3, ""},
		{"the intervals saw one", func(o *Observation) { o.Entries[0].Exited = 60 }, runs.Violated, 1, ""},
		{"both saw it", func(o *Observation) { o.Entries[0].Exited = 60; o.WitnessViolations = 1 }, runs.Violated, 1, ""},
		{"an entry without a request", func(o *Observation) { o.Nodes[1].Unasked = 2; o.WitnessViolations = 1 }, runs.Violated, 3, ""},
		{"a stall", func(o *Observation) { o.Status = runs.Stalled; o.Nodes[0].Requests += 2 }, runs.Stalled, 0, ""},
		{"a stall after a violation", func(o *Observation) { o.Status = runs.Stalled; o.WitnessViolations = 1 }, runs.Violated, 1, ""},
		{"a failure after a violation", func(o *Observation) { o.Status = runs.Failed; o.WitnessViolations = 1 }, runs.Violated, 1, ""},
		{"a message lost", func(o *Observation) { o.Nodes[2].Handled[1]-- }, runs.Failed, 0, "24 ASK sent and 23 handled"},
		{"one taken for another", func(o *Observation) { o.Nodes[2].Handled[1]--; o.Nodes[2].Handled[0]++ }, runs.Failed, 0,
			"0 foreign sent and 1 handled, 24 ASK sent and 23 handled"},
		{"an entry that was not recorded", func(o *Observation) { o.Entries = o.Entries[1:] }, runs.Failed, 0, "entries and recorded"},
		{"an entry counted twice", func(o *Observation) { o.Nodes[1].Entries++; o.Nodes[1].Requests++ }, runs.Failed, 0, "node 2 has made"},
		{"a request that nobody has made", func(o *Observation) { o.Nodes[1].Requests-- }, runs.Failed, 0, "node 2 has made"},
		{"a record of nobody", func(o *Observation) { o.Entries[2].Node = 9 }, runs.Failed, 0, "a record of node 9 of 3"},
		{"a place claimed twice", func(o *Observation) {
			for i := range o.Entries {
				o.Entries[i].Order = uint64(i + 1)
			}
			o.Entries[1].Order = 1
		}, runs.Failed, 0, "both claim entry 1"},
		{"a message lost by a run that never was quiet", func(o *Observation) { o.Status = runs.Stalled; o.Nodes[2].Handled[1]-- },
			runs.Stalled, 0, ""},
	} {
		o := base()
		x.change(&o)
		r := Result(o)
		if r.Status != x.status || r.Safety.Violations != x.violations || !strings.Contains(r.Error, x.says) {
			t.Errorf("%s: status %s, %d violations, error %q", x.name, r.Status, r.Safety.Violations, r.Error)
		}
		if r.Liveness.Stalled != (o.Status == runs.Stalled) {
			t.Errorf("%s: stalled is %v", x.name, r.Liveness.Stalled)
		}
	}
	o := base()
	o.Status, o.Nodes[0].Requests, o.States = runs.Stalled, 4, []string{"node 1: x"}
	if r := Result(o); r.Liveness.Pending != 2 || len(r.Liveness.States) != 1 {
		t.Errorf("liveness %+v, want 2 pending", r.Liveness)
	}
	o.Method, o.Entries = "", o.Entries[:4]
	if r := Result(o); r.Safety.Method != "intervals" || r.Safety.Checked != 4 {
		t.Errorf("without a witness: safety %+v", r.Safety)
	}
}

// TestNothingObserved has nothing to measure: every figure must be absent.
func TestNothingObserved(t *testing.T) {
	r := Result(Observation{Job: jobOf(t, runs.Spec{Nodes: 3}), Status: runs.Failed, Error: "no worker came"})
	text := encode(t, r)
	for _, null := range []string{
		`"throughput_cs_per_s":null`, `"response_time_ns":null`, `"waiting_time_ns":null`, `"sync_delay_ns":null`,
		`"t_ns":null`, `"sync_delay_over_t":null`, `"cs_ns":null`, `"lateness_ns":null`, `"jain":null`,
		`"max_over_mean":null`, `"per_cs":null`, `"steady_per_cs":null`, `"per_entry":null`,
		`"environment":{}`, `"sent_by_node":[]`, `"by_kind":{"ASK":0,"GRANT":0}`,
	} {
		if !strings.Contains(text, null) {
			t.Errorf("%s is not in %s", null, text)
		}
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
			o.Nodes[i] = noderun.Counts{Entries: rng.Uint64N(40), Requests: rng.Uint64N(40), SentTotal: rng.Uint64(), LastMove: when()}
		}
		for range rng.IntN(100) {
			o.Entries = append(o.Entries, entrylog.Entry{
				Node: dme.NodeID(rng.IntN(spec.Nodes + 1)), Shared: rng.IntN(3) == 0,
				Intended: when(), Arrived: when(), Requested: when(), Entered: when(), Exited: when(),
				Clock: rng.Uint64N(5), Order: rng.Uint64N(3), Sent: rng.Uint64N(1000),
			})
		}
		before := slices.Clone(o.Entries)
		text := encode(t, Result(o))
		if !slices.Equal(o.Entries, before) || !slices.Equal(o.FailedNodes, []int{3, 1}) {
			t.Fatal("Result changed its input")
		}
		rng.Shuffle(len(o.Entries), func(i, j int) { o.Entries[i], o.Entries[j] = o.Entries[j], o.Entries[i] })
		if again := encode(t, Result(o)); again != text {
			t.Fatalf("the order of the entries changes the result:\n%s\n%s", text, again)
		}
	}
}

// TestWarmupLooksAtTheSteadyPartOnly has responses that get faster once node 1
// has run out of requests: that is the end, and no warm-up.
func TestWarmupLooksAtTheSteadyPartOnly(t *testing.T) {
	var entries []entrylog.Entry
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
	r := Result(Observation{
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
