package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/record"
	"dmebench/runs"
)

// verdictsTwin says the same of each pair of entries, one after the other.
func verdictsTwin(t *timeline) (onHosts, between, undecided uint64) {
	n := t.len()
	overlapped, crossed, open := make([]bool, n), make([]bool, n), make([]bool, n)
	for i := range t.local {
		for j := range t.local {
			x, y := &t.local[i], &t.local[j]
			if i == j || x.Shared && y.Shared {
				continue
			}
			a, b := t.clocks.host(x.Node), t.clocks.host(y.Node)
			if a == b {
				before := x.Entered < y.Entered || x.Entered == y.Entered && (x.Exited < y.Exited || x.Exited == y.Exited && i < j)
				if before && x.Exited > y.Entered {
					overlapped[j] = true
				}
				continue
			}
			// On the clock of the first of the two hosts.
			to := min(a, b)
			xe, xx := t.clocks.way(a, to)(x.Entered), t.clocks.way(a, to)(x.Exited)
			ye, yx := t.clocks.way(b, to)(y.Entered), t.clocks.way(b, to)(y.Exited)
			if !xe.known || !xx.known || !ye.known || !yx.known {
				open[i], open[j] = true, true
				continue
			}
			after := func(p, q int64) bool { return p < q || p == q && i < j }
			if after(xe.latest, ye.latest) && xe.latest < yx.earliest && ye.latest < xx.earliest {
				crossed[j] = true
			}
			if after(xe.earliest, ye.earliest) && xe.earliest < yx.latest && ye.earliest < xx.latest {
				open[j] = true
			}
		}
	}
	for i := range n {
		switch {
		case overlapped[i]:
			onHosts++
		case crossed[i]:
			between++
		case open[i]:
			undecided++
		}
	}
	return
}

// What is judged is right, of clocks that are what they may be: who is said to overlap
// does, who does overlap is never said not to, and it is what a comparison of all
// pairs says. Delays are within their bound of the truth, and those on one host exact.
func TestJudgementsOfHosts(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	var sure, open, held, crossed int
	for k := range 3000 {
		const length = int64(1e9)
		entries := history(rng, k%2 == 0)
		nodes := 1
		for i := range entries {
			e := &entries[i]
			e.Order = 0
			nodes = max(nodes, int(e.Node))
			for _, at := range []*int64{&e.Requested, &e.Entered, &e.Exited} {
				*at *= 1e6 // the clock of the history is coarse
			}
			e.Intended, e.Arrived = e.Requested, e.Requested
		}
		clocks := make([]ahead, 1+rng.IntN(4))
		for i := range clocks {
			clocks[i] = ahead{rng.Int64N(200e6) - 100e6, rng.Int64N(1001) - 500}
		}
		longest := []int64{10e3, 300e3, 3e6}[rng.IntN(3)]
		b := onHosts(rng, clocks, nodes, length, 50e6, longest, rng.IntN(2) == 0)
		o := b.observe(t, runs.Spec{Nodes: max(2, nodes), Requests: max(1, len(entries)), Warmup: "0"}, entries)
		c := newClocks(&o)
		tl := newTimeline(o.Entries, c, false)
		v := tl.verdicts()
		onHosts, between, undecided := v.count()
		if x, y, z := verdictsTwin(tl); onHosts != x || between != y || undecided != z {
			t.Fatalf("%d, %d, %d; want %d, %d, %d of %+v", onHosts, between, undecided, x, y, z, tl.local)
		}
		for i, x := range entries {
			truly := false
			for j, y := range entries {
				if i == j || x.Shared && y.Shared || x.Entered >= y.Exited || y.Entered >= x.Exited {
					continue
				}
				truly = true
				marked := func(i int) bool { return v.overlapped[i] || v.crossed[i] || v.undecided[i] }
				if !marked(i) && !marked(j) {
					t.Fatalf("%+v and %+v overlap, and are said not to", x, y)
				}
			}
			if (v.overlapped[i] || v.crossed[i]) && !truly {
				t.Fatalf("%+v is said to overlap, and does not: %+v", x, entries)
			}
		}
		sure, open, held = sure+int(between), open+int(undecided), held+len(entries)-int(onHosts+between+undecided)

		// With the true order delays are comparable one by one.
		if k%2 == 0 {
			order := slices.Clone(entries)
			slices.SortStableFunc(order, func(x, y record.Entry) int { return int(x.Entered - y.Entered) })
			for i := range order {
				order[i].Order = uint64(i + 1)
			}
			o := b.observe(t, runs.Spec{Nodes: max(2, nodes), Requests: max(1, len(entries)), Warmup: "0"}, order)
			got := newTimeline(o.Entries, newClocks(&o), true)
			var h handovers
			var truly []int64
			for i := range len(order) - 1 {
				before := len(h.delays)
				got.handOver(&h, int32(i), i+1)
				want := order[i+1].Entered - order[i].Exited
				truly = append(truly, want)
				off, round := h.delays[before]-want, max(want, -want)/1000+2
				if tl.clocks.host(order[i].Node) == tl.clocks.host(order[i+1].Node) {
					if max(off, -off) > round {
						t.Fatalf("a delay of %d on one host, want %d", h.delays[before], want)
					}
				} else if crossed++; max(off, -off) > h.bounds[before]+round {
					t.Fatalf("a delay of %d ± %d, want %d", h.delays[before], h.bounds[before], want)
				}
			}
			if len(h.crossed) > 0 {
				bound, round := float64(h.bound()), float64(slices.Max(truly)/1000+2)
				x, want := quantiles(h.delays), quantiles(truly)
				for _, off := range []float64{
					x.Mean - want.Mean, float64(x.P50 - want.P50), float64(x.P90 - want.P90), float64(x.P99 - want.P99),
				} {
					if math.Abs(off) > bound+round {
						t.Fatalf("%+v, each ± %f, want %+v", x, bound, want)
					}
				}
			}
		}
	}
	if min(sure, open, held, crossed) < 1000 {
		t.Errorf("%d overlap for sure, %d are undecided, %d held, %d delays between hosts: the histories are too tame", sure, open, held, crossed)
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
		o.Entries = []record.Entry{entry(first, 0, at, at+1), entry(4-first, 0, at+1, at+1)}
		if s := result(o).Safety; s.Violations != 0 {
			t.Errorf("node %d first: %+v", first, s)
		}
	}
}

func BenchmarkHosts(b *testing.B) {
	rng := rand.New(rand.NewPCG(33, 34))
	const n = 20_000
	bed := onHosts(rng, []ahead{{}, {50e6, 40}, {-3e9, -200}, {1e9, 1}}, 8, n*1_200_000, 20e6, 90e3, true)
	o := bed.observe(b, runs.Spec{Nodes: 8, Requests: n}, turns(n, 8))
	for b.Loop() {
		result(o)
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/n/float64(time.Microsecond), "µs/entry")
}

// The bound on quantiles is by how far any of them moves when all delays are longer by
// their bounds, or all shorter.
func TestBoundOfQuantiles(t *testing.T) {
	for want, h := range map[int64]handovers{
		5: {delays: []int64{10, 20, 21}, bounds: []int64{0, 5, 0}}, // the median falls by 5 and rises by 1
		3: {delays: []int64{0, 10, 20}, bounds: []int64{7, 0, 0}},  // the mean moves by 7/3
	} {
		if got := h.bound(); got != want {
			t.Errorf("%+v: %d, want %d", h, got, want)
		}
	}
}

// A while without exchanges, in which the whole testbed stood still but for one entry,
// makes few delays unsure, and the others are as well known as before.
func TestAGapInTheExchanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	entries := turns(400, 4)
	for k := 200; k < len(entries); k++ {
		e := &entries[k]
		for _, at := range []*int64{&e.Intended, &e.Arrived, &e.Requested, &e.Entered, &e.Exited} {
			if *at += 600e6; k == 200 {
				*at -= 300e6
			}
		}
		if k < 204 {
			e.Intended, e.Arrived, e.Requested = entries[199].Entered, entries[199].Entered, entries[199].Entered
		}
	}
	b := onHosts(rng, []ahead{{}, {50e6, 40}, {-3e9, -200}}, 4, 240e6, 5e6, 30e3, false)
	for i, h := range b.hosts {
		for at := int64(840e6); at < 1080e6; at += 5e6 {
			h.Relation.Add(ahead{}.asks(b.clocks[i], at, 1+rng.Int64N(30e3), 1+rng.Int64N(30e3)))
		}
	}
	r := result(b.observe(t, runs.Spec{Nodes: 4, Requests: 400, Warmup: "0"}, entries))
	if q := r.SyncDelay; q == nil || q.Max < 290e6 || r.SyncDelayBound == nil || *r.SyncDelayBound > 100e3 ||
		r.Hosts[0].Clock.BoundNS < 250e3 {
		t.Errorf("%+v ± %v, %+v, %q", q, r.SyncDelayBound, r.Hosts[0].Clock, r.Warnings)
	}
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
		r := result(o)
		// The clocks are known to within some microseconds.
		if n := r.Safety.Undecided; n+1 < x.want || n > x.want+1 || r.Safety.Violations > 0 || warned(r, "host far was lost") != (n > 0) ||
			(r.Status == runs.Failed) != (n > 0) ||
			warned(r, "the clocks cannot tell") {
			t.Errorf("from %d to %d: %+v, %q", x.since, x.until, r.Safety, r.Warnings)
		}
	}
}
