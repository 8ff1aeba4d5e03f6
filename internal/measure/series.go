package measure

import "dmebench/result"

// mostIntervals is into how many a run is divided at most.
const mostIntervals = 200

// series is the course of a run, from its start to the last exit; nil where
// nobody left the critical section.
func (t *timeline) series(start int64) *result.Series {
	if t.len() == 0 {
		return nil
	}
	length := t.exited(t.len()-1).Exited - start
	if length <= 0 {
		return nil
	}
	s := &result.Series{IntervalNS: interval(length)}
	bins := int((length-1)/s.IntervalNS) + 1
	bin := func(at int64) int { return min(max(0, int((at-start)/s.IntervalNS)), bins-1) }
	waits := make([]int64, t.len()) // in the order of entries: those of an interval stand together
	entered := make([]int, bins)
	s.Entries, s.Waiting = make([]uint64, bins), make([]int64, bins)
	for k, i := range t.byEntry {
		e := &t.e[i]
		waits[k] = waiting(&t.local[i])
		in := bin(e.Entered)
		entered[in]++
		s.Entries[bin(e.Exited)]++
		// It waits at the end of each interval from the one in which it came up to
		// the one before it entered.
		s.Waiting[bin(e.Intended)]++
		s.Waiting[in]--
	}
	for i := 1; i < bins; i++ {
		s.Waiting[i] += s.Waiting[i-1]
	}
	s.P50NS, s.P99NS = make([]*int64, bins), make([]*int64, bins)
	for i, n := range entered {
		if q := quantiles(waits[:n]); q != nil {
			s.P50NS[i], s.P99NS[i] = &q.P50, &q.P99
		}
		waits = waits[n:]
	}
	return s
}

// interval returns the shortest interval of 1, 2 or 5 times a power of ten by
// which so long a run has no more than the most.
func interval(length int64) int64 {
	for unit := int64(1); ; unit *= 10 {
		for _, times := range []int64{1, 2, 5} {
			if d := unit * times; (length-1)/d < mostIntervals {
				return d
			}
		}
	}
}
