package measure

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// Safety between hosts. Their witnesses see the nodes of their own hosts; of two
// entries on different hosts only the recorded times tell, within the bounds of the
// clocks: that they overlapped, that they did not, or nothing.

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

// span is a critical section on some host's clock: when somebody was inside for sure,
// which may be nowhere (begin after end), or when somebody may have been.
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
		if s.end <= s.begin { // who begins before it may begin after its end
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

// uncertain returns how many entries follow one of another host of which the clocks
// cannot tell whether it was before.
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
