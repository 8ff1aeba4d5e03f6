package measure

import (
	"math"
	"slices"

	"dmebench/dme"
	"dmebench/result"
)

// handovers are the synchronization delays of a run.
type handovers struct {
	delays  []int64 // in the order of entries
	entered []int32 // which entry ends each: its position in that order
	bounds  []int64 // on the error of each; 0 of those on one host
	crossed []int64 // those between two hosts
	unknown int     // hand-overs between hosts of which nothing is known: none of the delays
}

// bound is on the error of their mean and of each percentile up to the 99th: if every
// delay was longer by its bound, or shorter, so much would change. A moment in which
// clocks were not compared makes a few delays unsure, and these in the main no less sure.
// There must be delays.
func (h *handovers) bound() int64 {
	least, most := make([]int64, len(h.delays)), make([]int64, len(h.delays))
	for i, d := range h.delays {
		least[i], most[i] = d-h.bounds[i], d+h.bounds[i]
	}
	l, q, m := quantiles(least), quantiles(slices.Clone(h.delays)), quantiles(most)
	off := func(of func(*result.Quantiles) float64) float64 { return max(of(q)-of(l), of(m)-of(q)) }
	return int64(math.Ceil(max(
		off(func(q *result.Quantiles) float64 { return q.Mean }),
		off(func(q *result.Quantiles) float64 { return float64(q.P50) }),
		off(func(q *result.Quantiles) float64 { return float64(q.P90) }),
		off(func(q *result.Quantiles) float64 { return float64(q.P99) }),
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

// handovers returns the synchronization delays of a run: the time from an exit to the
// next entry, wherever a request of another node was pending at the exit (textbook,
// section 9.2.3). Without a request that waits, the time until the next entry says
// something about the workload and nothing about the algorithm.
//
// A request made in the very instant of the exit was not pending at it. Readers
// that share the critical section leave it together: what counts is the exit of
// the last of them. A negative delay means that two entries overlapped, or that
// clocks disagree; it is returned as it is.
//
// Between two hosts, the exit is told on the clock of the host that enters next, to
// within a bound; the order of entries and what was pending at an exit are as sure.
//
// died holds when those had entered who died inside, in any order: what passes
// between an exit before that and the next entry is recovery.
func (t *timeline) handovers(died []int64) (h handovers) {
	waiting := t.earliestWaiting()
	var freed int64 // when the critical section became free
	var by int32    // through which entry
	for k := range t.len() - 1 {
		e, next := t.entered(k), t.entered(k+1)
		if joins := k > 0 && e.Shared && t.entered(k-1).Shared; !joins || e.Exited > freed {
			freed, by = e.Exited, t.inOrder[k]
		}
		if e.Shared && next.Shared && next.Entered < freed {
			continue // joins the readers who are inside
		}
		recovered := slices.ContainsFunc(died, func(at int64) bool { return at >= freed && at < next.Entered })
		if !recovered && waiting[k+1].otherThan(t.e[by].Node) < freed {
			t.handOver(&h, by, k+1)
		}
	}
	return h
}

// handOver adds the delay between the exit of one entry and the beginning of the next,
// the k-th.
func (t *timeline) handOver(h *handovers, from int32, k int) {
	exit, entry := &t.local[from], &t.local[t.inOrder[k]]
	a, b := t.clocks.host(exit.Node), t.clocks.host(entry.Node)
	if t.clocks == nil || a == b && a >= 0 {
		h.delays, h.bounds = append(h.delays, entry.Entered-exit.Exited), append(h.bounds, 0)
		h.entered = append(h.entered, int32(k))
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

// earliestWaiting returns, for each k, the earliest requests among the entries
// from the k-th on.
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
