package measure

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/platform/clock"
	"dmebench/internal/platform/clock/exchange"
	"dmebench/internal/record/entrylog"
	"dmebench/internal/runtime/noderun"
	"dmebench/runs"
)

// pair are two hosts whose clocks are known to within some 15 µs; node 1 is on the first,
// node 2 on the second, and so on.
func pair(nodes int) *testbed {
	return onHosts(rand.New(rand.NewPCG(51, 52)), []ahead{{7e6, 0}, {50e6, 0}}, nodes, 100e6, 1e6, 30e3, false)
}

// unknown replaces a host's clock by one of which nothing is known.
func unknown(o *Observation, host int) {
	o.Hosts = slices.Clone(o.Hosts)
	o.Hosts[host].Relation = new(clock.Relation)
}

// set makes the clock of a host one that was set by a nanosecond more than can be drift.
func set(o *Observation, host int) {
	o.Hosts = slices.Clone(o.Hosts)
	o.Hosts[host].Relation, o.Hosts[host].Error = new(clock.Relation), time.Microsecond
	contradict(o.Hosts[host].Relation)
}

// contradict makes exchanges that do not agree, by one nanosecond.
func contradict(r *clock.Relation) {
	before := clock.Exchange{Sent: 0, Received: 43e6, Answered: 43e6, Returned: 10}
	after := clock.Exchange{Sent: 100, Received: 43e6 + 100, Answered: 43e6 + 100, Returned: 110}
	for try := new(clock.Relation); try.Contradiction() == 0; {
		after.Received, after.Answered = after.Received+1, after.Answered+1
		try = new(clock.Relation)
		try.Add(before)
		try.Add(after)
	}
	r.Add(before)
	r.Add(after)
}

var serial = runs.Spec{Nodes: 2, Requests: 4, Warmup: "0"}

// Whether somebody waits all the time depends on the workload and what it sets.
func TestWhatSaturates(t *testing.T) {
	set := func(s ...string) map[string]string {
		m := make(map[string]string)
		for i := 0; i < len(s); i += 2 {
			m[s[i]] = s[i+1]
		}
		return m
	}
	for _, x := range []struct {
		s    runs.Spec
		want bool
	}{
		{runs.Spec{Workload: "saturate"}, true},
		{runs.Spec{Workload: "saturate", Set: set("think", "0", "readers", "0")}, true},
		{runs.Spec{Workload: "saturate", Set: set("think", "1ms")}, false},
		{runs.Spec{Workload: "saturate", Set: set("readers", "0.5")}, false},
		{runs.Spec{Workload: "saturate", Set: set("think", "1ms", "readers", "0")}, false},
		{runs.Spec{Workload: "poisson"}, false},
		{runs.Spec{Workload: "poisson", Set: set("think", "1ms", "readers", "0.5")}, false},
	} {
		if got := saturating(&x.s); got != x.want {
			t.Errorf("%+v: %v", x.s, got)
		}
	}
}

// Violations that different observers saw: what nobody asked for is one of its own beside
// those that the witness, the intervals or the resource have seen.
func TestViolationsAddUp(t *testing.T) {
	entries := []entrylog.Entry{entry(1, 0, 1e6, 2e6), entry(2, 0, 3e6, 4e6)}
	o := pair(2).observe(t, serial, entries)
	o.Nodes[0].Unasked = 1
	if s := Result(o).Safety; s.Violations != 1 || s.Method != "witness+intervals" {
		t.Errorf("one that nobody asked for: %+v", s)
	}
	o.Method, o.Resource = "", &Resource{Updates: 2, Count: 2, Lost: 3}
	if s := Result(o).Safety; s.Violations != 4 || s.Method != "intervals" {
		t.Errorf("three lost updates more: %+v", s)
	}
	o.WitnessViolations = 9
	if s := Result(o).Safety; s.Violations != 10 {
		t.Errorf("nine seen by a witness: %+v", s)
	}
	one := Observation{
		Job: jobOf(t, serial), Status: runs.OK, Entries: entries, Nodes: counted(2, entries, 1), MeanDelay: 10, Stop: 4e6,
		Resource: &Resource{Updates: 2, Count: 2, Lost: 3},
	}
	if r := Result(one); r.Safety.Violations != 3 || r.Status != runs.Violated ||
		!warned(r, "3 updates of the shared resource were lost") || warned(r, "first") {
		t.Errorf("on one clock: %+v, %q", r.Safety, r.Warnings)
	}
	one.WitnessViolations = 5
	if s := Result(one).Safety; s.Violations != 5 {
		t.Errorf("on one clock, with a witness: %+v", s)
	}
}

// Hand-overs on one host alone need no comparison of clocks, and have no bound.
func TestHandOversOnOneHostOfTwo(t *testing.T) {
	entries := []entrylog.Entry{entry(1, 0, 1e6, 2e6), entry(3, 0, 3e6, 4e6)} // both on the first
	o := pair(4).observe(t, runs.Spec{Nodes: 4, Requests: 2, Warmup: "0"}, entries)
	r := Result(o)
	if r.SyncDelay == nil || r.SyncDelay.P50 != 1e6 || r.SyncDelayBound != nil {
		t.Errorf("%+v ± %v", r.SyncDelay, r.SyncDelayBound)
	}
	// Nothing is known of the other host, where nobody entered.
	unknown(&o, 1)
	if r := Result(o); r.SyncDelay == nil || r.Safety.Undecided != 0 || r.Hosts[1].Clock != nil {
		t.Errorf("%+v, %+v", r.SyncDelay, r.Safety)
	}
	unknown(&o, 0)
	if r := Result(o); r.Safety.Undecided != 0 {
		t.Errorf("all on one host: %+v", r.Safety)
	}
	entries[0].Node, entries[1].Node = 2, 4 // both on the second
	o = pair(4).observe(t, runs.Spec{Nodes: 4, Requests: 2, Warmup: "0"}, entries)
	unknown(&o, 0)
	if r := Result(o); r.Safety.Undecided != 0 {
		t.Errorf("all on the other host: %+v", r.Safety)
	}
	if c := newClocks(&o); c.sound() {
		t.Error("clocks of which nothing is known are sound")
	}
}

// One hand-over between hosts that takes less than what is known of their clocks is told
// of, and not told.
func TestOneHandOverBelowItsBound(t *testing.T) {
	entries := []entrylog.Entry{entry(1, 0, 2e6-50, 2e6), entry(2, 0, 2e6+100, 4e6)}
	o := pair(2).observe(t, serial, entries)
	r := Result(o)
	if r.SyncDelay != nil || r.SyncDelayBound == nil || *r.SyncDelayBound < 100 || !warned(r, "synchronization delays are known to within") {
		t.Errorf("%+v ± %v, %q", r.SyncDelay, r.SyncDelayBound, r.Warnings)
	}
	if !warned(r, "the order of 1 entries and the ones before them") || r.Safety.Undecided != 1 ||
		warned(r, "are below what clocks were known to then") || !warned(r, "sync_delay_by_throughput_ns") ||
		!warned(r, "or share a resource (--resource nats)") {
		t.Errorf("%+v, %q", r.Safety, r.Warnings)
	}
	// With an order of all hosts together nothing is unsure but the times.
	o.Resource = &Resource{Updates: 2, Count: 2}
	for i := range o.Entries {
		o.Entries[i].Order = uint64(i + 1)
	}
	if r := Result(o); warned(r, "is not sure by their clocks") || !warned(r, "are among the lost updates") {
		t.Errorf("%q", r.Warnings)
	}
	// Where nobody need be waiting, throughput tells no delay.
	spec := serial
	spec.Set = map[string]string{"think": "1ms"}
	o = pair(2).observe(t, spec, entries)
	if r := Result(o); r.SyncDelayLoad != nil || warned(r, "sync_delay_by_throughput_ns") {
		t.Errorf("%v, %q", r.SyncDelayLoad, r.Warnings)
	}
	// A bound as large as the delay is enough to tell it.
	tl := newTimelineOn(o.Entries, newClocks(&o), false)
	equal, bound := handovers{delays: []int64{100}, bounds: []int64{100}, crossed: []int64{100}}, int64(100)
	if w := tl.warnHosts(&runs.Result{SyncDelayBound: &bound}, &o, equal); tl.valid(&equal) == nil ||
		slices.ContainsFunc(w, func(s string) bool { return strings.HasPrefix(s, "synchronization delays are known") }) {
		t.Errorf("100 ± 100 is not told: %q", w)
	}
	if tl.valid(&handovers{delays: []int64{100}, bounds: []int64{101}, crossed: []int64{100}}) != nil {
		t.Error("100 ± 101 is told")
	}
	if tl.valid(&handovers{delays: []int64{100}, bounds: []int64{0}, unknown: 1}) != nil {
		t.Error("told, though another one is unknown")
	}
}

// The bound on quantiles is by how far any of them moves when all delays are longer by
// their bounds, or all shorter: here the median falls by 5 and rises by 1.
func TestBoundOfQuantiles(t *testing.T) {
	h := handovers{delays: []int64{10, 20, 21}, bounds: []int64{0, 5, 0}, crossed: []int64{20}}
	if got := h.bound(); got != 5 {
		t.Errorf("%d", got)
	}
	h = handovers{delays: []int64{5, 5, 4, 0}, bounds: []int64{5, 6, 0, 0}}
	if mean := (&handovers{delays: []int64{0, 10, 20}, bounds: []int64{7, 0, 0}}); mean.bound() != 3 {
		t.Errorf("a mean that is off by 7/3: %d", mean.bound())
	}
	if got := h.below(); got != 1 {
		t.Errorf("%d below their bounds", got)
	}
	tl := newTimeline([]entrylog.Entry{entry(1, 0, 1, 2), entry(2, 1, 4, 5)})
	if h := tl.handovers(nil); !slices.Equal(h.bounds, []int64{0}) || !slices.Equal(h.entered, []int32{1}) || h.crossed != nil {
		t.Errorf("on one clock: %+v", h)
	}
	o := pair(2).observe(t, serial, []entrylog.Entry{entry(1, 0, 1e6, 2e6), entry(2, 0, 3e6, 4e6), entry(1, 2e6, 5e6, 6e6)})
	tl = newTimelineOn(o.Entries, newClocks(&o), false)
	if h := tl.handovers(nil); len(h.crossed) != 2 || !slices.Equal(h.entered, []int32{1, 2}) || len(h.bounds) != 2 {
		t.Errorf("between hosts: %+v", h)
	}
}

// A clock that was set is told of on a single host, too, and of a link as of a host.
func TestSetClocksAreToldOf(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 54))
	entries := []entrylog.Entry{entry(1, 0, 1e6, 2e6), entry(2, 0, 3e6, 4e6)}
	o := onHosts(rng, []ahead{{}}, 2, 20e6, 1e6, 30e3, false).observe(t, serial, entries)
	set(&o, 0)
	if r := Result(o); !warned(r, "the clock of host a, or the coordinator's, was set by at least 1ns") || r.Hosts[0].Clock.BoundNS != 0 {
		t.Errorf("%q, %+v", r.Warnings, r.Hosts[0].Clock)
	}

	o = pair(2).observe(t, serial, entries)
	if set(&o, 1); newClocks(&o).way(1, 0)(5).known || newClocks(&o).way(0, 1)(5).known {
		t.Error("something is known of a clock that was set")
	}

	b := pair(2)
	link := new(exchange.Link)
	contradict(&link.Clock)
	b.links = []Link{{0, 1, link}}
	o = b.observe(t, serial, entries)
	o.Strikes = []Strike{{At: 5}}
	r := Result(o)
	if !warned(r, "the clocks of hosts a and b were set by at least 1ns") || r.SyncDelay != nil || r.Throughput != nil {
		t.Errorf("%q, %+v, %v", r.Warnings, r.SyncDelay, r.Throughput)
	}
	if f := r.Faults; len(f) != 1 || f[0].RecoveredNS != nil || f[0].ServedNS != nil || f[0].Messages != nil {
		t.Errorf("what came of a fault is told: %+v", f)
	}
	if l := r.Links[0]; l.By != "udp" || l.BoundNS != nil {
		t.Errorf("%+v", l)
	}
}

// A host where nobody entered has a clock all the same, and its bound is that at the start.
func TestClockWhereNobodyEntered(t *testing.T) {
	o := pair(2).observe(t, serial, []entrylog.Entry{entry(1, 0, 1e6, 2e6)})
	_, bound := o.Hosts[1].Relation.Offset(0)
	if c := Result(o).Hosts[1].Clock; c == nil || c.BoundNS != bound || bound < 10 {
		t.Errorf("%+v, want a bound of %d", c, bound)
	}
}

// Records of nodes that are nowhere are judged, and compared with nobody's clock.
func TestRecordsOfNobodyOnHosts(t *testing.T) {
	b := pair(2)
	o := b.observe(t, serial, []entrylog.Entry{entry(1, 0, 1e6, 2e6), entry(2, 0, 3e6, 4e6)})
	c := newClocks(&o)
	for id, want := range map[dme.NodeID]int{0: -1, 1: 0, 2: 1, 3: -1} {
		if got := c.host(id); got != want {
			t.Errorf("node %d is on host %d, want %d", id, got, want)
		}
	}
	if got := (*clocks)(nil).host(1); got != -1 {
		t.Errorf("without hosts, node 1 is on host %d", got)
	}
	for _, ways := range [][2]int{{-1, 0}, {0, -1}, {-1, -1}} {
		if c.way(ways[0], ways[1])(5).known {
			t.Errorf("from %d to %d: something is known", ways[0], ways[1])
		}
	}
	o.Entries[1].Requested = 0
	for _, id := range []dme.NodeID{0, 3} {
		o.Entries[1].Node = id
		r := Result(o)
		if r.Status != runs.Failed || !strings.Contains(r.Error, "there is a record of node") || r.Safety.Undecided != 2 {
			t.Errorf("node %d: %s, %+v", id, r.Error, r.Safety)
		}
		tl := newTimelineOn(o.Entries, c, false)
		if tl.uncertain() != 1 || tl.e[1].Entered != tl.local[1].Entered || tl.handovers(nil).unknown != 1 {
			t.Errorf("node %d: %d entries are not sure, %+v", id, tl.uncertain(), tl.handovers(nil))
		}
	}
	o.Entries[0].Node, o.Entries[1].Node = 0, 3
	if tl := newTimelineOn(o.Entries, c, false); tl.uncertain() != 1 || tl.handovers(nil).unknown != 1 {
		t.Errorf("both of nobody: %d entries are not sure, %+v", tl.uncertain(), tl.handovers(nil))
	}
	o.Entries[0].Order, o.Entries[1].Order = 1, 2
	if tl := newTimelineOn(o.Entries, c, true); tl.uncertain() != 0 {
		t.Errorf("in the order of all hosts: %d entries are not sure", tl.uncertain())
	}
}

// Counters are on the clocks of hosts as entries are: messages after a cut are what they
// are on one clock.
func TestCountsOnClocksOfHosts(t *testing.T) {
	entries := []entrylog.Entry{entry(1, 0, 1e6, 2e6), entry(2, 0, 3e6, 4e6), entry(2, 4e6, 5e6, 6e6), entry(2, 6e6, 7e6, 8e6)}
	for i, sent := range []uint64{5, 20, 40, 60} {
		entries[i].Sent = sent
	}
	spec := serial
	spec.Warmup = "2" // until 4 ms, 2 of 5 ms between node 1's last exit and its last event
	alone := Result(Observation{
		Job: jobOf(t, spec), Status: runs.OK, Entries: entries, Nodes: later(counted(2, entries, 20)), MeanDelay: 10, Stop: 9e6,
	})
	b := onHosts(rand.New(rand.NewPCG(55, 56)), []ahead{{7e6, 0}, {-50e6, 0}}, 2, 100e6, 1e6, 10, false)
	o := b.observe(t, spec, entries)
	o.Nodes = later(counted(2, o.Entries, 20))
	before := slices.Clone(o.Nodes)
	wants(t, "on one clock", alone.Messages.SteadyPerCS, (80-20-(5+15*2/5.))/2)
	got, want := Result(o).Messages.SteadyPerCS, alone.Messages.SteadyPerCS
	if got == nil || want == nil || max(*got-*want, *want-*got) > 0.01 {
		t.Errorf("%v, want %v", got, want)
	}
	if !slices.Equal(o.Nodes, before) {
		t.Error("the counters were changed")
	}
}

// later has the nodes move once more, a while after their last exits.
func later(nodes []noderun.Counts) []noderun.Counts {
	for i := range nodes {
		nodes[i].LastMove += 5e6
	}
	return nodes
}

// Two hosts on the reference clock are compared exactly, without exchanges.
func TestLinkBetweenTheSameClocks(t *testing.T) {
	b := pair(2)
	b.hosts[0].Relation, b.hosts[1].Relation, b.clocks = nil, nil, []ahead{{}, {}}
	b.links = []Link{{0, 1, new(exchange.Link)}}
	r := Result(b.observe(t, serial, []entrylog.Entry{entry(1, 0, 1e6, 2e6), entry(2, 0, 3e6, 4e6)}))
	if l := r.Links[0]; l.By != "control" || l.OffsetNS != 0 || l.BoundNS == nil || *l.BoundNS != 0 {
		t.Errorf("%+v", l)
	}
	at := newTimelineOn([]entrylog.Entry{entry(1, 0, 5, 5), entry(2, 0, 5, 9)}, newClocks(&Observation{
		Job: jobOf(t, serial), Hosts: b.hosts,
	}), false)
	if n := at.uncertain(); n != 0 {
		t.Errorf("%d entries of one instant on one clock are not sure", n)
	}
	if r.SyncDelay == nil || r.SyncDelay.Mean != 1e6 || *r.SyncDelayBound != 0 || r.Safety.Undecided != 0 || len(r.Warnings) > 0 {
		t.Errorf("%+v ± %v, %q", r.SyncDelay, *r.SyncDelayBound, r.Warnings)
	}
}

// Hosts of which one has a clock that was set, or that nobody knows, are not compared by way
// of the reference.
func TestLinkToASetClock(t *testing.T) {
	for name, spoil := range map[string]func(*Observation, int){"set": set, "unknown": unknown} {
		for host := range 2 {
			b := pair(2)
			b.links = []Link{{0, 1, new(exchange.Link)}}
			o := b.observe(t, serial, []entrylog.Entry{entry(1, 0, 1e6, 2e6)})
			if l := Result(o).Links[0]; l.By != "control" || l.BoundNS == nil {
				t.Fatalf("%+v", l)
			}
			if spoil(&o, host); Result(o).Links[0].BoundNS != nil {
				t.Errorf("host %d, %s: %+v", host, name, Result(o).Links[0])
			}
		}
	}
}

// Exchanges of two hosts with one another that agree with those with the reference only
// later on: an entry of which the beginning is unknown is undecided.
func TestHalfAnEntryIsKnown(t *testing.T) {
	b := pair(2)
	b.clocks = []ahead{{}, {}}
	for i := range b.hosts {
		b.hosts[i].Relation = new(clock.Relation)
		b.hosts[i].Relation.Add(clock.Exchange{Sent: 0, Received: 10, Answered: 10, Returned: 20})
	}
	for _, pair := range [][2]int{{0, 1}, {1, 0}} {
		link := new(exchange.Link)
		off := int64(160e3) * int64(pair[1]-pair[0])
		link.Add(exchange.Path{Sent: 1, Exchanges: []clock.Exchange{
			{Sent: 50e6, Received: 50e6 + off, Answered: 50e6 + off, Returned: 50e6 + 20},
		}})
		b.links = append(b.links, Link{pair[0], pair[1], link})
	}
	o := b.observe(t, serial, []entrylog.Entry{entry(1, 0, 1e6, 2e6), entry(2, 0, 51e6, 90e6)})
	way := newClocks(&o).way(1, 0)
	if way(51e6).known || !way(90e6).known {
		t.Fatalf("%+v and %+v: the example is wrong", way(51e6), way(90e6))
	}
	if s := Result(o).Safety; s.Undecided != 2 {
		t.Errorf("%+v", s)
	}
}
