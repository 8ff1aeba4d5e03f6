package measure

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dmebench/internal/record/entrylog"
	"dmebench/internal/runtime/noderun"
	"dmebench/runs"
	"dmebench/transport"
	"dmebench/workload/fault"
)

// Warm-up at its limits: twelve batches are enough, a transient of half a run is one, and
// ranks decide at one in a hundred.
func TestLimitsOfWarmup(t *testing.T) {
	batches := func(means ...int64) (values []int64) {
		for _, m := range means {
			values = append(values, m, m, m, m, m)
		}
		return values
	}
	step := func(low, high int) (values []int64) {
		for range low {
			values = append(values, 0)
		}
		for range high {
			values = append(values, 1000)
		}
		return values
	}
	for _, x := range []struct {
		name    string
		values  []int64
		cut     int
		settled bool
	}{
		{"twelve batches, one of a transient", step(5, 55), 5, true},
		{"eleven", step(5, 54), 0, true},
		{"a transient of less than half", step(250, 350), 250, true},
		{"of half", step(300, 300), 300, true},
		// Of 14 batches the last six agree. Eight before them that are all higher have a
		// p-value of 2/3003; where one of these is lower, it is some hundredths.
		{"all batches before are higher", batches(200, 290, 210, 280, 220, 270, 230, 260, 50, 51, 52, 53, 54, 55), 0, false},
		{"all but one", batches(200, 290, 210, 0, 220, 270, 230, 260, 50, 51, 52, 53, 54, 55), 0, true},
	} {
		if cut, settled := MSER5(x.values); cut != x.cut || settled != x.settled {
			t.Errorf("%s: cut %d, settled %v; want %d, %v", x.name, cut, settled, x.cut, x.settled)
		}
	}
}

// A run that failed before anything was counted has the entries that its log tells of.
func TestCountsOfTheLog(t *testing.T) {
	o := Observation{
		Job: jobOf(t, runs.Spec{Nodes: 3, Requests: 6}), Status: runs.Failed, Entries: closed(), Dropped: 2, MeanDelay: 10, Stop: 250,
	}
	r := Result(o)
	if r.Entries != 8 || r.Requests != 8 || r.Liveness.Pending != 0 || !reflect.DeepEqual(r.Spec, o.Job.Spec) {
		t.Errorf("%d entries, %d requests, %d pending, %+v", r.Entries, r.Requests, r.Liveness.Pending, r.Spec)
	}
	// With counters, they tell. More entries than requests leave nothing pending.
	o.Dropped, o.Nodes = 0, counted(3, o.Entries, 4)
	o.Nodes[0].Entries += 2
	if r := Result(o); r.Entries != 8 || r.Requests != 6 || r.Liveness.Pending != 0 {
		t.Errorf("%d entries, %d requests, %d pending", r.Entries, r.Requests, r.Liveness.Pending)
	}
}

// Messages after a cut, where the counters end with the cut or before it.
func TestMessagesAfterACut(t *testing.T) {
	entries := closed()
	for i, sent := range []uint64{4, 4, 4, 8, 8, 8} {
		entries[i].Sent = sent
	}
	o := Observation{
		Job: jobOf(t, runs.Spec{Nodes: 3, Requests: 6, Warmup: "4"}), Status: runs.OK,
		Entries: entries, Nodes: counted(3, entries, 4), MeanDelay: 10, Stop: 250,
	}
	// The cut is at 120, node 1's last exit and event. Node 2 has sent 4 at 70 and 8 at 150,
	// node 3 has sent 4 at 90 and 8 at 250.
	wants(t, "after the last event of a node", Result(o).Messages.SteadyPerCS, (24-8-(4+4*50./80)-(4+4*30./160))/2)
	for i := range o.Nodes {
		o.Nodes[i].Entries = 1
	}
	wants(t, "three entries by the counters, four cut", Result(o).Messages.SteadyPerCS, math.NaN())
	o.Nodes[0].Entries = 2
	wants(t, "four and four", Result(o).Messages.SteadyPerCS, math.NaN())
}

// The steady part of a run that does not begin at 0, and of one whose log was full before a
// node had entered.
func TestSteadyPartByHand(t *testing.T) {
	entries := closed()
	for i := range entries {
		e := &entries[i]
		for _, at := range []*int64{&e.Intended, &e.Arrived, &e.Requested, &e.Entered, &e.Exited} {
			*at += 1000
		}
	}
	o := Observation{
		Job: jobOf(t, runs.Spec{Nodes: 4, Requests: 60, Warmup: "0"}), Status: runs.Stalled,
		Entries: entries, Nodes: counted(4, entries, 4), Start: 1000, Stop: 1250,
	}
	part := newTimeline(entries).steady(&o)
	wants(t, "throughput", part.throughput(), 6/250e-9)
	wants(t, "between critical sections", part.delay(), (250-120)/6.)
	o.Dropped = 1 // node 1 may have entered after 1120, node 4 has not been seen
	part = newTimeline(entries).steady(&o)
	wants(t, "throughput until the log was full", part.throughput(), 4/120e-9)
	o.Dropped = 0
	o.Entries[0].Node = 5
	if part := newTimeline(o.Entries).steady(&o); part.entries != 6 || part.byNode[0] != 1 {
		t.Errorf("with a record of nobody: %+v", part)
	}
	for name, s := range map[string]steady{
		"one entry": {entries: 1, end: 100}, "no time": {entries: 9}, "less than none": {entries: 9, begin: 5, end: 4},
		"one entry in no time": {entries: 1, begin: 5, end: 4},
	} {
		if s.throughput() != nil || s.delay() != nil {
			t.Errorf("%s: throughput %v, delay %v", name, s.throughput(), s.delay())
		}
	}
	// A node without a share that entered all the same says nothing of the load.
	o.Job = jobOf(t, runs.Spec{Nodes: 3, Requests: 2, Warmup: "0"})
	unasked := []entrylog.Entry{entry(3, 0, 1, 2), entry(1, 0, 3, 40), entry(2, 0, 45, 90)}
	if end := newTimeline(unasked).ranOut(&o); end != 40 {
		t.Errorf("the load falls from %d on, want 40", end)
	}
	if end := newTimeline(nil).ranOut(&Observation{Job: o.Job, Stop: 77}); end != 77 {
		t.Errorf("a run without entries runs out at %d", end)
	}
}

// The least that there can be of something is something.
func TestTheLeast(t *testing.T) {
	r := Result(Observation{
		Job: jobOf(t, runs.Spec{Nodes: 2, Workload: "poisson", TotalRate: 0.5, Requests: 20}), Status: runs.OK,
		Nodes: counted(2, nil, 1), HandoverDelays: []int64{7}, Delays: []int64{9},
	})
	wants(t, "half an entry per second is offered", r.Offered, 0.5)
	wants(t, "one delay", r.T, 9)
	wants(t, "one delay of a hand-over", r.THandover, 7)
	if s := newTimeline([]entrylog.Entry{entry(1, 0, 0, 1)}).series(0); s == nil || s.IntervalNS != 1 || len(s.Entries) != 1 {
		t.Errorf("the course of a nanosecond: %+v", s)
	}
	if s := newTimeline([]entrylog.Entry{entry(1, 0, 0, 0)}).series(0); s != nil {
		t.Errorf("the course of no time: %+v", s)
	}
	if w := Wire(transport.Counters{Packets: 1}); w.Packets == nil || *w.Packets != 1 {
		t.Errorf("one packet: %v", w.Packets)
	}
	h, err := hdrhistogram.Decode([]byte(histogram([]int64{-1, 0, 5})))
	if err != nil || h.TotalCount() != 2 || h.Max() != 5 {
		t.Errorf("0 and 5: %v, %v", h, err)
	}
	one := []entrylog.Entry{entry(1, 0, 10, 17)}
	r = Result(Observation{Job: jobOf(t, runs.Spec{Nodes: 1, Requests: 1}), Status: runs.OK, Entries: one, Nodes: counted(1, one, 0)})
	wants(t, "one critical section", r.CS, 7)
}

// The exit of an update is that of its record, be it the first one.
func TestExitsOfUpdates(t *testing.T) {
	o := Observation{Entries: []entrylog.Entry{entry(1, 0, 10, 20), entry(2, 0, 30, 40)}}
	for _, x := range []struct {
		u    entrylog.Update
		want int64
	}{
		{entrylog.Update{Node: 1, Entered: 10, Left: 19}, 20}, {entrylog.Update{Node: 2, Entered: 30, Left: 39}, 40},
		{entrylog.Update{Node: 2, Entered: 10, Left: 19}, 19}, {entrylog.Update{Node: 1, Entered: 11, Left: 19}, 19},
	} {
		if got := o.exit(x.u); got != x.want {
			t.Errorf("%+v was left at %d, want %d", x.u, got, x.want)
		}
	}
}

// Without hosts, all is on the clock of the start.
func TestSinceTheStart(t *testing.T) {
	if got := (&Observation{Start: 50}).since(1, 80); got != 30 {
		t.Errorf("%d", got)
	}
}

// Writers alone increment a resource.
func TestOnlyWritersIncrement(t *testing.T) {
	entries := []entrylog.Entry{entry(1, 0, 1, 2), entry(2, 0, 3, 4), entry(3, 0, 5, 6)}
	entries[1].Shared = true
	tl := newTimeline(entries)
	if why := tl.distrustResource(&Resource{Updates: 2, Count: 2}); why != "" {
		t.Error(why)
	}
	if why := tl.distrustResource(&Resource{Updates: 1, Count: 1}); !strings.HasPrefix(why, "2 entries were to increment") {
		t.Errorf("%q", why)
	}
	if why := tl.distrustResource(&Resource{Updates: 1, Count: 1, Lost: 1}); why != "" {
		t.Errorf("an update was lost, which is said elsewhere: %q", why)
	}
}

// Two nodes that claim one place are named in their order, whoever's record comes first.
func TestWhoClaimsTwice(t *testing.T) {
	b := pair(4)
	for _, ids := range [][2]int{{0, 1}, {1, 0}} {
		entries := []entrylog.Entry{entry(1, 0, 1e6, 2e6), entry(3, 0, 3e6, 4e6), entry(2, 0, 5e6, 6e6)}
		entries[0].Order, entries[1].Order, entries[2].Order = 1, 1, 1
		entries[0], entries[1] = entries[ids[0]], entries[ids[1]]
		r := Result(b.observe(t, runs.Spec{Nodes: 4, Requests: 3, Warmup: "0"}, entries))
		if !slices.Equal(r.FailedNodes, []int{1, 3}) || !strings.Contains(r.Error, "nodes 1 and 3 both claim entry 1") {
			t.Errorf("%v: %s", r.FailedNodes, r.Error)
		}
	}
	// A record of node 0 is one of nobody.
	o := Observation{Job: jobOf(t, runs.Spec{Nodes: 2, Requests: 1}), Status: runs.OK, Entries: []entrylog.Entry{entry(0, 0, 1, 2)}}
	o.Nodes = make([]noderun.Counts, 2)
	if r := Result(o); r.Status != runs.Failed || !strings.Contains(r.Error, "there is a record of node 0 of 2") {
		t.Errorf("%s", r.Error)
	}
	// A run of one node is looked at as well, and one with a fault is not.
	o = Observation{Job: jobOf(t, runs.Spec{Nodes: 1, Requests: 1}), Status: runs.OK, Entries: []entrylog.Entry{entry(1, 0, 1, 2)}}
	o.Nodes = []noderun.Counts{{Requests: 2, Entries: 1}}
	if r := Result(o); r.Status != runs.Failed || !slices.Equal(r.FailedNodes, []int{1}) {
		t.Errorf("one node: %s, %v", r.Status, r.FailedNodes)
	}
	o.Job.Faults = make([]fault.Fault, 1)
	if r := Result(o); r.Status != runs.OK {
		t.Errorf("with a fault: %s, %s", r.Status, r.Error)
	}
}

// What a trace offers is counted from the start of the run to the last arrival that it
// lists.
func TestOfferedByATrace(t *testing.T) {
	entries := []entrylog.Entry{late(1, 1000, 1000, 1000, 1000, 1100), late(2, 1500, 1600, 1600, 1600, 1700)}
	r := Result(Observation{
		Job: jobOf(t, runs.Spec{Nodes: 2, Workload: "trace", Set: map[string]string{"file": "x"}}), Status: runs.OK,
		Entries: entries, Nodes: counted(2, entries, 1), Start: 1000, Stop: 1700,
	})
	wants(t, "offered", r.Offered, 2/500e-9)
}

// An open run in which nobody entered has nothing to say of its generator.
func TestAnOpenRunWithoutEntries(t *testing.T) {
	job := jobOf(t, runs.Spec{Nodes: 2, Workload: "poisson", TotalRate: 5, Requests: 20})
	r := Result(Observation{Job: job, Status: runs.OK, Nodes: counted(2, nil, 1)})
	wants(t, "offered", r.Offered, 5)
	if r.Lateness != nil || r.WaitingTime != nil {
		t.Errorf("lateness %+v, waiting %+v", r.Lateness, r.WaitingTime)
	}
}

// Nodes that never ask, as in a run with hot spots, are no unfairness; who asks and is
// not served is.
func TestJainOfThoseWhoAsk(t *testing.T) {
	entries := []entrylog.Entry{entry(1, 0, 1, 2), entry(2, 3, 4, 5), entry(1, 6, 7, 8), entry(2, 9, 10, 11)}
	nodes := counted(4, entries, 1)
	o := Observation{
		Job: jobOf(t, runs.Spec{Nodes: 4, Requests: 400, Warmup: "0"}), Status: runs.OK, Entries: entries, Nodes: nodes, Stop: 11,
	}
	wants(t, "two of four ask", Result(o).Fairness.Jain, 1)
	nodes[3].Requests = 1
	wants(t, "a third is not served", Result(o).Fairness.Jain, 2./3)
}

// A run of which nothing was counted is not distrusted, and one whose counts disagree
// names the nodes.
func TestWhoIsDistrusted(t *testing.T) {
	entries := closed()
	o := Observation{Job: jobOf(t, runs.Spec{Nodes: 3, Requests: 6}), Status: runs.OK, Entries: entries, MeanDelay: 10, Stop: 250}
	if r := Result(o); r.Status != runs.OK {
		t.Errorf("nothing was counted: %s, %s", r.Status, r.Error)
	}
	o.Nodes = counted(3, entries, 4)
	o.Nodes[0].Requests++
	o.Nodes[2].Entries++
	o.Nodes[2].Requests++
	if r := Result(o); r.Status != runs.Failed || !slices.Equal(r.FailedNodes, []int{1, 3}) {
		t.Errorf("%s of nodes %v: %s", r.Status, r.FailedNodes, r.Error)
	}
}

// One hand-over between hosts is one whose bound is told, and one between hosts of which
// nothing is known is one too many.
func TestOneHandOverBetweenHosts(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 44))
	b := onHosts(rng, []ahead{{}, {}}, 2, 20e6, 1e6, 30e3, false)
	entries := []entrylog.Entry{entry(1, 0, 1e6, 2e6), entry(2, 0, 3e6, 4e6)}
	o := b.observe(t, runs.Spec{Nodes: 2, Requests: 2, Warmup: "0"}, entries)
	r := Result(o)
	if r.SyncDelay == nil || r.SyncDelay.Count != 1 || r.SyncDelayBound == nil || *r.SyncDelayBound < 100 || *r.SyncDelayBound > 31e3 {
		t.Errorf("%+v ± %v", r.SyncDelay, r.SyncDelayBound)
	}
	o.Hosts = slices.Clone(o.Hosts)
	o.Hosts[1] = Host{Host: o.Hosts[1].Host, Relation: onHosts(rng, []ahead{{}}, 1, 0, 1, 1, false).hosts[0].Relation}
	if r := Result(o); r.SyncDelay != nil || !warned(r, "1 hand-overs were between hosts whose clocks cannot be compared") {
		t.Errorf("%+v, %q", r.SyncDelay, r.Warnings)
	}
}

// Intervals that touch do not overlap, not even one that may be nowhere.
func TestTouchingIsNotOverlapping(t *testing.T) {
	for _, x := range []struct {
		a, b span
		want []bool
	}{
		{span{begin: 0, end: 5}, span{begin: 5, end: 20}, []bool{false, false}},
		{span{begin: 0, end: 6}, span{begin: 5, end: 20}, []bool{false, true}},
		{span{begin: 5, end: 20}, span{begin: 10, end: 5}, []bool{false, false}}, // ends before it begins
		{span{begin: 5, end: 20}, span{begin: 10, end: 6}, []bool{false, true}},
		{span{begin: 5, end: 20}, span{begin: 5, end: 20}, []bool{false, true}},
		{span{begin: 5, end: 20}, span{begin: 5, end: 5}, []bool{false, false}},
		{span{begin: 5, end: 20, shared: true}, span{begin: 6, end: 20, shared: true}, []bool{false, false}},
		{span{begin: 5, end: 20, shared: true}, span{begin: 6, end: 20}, []bool{false, true}},
	} {
		x.b.ofB, x.b.entry = true, 1
		mark := make([]bool, 2)
		if overlapping([]span{x.a, x.b}, mark); !slices.Equal(mark, x.want) {
			t.Errorf("%+v and %+v: %v, want %v", x.a, x.b, mark, x.want)
		}
	}
}

// The steady part between two marks, by hand: three entries, those of the second to the
// fourth exit, and the hand-overs to them; the last mark is after the load has begun to
// fall.
func TestSteadyFiguresByHand(t *testing.T) {
	entries := []entrylog.Entry{
		late(1, 0, 1, 2, 20, 40), late(2, 0, 2, 3, 50, 70), late(3, 10, 11, 12, 82, 90), late(1, 40, 41, 42, 104, 120),
		late(2, 70, 71, 72, 136, 150), late(3, 100, 101, 102, 170, 250),
	}
	mark := func(at int64, exits, ask, grant, transmissions uint64) (m Mark) {
		m.At, m.Exits, m.Transmissions = at, exits, transmissions
		m.Sent[1], m.Sent[2] = ask, grant
		return m
	}
	o := Observation{
		Job: jobOf(t, runs.Spec{Nodes: 3, Requests: 6}), Status: runs.OK, Entries: entries, Nodes: counted(3, entries, 4),
		MeanDelay: 10, Stop: 250, Marks: []Mark{mark(40, 1, 4, 1, 3), mark(120, 4, 10, 4, 8), mark(250, 6, 18, 9, 15)},
	}
	s := Result(o).Steady
	if s == nil || s.Entries != 3 || s.Messages != 9 || s.Transmissions != 5 || s.ByKind["ASK"] != 6 || s.ByKind["GRANT"] != 3 {
		t.Fatalf("%+v", s)
	}
	wants(t, "throughput", s.Throughput, 3/80e-9)
	wants(t, "response", s.Response, (67+78+78)/3.)
	wants(t, "waiting", s.Waiting, (50+72+64)/3.)
	wants(t, "synchronization delay", s.SyncDelay, (10+12+14)/3.)
	all := o // of a run that stands still at its last exit, that exit is one of the steady part
	all.Job = jobOf(t, runs.Spec{Nodes: 3, Requests: 600})
	if all.Status = runs.Stalled; Result(all).Steady == nil || Result(all).Steady.Entries != 5 {
		t.Errorf("to the last exit: %+v", Result(all).Steady)
	}
	for name, change := range map[string]func(*Observation){
		"one mark":          func(o *Observation) { o.Marks = o.Marks[:1] },
		"the others after":  func(o *Observation) { o.Marks = []Mark{o.Marks[0], o.Marks[2]} },
		"some not recorded": func(o *Observation) { o.Dropped = 1 },
	} {
		o := o
		if change(&o); Result(o).Steady != nil {
			t.Errorf("%s: there is a steady part", name)
		}
	}
}
