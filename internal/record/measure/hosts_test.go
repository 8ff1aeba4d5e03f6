package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/platform/clock"
	"dmebench/internal/platform/clock/exchange"
	"dmebench/internal/record/entrylog"
	"dmebench/runs"
)

// turns are n entries of nodes in turn, of 1 ms each and 200 µs apart, each asked for
// when the one before it was entered.
func turns(n, nodes int) (e []entrylog.Entry) {
	for k := range int64(n) {
		at := k * 1_200_000
		e = append(e, entry(dme.NodeID(k%int64(nodes)+1), at-900_000, at, at+1_000_000))
	}
	e[0].Requested, e[0].Intended, e[0].Arrived = 0, 0, 0
	return e
}

func warned(r *runs.Result, text string) bool {
	return slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, text) })
}

func TestARunOnSeveralHosts(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	entries := turns(400, 4)
	b := onHosts(rng, []ahead{{}, {50e6, 40}, {-3e9, -200}}, 4, 480e6, 5e6, 30e3, true)
	b.hosts[0].Relation = nil // the coordinator's own
	r := Result(b.observe(t, runs.Spec{Nodes: 4, Requests: 400, Warmup: "0"}, entries))
	if r.Status != runs.OK || r.Safety != (runs.Safety{Checked: 400, Method: "witness+intervals"}) || len(r.Warnings) > 0 {
		t.Errorf("status %s: %s, safety %+v, warnings %q", r.Status, r.Error, r.Safety, r.Warnings)
	}
	if r.SyncDelayBound == nil || *r.SyncDelayBound < 100 || *r.SyncDelayBound > 60e3 {
		t.Fatalf("bound %v", r.SyncDelayBound)
	}
	if q := r.SyncDelay; q == nil || q.Count != 399 || q.P50 < 200_000-*r.SyncDelayBound || q.P50 > 200_000+*r.SyncDelayBound {
		t.Errorf("synchronization delay %+v ± %d", q, *r.SyncDelayBound)
	}
	if d := r.SyncDelayLoad; d == nil || *d < 190_000 || *d > 210_000 {
		t.Errorf("by throughput %v", d)
	}
	if r.Hosts[0].Clock != nil {
		t.Error("the reference is compared with itself")
	}
	for k, want := range []ahead{1: {50e6, 40}, 2: {-3e9, -200}} {
		c := r.Hosts[k].Clock
		if k == 0 {
			continue
		}
		if c == nil || c.BoundNS <= 0 || c.BoundNS > 40e3 || max(c.OffsetNS-want.offset, want.offset-c.OffsetNS) > c.BoundNS ||
			max(c.DriftPPM-float64(want.ppm), float64(want.ppm)-c.DriftPPM) > c.DriftBound || c.DriftBound > 200 || c.SetNS != 0 {
			t.Errorf("clock of host %d: %+v, want %+v", k, c, want)
		}
	}
	if len(r.Links) != 6 {
		t.Fatalf("links %+v", r.Links)
	}
	for _, l := range r.Links {
		if l.From == "a" && l.To == "b" {
			if l.By != "udp" || l.BoundNS == nil || max(l.OffsetNS-50e6, 50e6-l.OffsetNS) > *l.BoundNS || l.Sent != 96 || l.RTTMin <= 0 {
				t.Errorf("%+v", l)
			}
		}
	}
	encode(t, r)

	// A while without exchanges, in which the whole testbed stood still but for one
	// entry, makes few delays unsure, and the others are as well known as before.
	still := slices.Clone(entries)
	for k := 200; k < len(still); k++ {
		e := &still[k]
		for _, at := range []*int64{&e.Intended, &e.Arrived, &e.Requested, &e.Entered, &e.Exited} {
			if *at += 600e6; k == 200 {
				*at -= 300e6
			}
		}
		if k < 204 {
			e.Intended, e.Arrived, e.Requested = entries[199].Entered, entries[199].Entered, entries[199].Entered
		}
	}
	gap := onHosts(rng, []ahead{{}, {50e6, 40}, {-3e9, -200}}, 4, 240e6, 5e6, 30e3, false)
	for i, h := range gap.hosts {
		for at := int64(840e6); at < 1080e6; at += 5e6 {
			h.Relation.Add(ahead{}.asks(gap.clocks[i], at, 1+rng.Int64N(30e3), 1+rng.Int64N(30e3)))
		}
	}
	unsure := Result(gap.observe(t, runs.Spec{Nodes: 4, Requests: 400, Warmup: "0"}, still))
	if q := unsure.SyncDelay; q == nil || q.Max < 290e6 || unsure.SyncDelayBound == nil || *unsure.SyncDelayBound > 100e3 ||
		unsure.Hosts[0].Clock.BoundNS < 250e3 {
		t.Errorf("%+v ± %v, %+v, %q", q, unsure.SyncDelayBound, unsure.Hosts[0].Clock, unsure.Warnings)
	}

	// What workers may have misread of their host's clock counts, too.
	o := b.observe(t, runs.Spec{Nodes: 4, Requests: 400, Warmup: "0"}, entries)
	o.Hosts = slices.Clone(o.Hosts)
	for i := range o.Hosts {
		o.Hosts[i].Error = 5 * time.Microsecond
	}
	if wider := Result(o); *wider.SyncDelayBound != *r.SyncDelayBound+10_000 ||
		wider.Hosts[1].Clock.BoundNS != r.Hosts[1].Clock.BoundNS+5_000 {
		t.Errorf("bounds of %d and %d, with %d and %d before", *wider.SyncDelayBound, wider.Hosts[1].Clock.BoundNS,
			*r.SyncDelayBound, r.Hosts[1].Clock.BoundNS)
	}

	// A delay below its bound stays where it is, and is told of.
	abrupt := slices.Clone(entries)
	abrupt[6].Exited = abrupt[7].Entered
	if r := Result(b.observe(t, runs.Spec{Nodes: 4, Requests: 400, Warmup: "0"}, abrupt)); r.SyncDelay == nil || r.SyncDelay.Count != 399 ||
		!warned(r, "1 of 300 synchronization delays between hosts are below what clocks were known to then") || r.Safety.Undecided != 1 {
		t.Errorf("%+v, %q, %+v", r.SyncDelay, r.Warnings, r.Safety)
	}

	// What is within a host is exact: many short hand-overs there say nothing of how
	// well those between hosts are known.
	var short []entrylog.Entry
	at := int64(0)
	for k := range 400 {
		node, gap := []dme.NodeID{1, 4, 1, 4, 2}[k%5], int64(50) // 1 and 4 are on one host
		if k%5 == 0 || k%5 == 4 {
			gap = 200_000
		}
		at += gap
		short = append(short, entry(node, max(0, at-250_000), at, at+400))
		at += 400
	}
	r = Result(b.observe(t, runs.Spec{Nodes: 4, Requests: 400, Warmup: "0"}, short))
	if r.SyncDelayBound == nil || r.SyncDelay == nil || r.SyncDelay.P50 != 50 {
		t.Errorf("mostly within hosts: %+v ± %v, %q", r.SyncDelay, r.SyncDelayBound, r.Warnings)
	}

	// The same on one host elsewhere is the same, and has nothing to compare.
	alone := onHosts(rng, []ahead{{50e6, 0}}, 4, 480e6, 5e6, 30e3, false)
	r = Result(alone.observe(t, runs.Spec{Nodes: 4, Requests: 400, Warmup: "0"}, entries))
	if q := r.SyncDelay; q == nil || q.P50 != 200_000 || q.Max != 200_000 || r.SyncDelayBound != nil || r.SyncDelayLoad != nil ||
		r.Safety.Method != "shared-page" || len(r.Warnings) > 0 {
		t.Errorf("on one host: %+v, bound %v, safety %+v, warnings %q", q, r.SyncDelayBound, r.Safety, r.Warnings)
	}
}

// Where clocks are known less well than what is measured with them, it is not told.
func TestABoundAboveTheDelay(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	b := onHosts(rng, []ahead{{}, {50e6, 0}}, 4, 480e6, 200e6, 2e6, false)
	r := Result(b.observe(t, runs.Spec{Nodes: 4, Requests: 400, Warmup: "0"}, turns(400, 4)))
	if r.SyncDelay != nil || r.SyncDelayOverT != nil || r.Histograms.SyncDelay != "" ||
		r.SyncDelayBound == nil || *r.SyncDelayBound < 200_000 {
		t.Errorf("%+v ± %v", r.SyncDelay, r.SyncDelayBound)
	}
	if !warned(r, "they are not told; see sync_delay_by_throughput_ns") || r.SyncDelayLoad == nil || r.Throughput == nil {
		t.Errorf("warnings %q, by throughput %v", r.Warnings, r.SyncDelayLoad)
	}
	if r.Safety.Undecided == 0 || !warned(r, "the clocks cannot tell") || r.Status != runs.OK || r.Safety.Violations > 0 {
		t.Errorf("safety %+v, warnings %q", r.Safety, r.Warnings)
	}
	if !warned(r, "is not sure by their clocks") {
		t.Errorf("warnings %q", r.Warnings)
	}
	if r.ResponseTime == nil || r.ResponseTime.Count != 400 || r.ResponseTime.P50 != 1_900_000 || *r.CS != 1e6 {
		t.Errorf("what needs one clock: %+v, CS %v", r.ResponseTime, *r.CS)
	}
}

// A clock that is set in the middle of a run spoils what it measures between hosts, and
// nothing within one.
func TestAClockThatIsSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(27, 28))
	b := onHosts(rng, []ahead{{}, {}}, 4, 480e6, 5e6, 30e3, true)
	b.hosts[0].Relation = nil
	changed := ahead{50e6, 0}
	for at := int64(240e6); at < 480e6; at += 5e6 {
		b.hosts[1].Relation.Add(ahead{}.asks(changed, at, 1000, 1000))
	}
	o := b.observe(t, runs.Spec{Nodes: 4, Requests: 400, Warmup: "0"}, turns(400, 4))
	o.Hosts[1].Error = 5 * time.Microsecond
	r := Result(o)
	if r.SyncDelay != nil || r.SyncDelayBound != nil || r.Throughput != nil || r.SyncDelayLoad != nil || r.Status != runs.OK {
		t.Errorf("status %s, %+v ± %v, throughput %v", r.Status, r.SyncDelay, r.SyncDelayBound, r.Throughput)
	}
	if !warned(r, "the clock of host b, or the coordinator's, was set by at least 4") || warned(r, "no throughput to tell") {
		t.Errorf("warnings %q", r.Warnings)
	}
	if r.Safety.Undecided != 400 || r.Safety.Violations != 0 {
		t.Errorf("safety %+v", r.Safety)
	}
	if c := r.Hosts[1].Clock; c == nil || c.SetNS < 49e6 || c.SetNS > 51e6 || c.OffsetNS > 100e3 {
		t.Errorf("%+v", c)
	}
	if r.ResponseTime == nil || r.ResponseTime.P50 != 1_900_000 {
		t.Errorf("response time %+v", r.ResponseTime)
	}

	// Also where nobody entered on the host whose clock it is: others were compared
	// with the same coordinator.
	b = onHosts(rng, []ahead{{}, {}, {}}, 3, 480e6, 5e6, 30e3, true)
	for at := int64(240e6); at < 480e6; at += 5e6 {
		b.hosts[2].Relation.Add(ahead{}.asks(changed, at, 1000, 1000))
	}
	r = Result(b.observe(t, runs.Spec{Nodes: 3, Requests: 400, Warmup: "0"}, turns(400, 2)))
	if r.SyncDelay != nil || r.SyncDelayBound != nil || r.Throughput != nil || r.Safety.Undecided != 0 {
		t.Errorf("%+v ± %v, throughput %v, %+v", r.SyncDelay, r.SyncDelayBound, r.Throughput, r.Safety)
	}
}

// Entries on different hosts that overlap whatever the clocks are is a violation; so is
// what a host's witness saw.
func TestViolationsBetweenHosts(t *testing.T) {
	rng := rand.New(rand.NewPCG(29, 30))
	b := onHosts(rng, []ahead{{70e6, 0}, {-50e6, 300}}, 4, 480e6, 5e6, 30e3, false)
	entries := turns(100, 4)
	entries[7].Exited += 700_000
	o := b.observe(t, runs.Spec{Nodes: 4, Requests: 100, Warmup: "0"}, entries)
	r := Result(o)
	if r.Status != runs.Violated || r.Safety.Violations != 1 || r.Safety.Undecided != 0 {
		t.Errorf("status %s, %+v", r.Status, r.Safety)
	}
	o.WitnessViolations = 2
	if r := Result(o); r.Safety.Violations != 3 {
		t.Errorf("%+v", r.Safety)
	}
	// Two nodes of a host that claim the same place are not believed.
	o = b.observe(t, runs.Spec{Nodes: 4, Requests: 100, Warmup: "0"}, turns(100, 4))
	for i := range o.Entries {
		o.Entries[i].Order = uint64(i/2 + 1) // each host's witness counts its own
	}
	if r := Result(o); r.Status != runs.OK || len(r.Warnings) > 0 {
		t.Errorf("status %s: %s, %q", r.Status, r.Error, r.Warnings)
	}
	o.Entries[10].Order = o.Entries[12].Order
	if r := Result(o); r.Status != runs.Failed || !strings.Contains(r.Error, "both claim entry 7 of their host") {
		t.Errorf("status %s: %s", r.Status, r.Error)
	}
}

// Hosts between which no datagram passes are compared by way of the coordinator's; of
// a host of which nothing is known nothing is told.
func TestLinksWithoutDatagrams(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	b := onHosts(rng, []ahead{{5e6, 0}, {50e6, 0}}, 4, 480e6, 5e6, 30e3, false)
	none := new(exchange.Link)
	none.Add(exchange.Path{Sent: 20, Lost: 20})
	b.links = []Link{{0, 1, none}}
	o := b.observe(t, runs.Spec{Nodes: 4, Requests: 400, Warmup: "0"}, turns(400, 4))
	r := Result(o)
	if l := r.Links[0]; l.By != "control" || l.Lost != 20 || l.RTTMin != 0 || l.BoundNS == nil ||
		max(l.OffsetNS-45e6, 45e6-l.OffsetNS) > *l.BoundNS {
		t.Errorf("%+v", l)
	}
	if r.SyncDelay == nil || len(r.Warnings) > 0 { // who knows that no datagram passes says so
		t.Errorf("%+v, %q", r.SyncDelay, r.Warnings)
	}

	o.Hosts = slices.Clone(o.Hosts)
	o.Hosts[1].Relation = new(clock.Relation)
	r = Result(o)
	if r.SyncDelay != nil || r.Hosts[1].Clock != nil || r.Links[0].BoundNS != nil || r.Safety.Undecided != 400 ||
		!warned(r, "nothing is known of the clock of host b") {
		t.Errorf("%+v, %+v, %+v, %q", r.SyncDelay, r.Links[0], r.Safety, r.Warnings)
	}
	encode(t, r)
}

func BenchmarkHosts(b *testing.B) {
	rng := rand.New(rand.NewPCG(33, 34))
	const n = 20_000
	bed := onHosts(rng, []ahead{{}, {50e6, 40}, {-3e9, -200}, {1e9, 1}}, 8, n*1_200_000, 20e6, 90e3, true)
	o := bed.observe(b, runs.Spec{Nodes: 8, Requests: n}, turns(n, 8))
	for b.Loop() {
		Result(o)
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/n/float64(time.Microsecond), "µs/entry")
}

// Entries made while a lost host may not have been rid of are undecided, and a warning
// names the host; those before and after are judged as ever.
func TestEntriesAfterALossAreUndecided(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	entries := turns(400, 4)
	b := onHosts(rng, []ahead{{}, {50e6, 40}, {-3e9, -200}}, 4, 480e6, 5e6, 30e3, true)
	b.hosts[0].Relation = nil
	for _, x := range []struct {
		since, until int64
		want         uint64
	}{{0, 120e6, 100}, {240e6, math.MaxInt64, 200}, {500e6, math.MaxInt64, 0}} {
		o := b.observe(t, runs.Spec{Nodes: 4, Requests: 400, Warmup: "0"}, entries)
		o.Doubts = []Doubt{{Host: "far", Since: x.since, Until: x.until}}
		r := Result(o)
		// The clocks are known to within some microseconds.
		if n := r.Safety.Undecided; n+1 < x.want || n > x.want+1 || r.Safety.Violations > 0 || warned(r, "host far was lost") != (n > 0) ||
			(r.Status == runs.Failed) != (n > 0) ||
			warned(r, "the clocks cannot tell") {
			t.Errorf("from %d to %d: %+v, %q", x.since, x.until, r.Safety, r.Warnings)
		}
	}
}

// Two instants of a fast clock may be one of the reference's: entries of one host are
// judged in the order of its own clock.
func TestInstantsThatTheReferenceCannotTellApart(t *testing.T) {
	b := onHosts(rand.New(rand.NewPCG(57, 58)), []ahead{{0, 400}, {}}, 4, 100e6, 1e6, 10, false)
	at, relation := int64(1e6), b.hosts[0].Relation
	same := func() bool {
		x, _ := relation.Here(at)
		y, _ := relation.Here(at + 1)
		return x == y
	}
	for ; !same(); at++ {
		if at > 2e6 {
			t.Fatal("the example is wrong: all instants differ")
		}
	}
	for _, first := range []dme.NodeID{1, 3} { // both on the first host
		o := b.observe(t, runs.Spec{Nodes: 4, Requests: 2, Warmup: "0"}, nil)
		o.Entries = []entrylog.Entry{entry(first, 0, at, at+1), entry(4-first, 0, at+1, at+1)}
		if s := Result(o).Safety; s.Violations != 0 {
			t.Errorf("node %d first: %+v", first, s)
		}
	}
}
