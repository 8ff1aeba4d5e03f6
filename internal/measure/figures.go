package measure

import (
	"maps"
	"slices"
	"sort"

	"dmebench/dme"
	"dmebench/internal/entrylog"
)

// figures returns the quantities of which the algorithm's claims speak and nothing
// else in a result does: what its gauges measured, and what the entries tell.
func (t *timeline) figures(o *Observation) map[string]float64 {
	figures := maps.Clone(o.Figures)
	for q, tell := range map[dme.Quantity]func() (float64, bool){
		dme.NumberRange: t.numberRange, dme.ReadersInside: t.readersInside, dme.ReadersBeforeWriter: t.readersBeforeWriter,
	} {
		if !slices.ContainsFunc(o.Job.Algorithm.Claims, func(c dme.Claim) bool { return c.Quantity == q }) {
			continue
		}
		if value, ok := tell(); ok {
			if figures == nil {
				figures = make(map[string]float64)
			}
			figures[q.ID] = value
		}
	}
	return figures
}

// numberRange returns the largest difference between the numbers of two requests that
// waited together: the later entry's was made before the earlier entry. Entries
// without a number do not count.
func (t *timeline) numberRange() (most float64, ok bool) {
	high := extremes{keep: func(a, b uint64) bool { return a > b }}
	low := extremes{keep: func(a, b uint64) bool { return a < b }}
	for k, i := range t.byEntry {
		number := t.e[i].Clock
		if number == 0 {
			continue
		}
		since := t.firstSince(k)
		for _, w := range []*extremes{&high, &low} {
			if other, found := w.since(since); found {
				ok = true
				most = max(most, float64(max(number, other)-min(number, other)))
			}
			w.add(k, number)
		}
	}
	return most, ok
}

// extremes tells the most extreme of the numbers that were added at or after a
// position, in O(log n).
type extremes struct {
	keep    func(a, b uint64) bool // a is more extreme than b
	at      []int                  // positions of the numbers that may still be asked for, ascending
	numbers []uint64               // at them, each more extreme than those behind it
}

func (x *extremes) add(at int, number uint64) {
	for len(x.at) > 0 && !x.keep(x.numbers[len(x.numbers)-1], number) {
		x.at, x.numbers = x.at[:len(x.at)-1], x.numbers[:len(x.numbers)-1]
	}
	x.at, x.numbers = append(x.at, at), append(x.numbers, number)
}

func (x *extremes) since(at int) (number uint64, ok bool) {
	i := sort.SearchInts(x.at, at)
	if i == len(x.at) {
		return 0, false
	}
	return x.numbers[i], true
}

// readersInside returns the largest number of readers that were inside together.
func (t *timeline) readersInside() (most float64, ok bool) {
	inside, left := 0, 0
	for _, i := range t.byEntry {
		e := &t.e[i]
		for ; left < t.len() && t.exited(left).Exited <= e.Entered && !same(t.exited(left), e); left++ {
			if t.exited(left).Shared {
				inside--
			}
		}
		if e.Shared {
			inside++
			most, ok = max(most, float64(inside)), true
		}
	}
	return most, ok
}

// same reports whether two records are of one entry.
func same(a, b *entrylog.Entry) bool { return a.Node == b.Node && a.Requested == b.Requested }

// readersBeforeWriter returns the largest number of readers that entered between a
// writer's request and its entry.
func (t *timeline) readersBeforeWriter() (most float64, ok bool) {
	readers := make([]int, t.len()+1) // among the first k entries
	anyReader := false
	for k, i := range t.byEntry {
		readers[k+1] = readers[k]
		if t.e[i].Shared {
			readers[k+1]++
			anyReader = true
			continue
		}
		ok = true
		most = max(most, float64(readers[k]-readers[t.firstSince(k)]))
	}
	return most, ok && anyReader
}
