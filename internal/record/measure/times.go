package measure

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"dmebench/dme"
	"dmebench/internal/platform/hugepages"
	"dmebench/runs"
	"dmebench/stats"
)

// quantiles summarizes times in nanoseconds; nil if there are none. The times are all at hand, so
// that the quantiles are exact: the q-quantile is the smallest time that at least the part q of all
// do not exceed (nearest rank). It sorts x.
func quantiles(x []int64) *runs.Quantiles {
	if len(x) == 0 {
		return nil
	}
	slices.Sort(x)
	rank := func(perMille int) int64 {
		return x[(len(x)*perMille+999)/1000-1]
	}
	return &runs.Quantiles{
		Count: uint64(len(x)), Mean: mean(x), Max: x[len(x)-1],
		P50: rank(500), P90: rank(900), P99: rank(990), P999: rank(999),
	}
}

// mean returns the mean of x, NaN if it is empty. It adds as floats: a sum of nanoseconds over
// millions of entries may pass the range of an int64.
func mean(x []int64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v)
	}
	return sum / float64(len(x))
}

// ratio returns a/b, or nil if that is no number, as if b is 0.
func ratio(a, b float64) *float64 { return stats.Known(a / b) }

// handovers are the synchronization delays of a run.
type handovers struct {
	delays  []int64 // in the order of entries
	entered []int32 // the entry that ends each: its position in that order
	bounds  []int64 // on the error of each; 0 of those on one host; none if there is one clock
	crossed []int64 // delays between two hosts
	unknown int     // hand-overs between hosts without a known bound: in none of the delays
}

// bound is on the error of their mean and of each percentile up to the 99th: if every delay was
// longer by its bound, or shorter, this is how much they would change. If clocks were not compared
// for a moment, a few delays become uncertain, and these hardly less certain. There must be delays.
func (h *handovers) bound() int64 {
	least, most := make([]int64, len(h.delays)), make([]int64, len(h.delays))
	for i, d := range h.delays {
		least[i], most[i] = d-h.bounds[i], d+h.bounds[i]
	}
	l, q, m := quantiles(least), quantiles(slices.Clone(h.delays)), quantiles(most)
	off := func(of func(*runs.Quantiles) float64) float64 { return max(of(q)-of(l), of(m)-of(q)) }
	return int64(math.Ceil(max(
		off(func(q *runs.Quantiles) float64 { return q.Mean }),
		off(func(q *runs.Quantiles) float64 { return float64(q.P50) }),
		off(func(q *runs.Quantiles) float64 { return float64(q.P90) }),
		off(func(q *runs.Quantiles) float64 { return float64(q.P99) }),
	)))
}

// below is how many delays are smaller than the bounds on their errors.
func (h *handovers) below() (n int) {
	for i, d := range h.delays {
		if d < h.bounds[i] {
			n++
		}
	}
	return n
}

// handovers returns the synchronization delays of a run: the time from an exit to the next entry,
// if a request of another node was pending at the exit (textbook, section 9.2.3). If none waits,
// the time until the next entry depends on the workload and not on the algorithm.
//
// A request made in the very instant of the exit was not pending at it. Readers that share the
// critical section leave it together: what counts is the exit of the last of them. A negative delay
// means that two entries overlapped, or that clocks disagree; it is returned as it is.
//
// Between two hosts, the exit is converted to the clock of the host that enters next, to within a
// bound; the order of entries and what was pending at an exit are as certain.
//
// died holds when the nodes that died inside had entered, in any order: what passes between an exit
// before that and the next entry is recovery.
func (t *timeline) handovers(died []int64) (h handovers) {
	h.delays, h.entered = hugepages.Make[int64](t.len())[:0], hugepages.Make[int32](t.len())[:0]
	var waiting []earliest // from each entry on; rarely needed, as usually the next one has waited
	pending := func(k int, at int64, by dme.NodeID) bool {
		if next := t.entered(k); next.Requested < at && next.Node != by {
			return true
		}
		if waiting == nil {
			waiting = t.earliestWaiting()
		}
		return waiting[k].otherThan(by) < at
	}
	var freed int64 // when the critical section became free
	var by int32    // through which entry
	for k := range t.len() - 1 {
		e, next := t.entered(k), t.entered(k+1)
		if joins := k > 0 && e.Shared && t.entered(k-1).Shared; !joins || e.Exited > freed {
			freed, by = e.Exited, t.inOrder[k]
		}
		if e.Shared && next.Shared && next.Entered < freed {
			continue // joins the readers inside
		}
		recovered := slices.ContainsFunc(died, func(at int64) bool { return at >= freed && at < next.Entered })
		if !recovered && pending(k+1, freed, t.e[by].Node) {
			t.handOver(&h, by, k+1)
		}
	}
	return h
}

// handOver adds the delay between the exit of one entry and the k-th, the next.
func (t *timeline) handOver(h *handovers, from int32, k int) {
	exit, entry := &t.local[from], &t.local[t.inOrder[k]]
	a, b := t.clocks.host(exit.Node), t.clocks.host(entry.Node)
	if t.clocks == nil || a == b && a >= 0 {
		h.delays, h.entered = append(h.delays, entry.Entered-exit.Exited), append(h.entered, int32(k))
		if t.clocks != nil {
			h.bounds = append(h.bounds, 0)
		}
		return
	}
	exited := t.clocks.way(a, b)(exit.Exited)
	if !exited.known {
		h.unknown++
		return
	}
	delay := entry.Entered - exited.middle()
	h.delays, h.bounds = append(h.delays, delay), append(h.bounds, exited.bound())
	h.entered = append(h.entered, int32(k))
	h.crossed = append(h.crossed, delay)
}

// earliest is the earliest request of a set of entries, and the earliest of
// those by any other node.
type earliest struct {
	node          dme.NodeID
	first, others int64
}

func (x earliest) otherThan(node dme.NodeID) int64 {
	if node == x.node {
		return x.others
	}
	return x.first
}

// earliestWaiting returns the earliest requests among the entries from each k on.
func (t *timeline) earliestWaiting() []earliest {
	w := make([]earliest, t.len()+1)
	w[t.len()] = earliest{first: math.MaxInt64, others: math.MaxInt64}
	for k := t.len() - 1; k >= 0; k-- {
		e, x := t.entered(k), w[k+1]
		switch {
		case e.Node == x.node:
			x.first = min(x.first, e.Requested)
		case e.Requested < x.first:
			x = earliest{node: e.Node, first: e.Requested, others: x.first}
		default:
			x.others = min(x.others, e.Requested)
		}
		w[k] = x
	}
	return w
}

// Safety between hosts. Their witnesses see the nodes of their own hosts; for two entries on
// different hosts only the recorded times show, within the bounds of the clocks, that they
// overlapped, that they did not, or nothing.

// verdicts says, of each entry, what is known of those that were before it. Of two
// entries that overlap for sure one is counted.
type verdicts struct {
	overlapped []bool // for sure, on one host or between two
	crossed    []bool // for sure, between two hosts
	undecided  []bool // its host's clock and another's leave it open, and it did not overlap for sure
}

func (v *verdicts) count() (onHosts, between, undecided uint64) {
	for i := range v.overlapped {
		switch {
		case v.overlapped[i]:
			onHosts++
		case v.crossed[i]:
			between++
		case v.undecided[i]:
			undecided++
		}
	}
	return onHosts, between, undecided
}

// verdicts judges all entries, in O(h·n log n) for n entries on h hosts.
func (t *timeline) verdicts() *verdicts {
	v := &verdicts{make([]bool, t.len()), make([]bool, t.len()), make([]bool, t.len())}
	byHost := make([][]int32, len(t.clocks.hosts)+1) // the last is of nodes that are on none
	for _, i := range t.byEntry {
		host := t.clocks.host(t.e[i].Node)
		if host < 0 {
			host = len(t.clocks.hosts)
		}
		byHost[host] = append(byHost[host], i)
	}
	for a, on := range byHost {
		slices.SortStableFunc(on, func(i, j int32) int {
			return cmp.Or(cmp.Compare(t.local[i].Entered, t.local[j].Entered), cmp.Compare(t.local[i].Exited, t.local[j].Exited))
		})
		t.overlapping(on, func(i int32) { v.overlapped[i] = true })
		for b := range a {
			t.between(v, b, a, byHost[b], on)
		}
	}
	return v
}

// span is a critical section on some host's clock: when a node was certainly inside, which may be
// never (begin after end), or when one may have been.
type span struct {
	entry      int32
	ofB        bool // of the second host
	shared     bool
	begin, end int64
}

// between judges the entries of two hosts, a's and b's, on the clock of a.
func (t *timeline) between(v *verdicts, a, b int, ofA, ofB []int32) {
	if len(ofA) == 0 || len(ofB) == 0 {
		return
	}
	if b == len(t.clocks.hosts) {
		b = -1
	}
	var surely, maybe []span
	for _, i := range ofA {
		e := &t.local[i]
		s := span{i, false, e.Shared, e.Entered, e.Exited}
		surely, maybe = append(surely, s), append(maybe, s)
	}
	way := t.clocks.way(b, a)
	for _, i := range ofB {
		e := &t.local[i]
		entered, out := way(e.Entered), way(e.Exited)
		if !entered.known || !out.known {
			// As good as nothing is known of the two clocks.
			for _, i := range slices.Concat(ofA, ofB) {
				v.undecided[i] = true
			}
			return
		}
		surely = append(surely, span{i, true, e.Shared, entered.latest, out.earliest})
		maybe = append(maybe, span{i, true, e.Shared, entered.earliest, out.latest})
	}
	overlapping(surely, v.crossed)
	overlapping(maybe, v.undecided)
}

// overlapping marks each entry that overlaps one of the other host which excludes it
// and begins before it.
func overlapping(spans []span, mark []bool) {
	slices.SortFunc(spans, func(x, y span) int { return cmp.Or(cmp.Compare(x.begin, y.begin), cmp.Compare(x.entry, y.entry)) })
	// ends[b][w][k]: the latest end among the first k, of one host, of all or of writers.
	var ends [2][2][]int64
	for b := range ends {
		for w := range ends[b] {
			latest := int64(math.MinInt64)
			ends[b][w] = append(make([]int64, 0, len(spans)+1), latest)
			for k := range spans {
				if s := &spans[k]; s.ofB == (b == 1) && !(w == 1 && s.shared) {
					latest = max(latest, s.end)
				}
				ends[b][w] = append(ends[b][w], latest)
			}
		}
	}
	for k := range spans {
		s := &spans[k]
		n := k
		if s.end <= s.begin { // an entry that begins before it may begin after its end
			n = min(k, sort.Search(len(spans), func(j int) bool { return spans[j].begin >= s.end }))
		}
		b, w := 1, 0
		if s.ofB {
			b = 0
		}
		if s.shared {
			w = 1
		}
		if ends[b][w][n] > s.begin {
			mark[s.entry] = true
		}
	}
}

// uncertain returns how many entries follow one of another host that may have been after them, for
// all the clocks show.
func (t *timeline) uncertain() (n int) {
	if t.sure {
		return 0
	}
	for k := 1; k < t.len(); k++ {
		e, next := &t.local[t.inOrder[k-1]], &t.local[t.inOrder[k]]
		a, b := t.clocks.host(e.Node), t.clocks.host(next.Node)
		if a == b && a >= 0 {
			continue
		}
		if entered := t.clocks.way(a, b)(e.Entered); !entered.known || entered.latest > next.Entered {
			n++
		}
	}
	return n
}
