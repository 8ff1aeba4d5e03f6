package measure

import (
	"cmp"
	"slices"

	"dmebench/internal/platform/hugepages"
	"dmebench/internal/record"
)

// timeline holds the entries of a run in the orders that the measures need.
// The orders are permutations: the entries themselves stay where they are.
type timeline struct {
	e      []record.Entry // on the reference clock
	local  []record.Entry // on the clocks of their hosts; the same if there is one clock
	clocks *clocks        // nil if there is one clock
	fenced bool           // orders are of all entries, wherever they were made
	sure   bool           // inOrder is by them

	// inOrder is the order in which the critical section was entered: the witness's if it saw every
	// entry, otherwise by the time of entry. The witness of a host sees the nodes of its host only.
	inOrder []int32
	byEntry []int32 // by the time of entry
	byExit  []int32 // by the time of exit

	durations []int64 // the buffer
}

// newTimeline lays out the entries of nodes on several hosts, or on one if c is nil; fenced says
// whether the order of entries is one of all hosts together.
func newTimeline(entries []record.Entry, c *clocks, fenced bool) *timeline {
	t := &timeline{e: c.entries(entries), local: entries, clocks: c, fenced: fenced || !c.several()}
	witnessed := t.fenced
	for i := range entries {
		witnessed = witnessed && entries[i].Order > 0
	}
	// A critical section of no length comes before one that begins with it and
	// lasts: in the other order the two would seem to overlap.
	asTheyCame := hugepages.Make[int32](len(t.e))
	for i := range asTheyCame {
		asTheyCame[i] = int32(i)
	}
	t.byEntry = t.sorted(asTheyCame, func(a, b *record.Entry) int {
		return cmp.Or(cmp.Compare(a.Entered, b.Entered), cmp.Compare(a.Exited, b.Exited))
	})
	t.byExit = t.sorted(t.byEntry, func(a, b *record.Entry) int { return cmp.Compare(a.Exited, b.Exited) })
	t.inOrder = t.byEntry
	if t.sure = witnessed; witnessed {
		t.inOrder = t.sorted(t.byEntry, func(a, b *record.Entry) int {
			// Readers have seen of a shared resource what the writer after them sees.
			return cmp.Or(cmp.Compare(a.Order, b.Order), readersFirst(a, b), cmp.Compare(a.Entered, b.Entered))
		})
	}
	return t
}

func readersFirst(a, b *record.Entry) int {
	switch {
	case a.Shared == b.Shared:
		return 0
	case a.Shared:
		return -1
	}
	return 1
}

// sorted returns the permutation that sorts the entries by compare, which may be the one given. What
// compare leaves open is settled by the witness's order and then by the node, so that
// the permutation does not depend on the order in which the entries came.
func (t *timeline) sorted(order []int32, compare func(a, b *record.Entry) int) []int32 {
	all := func(i, j int32) int {
		a, b := &t.e[i], &t.e[j]
		if c := compare(a, b); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Node, b.Node),
			cmp.Compare(a.Requested, b.Requested), cmp.Compare(i, j))
	}
	if !slices.IsSortedFunc(order, all) {
		order = slices.Clone(order)
		slices.SortFunc(order, all)
	}
	return order
}

func (t *timeline) len() int { return len(t.e) }

// entered returns the k-th entry in the order of entries.
func (t *timeline) entered(k int) *record.Entry { return &t.e[t.inOrder[k]] }

// exited returns the k-th entry in the order of exits.
func (t *timeline) exited(k int) *record.Entry { return &t.e[t.byExit[k]] }

// times collects a duration of every entry on its host's clock, in an order, in the buffer.
func (t *timeline) times(order []int32, of func(e *record.Entry) int64) []int64 {
	x := t.buffer()
	for k, i := range order {
		x[k] = of(&t.local[i])
	}
	return x
}

// buffer has room for a duration of every entry. There is one, whose contents are good until the next
// call: new ones would cost more than all that is computed from them.
func (t *timeline) buffer() []int64 {
	if t.durations == nil {
		t.durations = hugepages.Make[int64](t.len())
	}
	return t.durations
}

func response(e *record.Entry) int64 { return e.Exited - e.Requested }
func waiting(e *record.Entry) int64  { return e.Entered - e.Intended }
func lateness(e *record.Entry) int64 { return e.Arrived - e.Intended }
func held(e *record.Entry) int64     { return e.Exited - e.Entered }
