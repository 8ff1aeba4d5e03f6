package measure

import (
	"math"
	"slices"

	"dmebench/dme"
)

// handovers returns the synchronization delays of a run, in the order of
// entries: the time from an exit to the next entry, wherever a request of
// another node was pending at the exit (textbook, section 9.2.3). Without a
// request that waits, the time until the next entry says something about the
// workload and nothing about the algorithm.
//
// A request made in the very instant of the exit was not pending at it. Readers
// that share the critical section leave it together: what counts is the exit of
// the last of them. A negative delay means that two entries overlapped, or that
// clocks disagree; it is returned as it is.
//
// died holds when those had entered who died inside, in any order: what passes
// between an exit before that and the next entry is recovery.
func (t *timeline) handovers(died []int64) []int64 {
	n := t.len()
	if n < 2 {
		return nil
	}
	waiting := t.earliestWaiting()
	var delays []int64
	var freed int64   // when the critical section became free
	var by dme.NodeID // through whom
	for k := range n - 1 {
		e, next := t.entered(k), t.entered(k+1)
		if joins := k > 0 && e.Shared && t.entered(k-1).Shared; !joins || e.Exited > freed {
			freed, by = e.Exited, e.Node
		}
		if e.Shared && next.Shared && next.Entered < freed {
			continue // joins the readers who are inside
		}
		recovered := slices.ContainsFunc(died, func(at int64) bool { return at >= freed && at < next.Entered })
		if !recovered && waiting[k+1].otherThan(by) < freed {
			delays = append(delays, next.Entered-freed)
		}
	}
	return delays
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
