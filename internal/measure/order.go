package measure

import (
	"sort"

	"dmebench/dme"
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
	var latest dme.Stamp
	for k := range t.len() {
		e := t.entered(k)
		if e.Clock == 0 {
			continue
		}
		stamp := dme.Stamp{Clock: e.Clock, Node: e.Node}
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
	for k := range t.byEntry {
		largest = max(largest, k-t.firstSince(k))
	}
	return uint64(largest)
}

// firstSince returns the position in byEntry of the first entry after the
// request that led to the entry at k.
func (t *timeline) firstSince(k int) int {
	requested := t.e[t.byEntry[k]].Requested
	return sort.Search(k, func(j int) bool { return t.e[t.byEntry[j]].Entered > requested })
}

// maxBypassByOne returns the largest number of entries by one other node
// between a request and its entry. It takes O(n) time for each of them, and
// O(n log n).
func (t *timeline) maxBypassByOne() uint64 {
	since := make([]int, t.len())    // firstSince
	previous := make([]int, t.len()) // the entry before by the same node; -1 where there is none
	back := make([]int, t.len())     // previous, repeated count times
	last := make(map[dme.NodeID]int)
	for k, i := range t.byEntry {
		since[k], previous[k], back[k] = t.firstSince(k), -1, k
		if j, ok := last[t.e[i].Node]; ok {
			previous[k] = j
		}
		last[t.e[i].Node] = k
	}
	for count := uint64(0); ; count++ {
		// A node has count+1 entries from since[k] until k where one of the
		// entries before k has back at or after since[k].
		latest, more := -1, false
		for k := range back {
			more = more || latest >= since[k]
			latest = max(latest, back[k])
		}
		if !more {
			return count
		}
		for k, j := range back {
			if j >= 0 {
				back[k] = previous[j]
			}
		}
	}
}

// overlaps returns the number of entries that began while a conflicting one had
// not ended, as far as the recorded times tell. Readers do not conflict with
// one another; an entry in the very instant of an exit does not overlap.
func (t *timeline) overlaps() uint64 {
	var n uint64
	t.overlapping(t.byEntry, func(int32) { n++ })
	return n
}

// overlapping calls found for each of these entries, which are of one clock and in the
// order of their beginnings, that overlaps one before it.
func (t *timeline) overlapping(these []int32, found func(int32)) {
	var writers, readers int64 // until when one of the earlier is inside
	for k, i := range these {
		e := &t.local[i]
		if k == 0 {
			writers, readers = e.Entered, e.Entered
		}
		if e.Entered < writers || !e.Shared && e.Entered < readers {
			found(i)
		}
		if e.Shared {
			readers = max(readers, e.Exited)
		} else {
			writers = max(writers, e.Exited)
		}
	}
}
