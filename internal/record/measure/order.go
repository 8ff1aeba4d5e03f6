package measure

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"dmebench/dme"
	"dmebench/internal/platform/hugepages"
	"dmebench/internal/runtime/noderun"
	"dmebench/runs"
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

// firstSince returns the position of the first entry after the request of entry k. It is
// looked for backwards from k, since few entries lie between most requests and theirs.
func (t *timeline) firstSince(k int) int {
	requested := t.e[t.byEntry[k]].Requested
	after := func(j int) bool { return t.e[t.byEntry[j]].Entered > requested }
	back := 1
	for back <= k && after(k-back) {
		back *= 2
	}
	from := max(0, k-back)
	return from + sort.Search(k-from, func(j int) bool { return after(from + j) })
}

// lastNode is the largest number of a node that entered.
func (t *timeline) lastNode() (last dme.NodeID) {
	for i := range t.e {
		last = max(last, t.e[i].Node)
	}
	return last
}

// maxBypass returns the largest number of entries between a request and its entry, which are
// all by other nodes, and of those by one of them, in O(n log n) time.
func (t *timeline) maxBypass() (byAll, byOne uint64) {
	most := 0
	since := hugepages.Make[int32](t.len()) // firstSince
	nth := hugepages.Make[int32](t.len())   // the number of each entry among its node's, from 0
	of := hugepages.Make[int32](t.len())    // the positions of a node's entries, one node after the other
	first := make([]int32, t.lastNode()+2)  // where they begin, by node
	for k, i := range t.byEntry {
		id := t.e[i].Node
		since[k], nth[k] = int32(t.firstSince(k)), first[id+1]
		first[id+1]++
		most = max(most, k-int(since[k]))
	}
	for id := range t.lastNode() + 1 {
		first[id+1] += first[id]
	}
	for k, i := range t.byEntry {
		of[first[t.e[i].Node]+nth[k]] = int32(k)
	}
	// A node has more than count entries from since[k] until k if one of its entries before k has
	// the one that is count entries back at or after since[k].
	more := func(count int) bool {
		latest := int32(-1)
		for k := range since {
			if latest >= since[k] {
				return true
			}
			if back := nth[k] - int32(count); back >= 0 {
				latest = max(latest, of[first[t.e[t.byEntry[k]].Node]+back])
			}
		}
		return false
	}
	few := 1 // usually it is hardly more
	for few < most && more(few) {
		few *= 2
	}
	return uint64(most), uint64(sort.Search(min(few, most), func(count int) bool { return !more(count) }))
}

// overlaps returns the number of entries that began while a conflicting one had not ended, as far
// as the recorded times show. Readers do not conflict with one another; an entry in the very
// instant of an exit does not overlap.
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

// totals are sums and maxima over all nodes.
type totals struct {
	noderun.Counts
	traffic noderun.TrafficCounts
	busiest uint64 // messages sent and handled by the node that did most
}

func total(nodes []noderun.Counts, traffic []noderun.TrafficCounts) totals {
	t := totals{Counts: noderun.Total(nodes)}
	for i := range traffic {
		noderun.AddTraffic(&t.traffic, &traffic[i])
	}
	for i := range nodes {
		t.busiest = max(t.busiest, nodes[i].Sent+nodes[i].Handled)
	}
	return t
}

// uncounted says which messages were sent and not handled, or the reverse, by kind: "5 REQUEST sent
// and 4 handled". Empty if the two sides agree. Kind 0 stands for messages that their receiver
// could not read.
func (t *totals) uncounted(a *dme.Algorithm) string {
	var faults []string
	for k, sent := range t.traffic.Sent {
		handled := t.traffic.Handled[k]
		if sent == handled {
			continue
		}
		name := "foreign"
		if k > 0 {
			name = a.KindName(dme.Kind(k))
		}
		faults = append(faults, fmt.Sprintf("%d %s sent and %d handled", sent, name, handled))
	}
	return strings.Join(faults, ", ")
}

func (t *totals) messages(a *dme.Algorithm, perEntry map[int]uint64) runs.Messages {
	m := runs.Messages{
		Total: t.Sent, Transmissions: t.traffic.Transmissions, Refused: t.Refused,
		PerCS:  ratio(float64(t.Sent), float64(t.Entries)),
		ByKind: make(map[string]uint64, len(a.Kinds)),
	}
	for i, name := range a.Kinds {
		m.ByKind[name] = t.traffic.Sent[i+1]
	}
	if perEntry != nil {
		m.PerEntry = make(map[string]uint64, len(perEntry))
		for messages, entries := range perEntry {
			m.PerEntry[strconv.Itoa(messages)] = entries
		}
	}
	return m
}

// sentAt estimates how many messages all nodes together had sent at the instant
// at. The count of a node is known at the start and at its exits; in between
// it is interpolated, and after its last exit it grows until the node's last
// event.
func (t *timeline) sentAt(at, start int64, nodes []noderun.Counts) float64 {
	type point struct {
		at   int64
		sent uint64
	}
	before := make([]point, len(nodes)) // the last known at or before the instant
	after := make([]point, len(nodes))  // the first known after it
	for i := range nodes {
		before[i] = point{start, 0}
		after[i] = point{nodes[i].LastMove, nodes[i].Sent}
	}
	found := make([]bool, len(nodes)) // an exit after the instant
	for k := range t.len() {
		e := t.exited(k)
		i := int(e.Node) - 1
		if i < 0 || i >= len(nodes) || found[i] {
			continue
		}
		p := point{e.Exited, e.Sent}
		if e.Exited <= at {
			before[i] = p
		} else {
			after[i], found[i] = p, true
		}
	}
	sum := 0.0
	for i := range nodes {
		a, b := before[i], after[i]
		if b.at <= at { // the node's last event was before the instant
			sum += float64(b.sent)
			continue
		}
		part := float64(at-a.at) / float64(b.at-a.at)
		sum += float64(a.sent) + (float64(b.sent)-float64(a.sent))*part
	}
	return sum
}
