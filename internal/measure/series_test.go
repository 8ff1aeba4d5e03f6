package measure

import (
	"reflect"
	"testing"

	"dmebench/internal/entrylog"
)

func TestSeries(t *testing.T) {
	const ms = 1_000_000
	entry := func(intended, entered, exited int64) entrylog.Entry {
		at := func(t int64) int64 { return 1000 + t*ms }
		return entrylog.Entry{Node: 1, Intended: at(intended), Requested: at(intended), Entered: at(entered), Exited: at(exited)}
	}
	entries := []entrylog.Entry{
		entry(0, 0, 1),
		entry(2, 12, 14),     // waits 10 ms
		entry(3, 14, 15),     // waits 11 ms
		entry(15, 999, 1000), // waits through the whole rest
	}
	s := newTimeline(entries).series(1000)
	if s.IntervalNS != 5*ms || len(s.Entries) != 200 {
		t.Fatalf("%d intervals of %d ns", len(s.Entries), s.IntervalNS)
	}
	if got, want := s.Entries[:4], []uint64{1, 0, 1, 1}; !reflect.DeepEqual(got, want) || s.Entries[199] != 1 {
		t.Errorf("entries %v … %d", got, s.Entries[199])
	}
	if got, want := s.Waiting[:5], []int64{2, 2, 0, 1, 1}; !reflect.DeepEqual(got, want) {
		t.Errorf("waiting %v; want %v", got, want)
	}
	if s.Waiting[198] != 1 || s.Waiting[199] != 0 {
		t.Errorf("waiting at the end %v", s.Waiting[198:])
	}
	if p := s.P50NS[2]; p == nil || *p != 10*ms || *s.P99NS[2] != 11*ms || s.P50NS[1] != nil {
		t.Errorf("waiting times of the third interval: %v, %v; of the second %v", p, s.P99NS[2], s.P50NS[1])
	}
	if s := newTimeline(nil).series(0); s != nil {
		t.Errorf("a run without entries has a course: %+v", s)
	}
	// Times may be equal, or far apart.
	for _, length := range []int64{1, 199, 200, 201, 1 << 62} {
		if d := interval(length); (length+d-1)/d > mostIntervals || d > 1 && length/(d/2) < mostIntervals/5 {
			t.Errorf("a run of %d ns in intervals of %d", length, d)
		}
	}
}
