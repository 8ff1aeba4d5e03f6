package measure

import (
	"sort"

	"dmebench/algorithms"
)

// longestRun returns the largest number of entries in a row by one node.
func (t *timeline) longestRun() uint64 {
	var longest, run uint64
	for k := range t.len() {
		if k > 0 && t.entered(k).Node == t.entered(k-1).Node {
			run++
		} else {
			run = 1
		}
		longest = max(longest, run)
	}
	return longest
}

// outOfOrder returns the number of entries whose timestamp precedes that of an
// earlier entry. Entries without a timestamp do not count.
func (t *timeline) outOfOrder() uint64 {
	var n uint64
	var latest algorithms.Stamp
	for k := range t.len() {
		e := t.entered(k)
		if e.Clock == 0 {
			continue
		}
		stamp := algorithms.Stamp{Clock: e.Clock, Node: e.Node}
		if stamp.Precedes(latest) {
			n++
		} else {
			latest = stamp
		}
	}
	return n
}

// maxBypass returns the largest number of entries by other nodes between a
// request and its entry. A node has no entry of its own in between, so that all
// entries there are others'.
func (t *timeline) maxBypass() uint64 {
	largest := 0
	for k, i := range t.byEntry {
		requested := t.e[i].Requested
		first := sort.Search(k, func(j int) bool { return t.e[t.byEntry[j]].Entered > requested })
		largest = max(largest, k-first)
	}
	return uint64(largest)
}

// overlaps returns the number of entries that began while a conflicting one had
// not ended, as far as the recorded times tell. Readers do not conflict with
// one another; an entry in the very instant of an exit does not overlap.
func (t *timeline) overlaps() uint64 {
	var n uint64
	var writers, readers int64 // until when one of the earlier is inside
	for k, i := range t.byEntry {
		e := &t.e[i]
		if k == 0 {
			writers, readers = e.Entered, e.Entered
		}
		if e.Entered < writers || !e.Shared && e.Entered < readers {
			n++
		}
		if e.Shared {
			readers = max(readers, e.Exited)
		} else {
			writers = max(writers, e.Exited)
		}
	}
	return n
}
