package measure

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/internal/record"
	"dmebench/runs"
)

// figures returns the quantities of the algorithm's claims that nothing else in a result has: what
// its gauges measured, and what follows from the entries.
func (t *timeline) figures(o *Observation) map[string]float64 {
	figures := maps.Clone(o.Figures)
	for q, compute := range map[claim.Quantity]func() (float64, bool){
		claim.NumberRange: t.numberRange, claim.ReadersInside: t.readersInside, claim.ReadersBeforeWriter: t.readersBeforeWriter,
	} {
		if !claim.Of(o.Job.Algorithm).SpeaksOf(q) {
			continue
		}
		if value, ok := compute(); ok {
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

// extremes tells the most extreme number added since a position, in O(log n).
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

func same(a, b *record.Entry) bool { return a.Node == b.Node && a.Requested == b.Requested }

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

// fenced reports whether the order of entries is that in which a server has seen them.
func (o *Observation) fenced() bool { return o.Resource != nil && o.Resource.Kind == record.InNATS }

// resource tells the lost updates of the run; nil if it had no resource.
func (o *Observation) resource() *runs.Resource {
	if o.Resource == nil {
		return nil
	}
	r := &runs.Resource{Kind: o.Resource.Kind, Updates: o.Resource.Updates, LostUpdates: o.Resource.Lost, Refused: o.Resource.Refused}
	for _, l := range o.Resource.First {
		r.Lost = append(r.Lost, runs.LostUpdate{
			Version: l.Version,
			Node:    int(l.Update.Node), EnteredNS: o.since(l.Update.Node, l.Update.Entered), ExitedNS: o.since(l.Update.Node, o.exit(l.Update)),
			Other: int(l.Other.Node), OtherEntered: o.since(l.Other.Node, l.Other.Entered), OtherExited: o.since(l.Other.Node, o.exit(l.Other)),
		})
	}
	return r
}

// since returns the time from the start of the run, both on the clock of a node's host.
func (o *Observation) since(id dme.NodeID, at int64) int64 {
	for i := range o.Hosts {
		if h := &o.Hosts[i]; slices.Contains(h.Nodes, int(id)) {
			return at - h.Relation.There(o.Start)
		}
	}
	return at - o.Start
}

// exit returns when the critical section of an update was left, as far as is known: its record is
// lost if its node or the run ended before it was fetched.
func (o *Observation) exit(u record.Update) int64 {
	i := slices.IndexFunc(o.Entries, func(e record.Entry) bool { return e.Node == u.Node && e.Entered == u.Entered })
	if i < 0 {
		return u.Left
	}
	return o.Entries[i].Exited
}

// lostText says in words which update was lost first.
func lostText(r *runs.Resource) string {
	if r == nil || r.LostUpdates == 0 {
		return ""
	}
	what := fmt.Sprintf("%d updates of the shared resource were lost", r.LostUpdates)
	if r.LostUpdates == 1 {
		what = "an update of the shared resource was lost"
	}
	if len(r.Lost) == 0 {
		return what
	}
	l, at := &r.Lost[0], func(ns int64) time.Duration { return time.Duration(ns) }
	first := ""
	if r.LostUpdates > 1 {
		first = " first,"
	}
	return fmt.Sprintf("%s:%s node %d was inside from %v to %v after the start and wrote, and node %d, inside from %v to %v, "+
		"had read version %d before and overwrote it", what, first, l.Node, at(l.EnteredNS), at(l.ExitedNS),
		l.Other, at(l.OtherEntered), at(l.OtherExited), l.Version)
}

// distrustResource finds what cannot be true of the resource of a run in which no
// update was lost and no node was touched.
func (t *timeline) distrustResource(r *record.Resource) string {
	if r == nil || r.Lost+r.Refused > 0 {
		return ""
	}
	writers := uint64(0)
	for i := range t.e {
		if !t.e[i].Shared {
			writers++
		}
	}
	if r.Updates != writers || r.Count != writers {
		return fmt.Sprintf("%d entries were to increment the shared resource, it was written %d times and is %d; does another program use it?",
			writers, r.Updates, r.Count)
	}
	return ""
}

// fillSites says of each site how long its nodes waited, and how often the critical section stayed
// there. It does nothing if all nodes are at one place.
func (t *timeline) fillSites(r *runs.Result, o *Observation) {
	sites := o.Job.Sites()
	if sites == nil {
		return
	}
	var far uint64
	for i := range o.Nodes {
		far += o.Nodes[i].Far
	}
	r.Messages.BetweenSites = &far
	r.Sites = make([]runs.Site, len(sites.Names))
	waits := make([][]int64, len(r.Sites))
	for i := range r.Sites {
		r.Sites[i].Name = sites.Names[i]
		for to := range r.Sites {
			r.Sites[i].DelayNS = append(r.Sites[i].DelayNS, int64(sites.Delay(i, to)))
		}
	}
	for i := range o.Nodes {
		r.Sites[sites.Of(dme.NodeID(i+1))].Nodes++
	}
	before := -1
	for k := range t.len() {
		at := sites.Of(t.entered(k).Node)
		s := &r.Sites[at]
		s.Entries++
		if at == before {
			s.Stays++
		}
		before = at
		waits[at] = append(waits[at], waiting(&t.local[t.inOrder[k]]))
	}
	for i := range r.Sites {
		r.Sites[i].Waiting = quantiles(waits[i])
	}
}
