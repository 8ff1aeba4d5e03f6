package measure

import (
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/internal/entrylog"
	"dmebench/result"
)

// What a trace offers is counted from the start of the run to the last arrival that it
// lists.
func TestOfferedByATrace(t *testing.T) {
	entries := []entrylog.Entry{late(1, 1000, 1000, 1000, 1000, 1100), late(2, 1500, 1600, 1600, 1600, 1700)}
	r := Result(Observation{
		Job: jobOf(t, result.Spec{Nodes: 2, Workload: "trace", Set: map[string]string{"file": "x"}}), Status: result.OK,
		Entries: entries, Nodes: counted(2, entries, 1), Start: 1000, Stop: 1700,
	})
	wants(t, "offered", r.Offered, 2/500e-9)
}

// An open run in which nobody entered has nothing to say of its generator.
func TestAnOpenRunWithoutEntries(t *testing.T) {
	job := jobOf(t, result.Spec{Nodes: 2, Workload: "poisson", TotalRate: 5, Requests: 20})
	r := Result(Observation{Job: job, Status: result.OK, Nodes: counted(2, nil, 1)})
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
		Job: jobOf(t, result.Spec{Nodes: 4, Requests: 400, Warmup: "0"}), Status: result.OK, Entries: entries, Nodes: nodes, Stop: 11,
	}
	wants(t, "two of four ask", Result(o).Fairness.Jain, 1)
	nodes[3].Requests = 1
	wants(t, "a third is not served", Result(o).Fairness.Jain, 2./3)
}

// A run of which nothing was counted is not distrusted, and one whose counts disagree
// names the nodes.
func TestWhoIsDistrusted(t *testing.T) {
	entries := closed()
	o := Observation{Job: jobOf(t, result.Spec{Nodes: 3, Requests: 6}), Status: result.OK, Entries: entries, MeanDelay: 10, Stop: 250}
	if r := Result(o); r.Status != result.OK {
		t.Errorf("nothing was counted: %s, %s", r.Status, r.Error)
	}
	o.Nodes = counted(3, entries, 4)
	o.Nodes[0].Requests++
	o.Nodes[2].Entries++
	o.Nodes[2].Requests++
	if r := Result(o); r.Status != result.Failed || !slices.Equal(r.FailedNodes, []int{1, 3}) {
		t.Errorf("%s of nodes %v: %s", r.Status, r.FailedNodes, r.Error)
	}
}

// One hand-over between hosts is one whose bound is told, and one between hosts of which
// nothing is known is one too many.
func TestOneHandOverBetweenHosts(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 44))
	b := onHosts(rng, []ahead{{}, {}}, 2, 20e6, 1e6, 30e3, false)
	entries := []entrylog.Entry{entry(1, 0, 1e6, 2e6), entry(2, 0, 3e6, 4e6)}
	o := b.observe(t, result.Spec{Nodes: 2, Requests: 2, Warmup: "0"}, entries)
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
		Job: jobOf(t, result.Spec{Nodes: 3, Requests: 6}), Status: result.OK, Entries: entries, Nodes: counted(3, entries, 4),
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
	all.Job = jobOf(t, result.Spec{Nodes: 3, Requests: 600})
	if all.Status = result.Stalled; Result(all).Steady == nil || Result(all).Steady.Entries != 5 {
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
