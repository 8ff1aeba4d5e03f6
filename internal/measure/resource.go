package measure

import (
	"fmt"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/internal/entrylog"
	"dmebench/result"
)

// Resource is what became of a resource that every critical section of a run was to
// read, to increment and to write back. The times of updates are on the clocks of the
// nodes' hosts, as those of entries are.
type Resource struct {
	Kind    string
	Updates uint64                // that were written
	Count   uint64                // what it was incremented to in the end
	Lost    uint64                // updates that were overwritten
	First   []entrylog.LostUpdate // of these
}

// resource tells the lost updates of the run; nil where it had no resource.
func (o *Observation) resource() *result.Resource {
	if o.Resource == nil {
		return nil
	}
	r := &result.Resource{Kind: o.Resource.Kind, Updates: o.Resource.Updates, LostUpdates: o.Resource.Lost}
	for _, l := range o.Resource.First {
		r.Lost = append(r.Lost, result.LostUpdate{
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

// exit returns when the critical section of an update was left, as far as is known: its
// record is lost where its node or the run ended before it was fetched.
func (o *Observation) exit(u entrylog.Update) int64 {
	i := slices.IndexFunc(o.Entries, func(e entrylog.Entry) bool { return e.Node == u.Node && e.Entered == u.Entered })
	if i < 0 {
		return u.Left
	}
	return o.Entries[i].Exited
}

// tellLost says in words which update was lost first.
func tellLost(r *result.Resource) string {
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
func (t *timeline) distrustResource(r *Resource) string {
	if r == nil || r.Lost > 0 {
		return ""
	}
	writers := uint64(0)
	for i := range t.e {
		if !t.e[i].Shared {
			writers++
		}
	}
	if r.Updates != writers || r.Count != writers {
		return fmt.Sprintf("%d entries were to increment the shared resource, it was written %d times and is %d; does somebody else use it?",
			writers, r.Updates, r.Count)
	}
	return ""
}
