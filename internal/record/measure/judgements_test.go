package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/internal/record/entrylog"
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
		tl := newTimelineOn(o.Entries, c, false)
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
			slices.SortStableFunc(order, func(x, y entrylog.Entry) int { return int(x.Entered - y.Entered) })
			for i := range order {
				order[i].Order = uint64(i + 1)
			}
			o := b.observe(t, runs.Spec{Nodes: max(2, nodes), Requests: max(1, len(entries)), Warmup: "0"}, order)
			got := newTimelineOn(o.Entries, newClocks(&o), true)
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
