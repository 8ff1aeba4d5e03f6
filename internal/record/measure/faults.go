package measure

import (
	"fmt"
	"math"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/internal/record"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/runtime/stall"
	"dmebench/runs"
	"dmebench/workload/fault"
)

// Strike is a fault as it was carried out. Times are on the entries' clock.
type Strike struct {
	Fault fault.Fault
	Nodes []dme.NodeID // nodes that it hit; for a partition, its first side
	At    int64
	Ended int64 // when it was over; 0 while it stays, and of what is done at once
}

func (t *timeline) faults(o *Observation) []runs.Fault {
	var all []runs.Fault
	for i := range o.Strikes {
		all = append(all, t.fault(&o.Strikes[i], o))
	}
	return all
}

func (t *timeline) fault(s *Strike, o *Observation) runs.Fault {
	f := runs.Fault{Fault: s.Fault.String(), AtNS: s.At - o.Start, What: string(s.Fault.Kind)}
	for _, id := range s.Nodes {
		if s.Fault.OfServers() {
			f.Servers = append(f.Servers, int(id)-len(o.Nodes))
		} else {
			f.Nodes = append(f.Nodes, int(id))
		}
	}
	if s.Ended > 0 {
		f.EndedNS = since(s.At, s.Ended)
	}
	// Of a partition no node is hit: those on both sides wait.
	hit := func(id dme.NodeID) bool { return s.Fault.Kind != fault.Partition && slices.Contains(s.Nodes, id) }
	served := int64(-1)              // when the last of those that waited entered
	recovered := int64(record.Never) // when the first of those that live did
	entered := func(requested, at int64) {
		if at > s.At {
			recovered = min(recovered, at)
			if requested <= s.At {
				f.Waiting++
				served = max(served, at)
			}
		}
	}
	for i := range t.e {
		if e := &t.e[i]; !hit(e.Node) {
			entered(e.Requested, e.Entered)
		}
	}
	for _, a := range o.Abandoned {
		switch {
		case hit(a.Node):
			if a.Ended == s.At {
				f.Lost++
			}
		case a.Entered < record.Never:
			entered(a.Requested, a.Entered)
		case a.Made && a.Requested <= s.At && a.Ended > s.At:
			f.Waiting++
			if a.Ended == record.Never {
				served = record.Never
			}
		}
	}
	if recovered < record.Never {
		f.RecoveredNS = since(s.At, recovered)
		sent := t.sentAt(recovered, o.Start, o.Nodes) - t.sentAt(s.At, o.Start, o.Nodes)
		messages := uint64(math.Round(max(0, sent)))
		f.Messages = &messages
	}
	if served >= 0 && served < record.Never {
		f.ServedNS = since(s.At, served)
	}
	return f
}

func since(from, until int64) *int64 {
	d := until - from
	return &d
}

// lost returns how many requests that were made ended with their nodes.
func lost(o *Observation) (n uint64) {
	for _, a := range o.Abandoned {
		if a.Made && a.Ended < record.Never {
			n++
		}
	}
	return n
}

// diedInside returns when nodes entered that were then removed while inside.
func diedInside(o *Observation) (entered []int64) {
	for _, a := range o.Abandoned {
		if a.Entered < record.Never && a.Ended < record.Never {
			entered = append(entered, a.Entered)
		}
	}
	return entered
}

func explain(l *runs.Liveness, o *Observation, sum *totals) {
	if o.Standstill == nil {
		return
	}
	s := *o.Standstill
	if len(s.Losses) == 0 && len(s.Absent) == 0 { // what is sent to a node that is down is lost, too
		s.Lost = sum.missing(o.Job.Algorithm)
	}
	s.Absent = slices.Clone(s.Absent)
	for i := range s.Absent {
		o.describe(&s.Absent[i])
	}
	l.Why = s.Explain().Lines()
	for _, e := range s.Edges {
		l.Waits = append(l.Waits, runs.Wait{Node: int(e.Node), For: int(e.For), What: e.What})
	}
	l.Waiting = numbers(s.Waiting, func(id dme.NodeID) dme.NodeID { return id })
	l.Down = numbers(s.Absent, func(a stall.Absent) dme.NodeID { return a.Node })
}

// describe says when a node was last taken out of the run, and whether the fault
// sought the token with it.
func (o *Observation) describe(a *stall.Absent) {
	for _, s := range slices.Backward(o.Strikes) {
		if (s.Fault.Kind == fault.Kill || s.Fault.Kind == fault.Leave) && slices.Contains(s.Nodes, a.Node) {
			a.Since = time.Duration(s.At - o.Start)
			a.Token = a.Token || s.Fault.Role == fault.Token || s.Fault.Role == fault.Holder
			return
		}
	}
}

func numbers[T any](all []T, of func(T) dme.NodeID) []int {
	var ids []int
	for _, x := range all {
		ids = append(ids, int(of(x)))
	}
	return ids
}

// missing says how many messages of each kind were sent and never handled.
func (t *totals) missing(a *dme.Algorithm) []string {
	var all []string
	for k, sent := range t.traffic.Sent {
		if handled := t.traffic.Handled[k]; sent > handled && k > 0 {
			all = append(all, fmt.Sprintf("%d %s", sent-handled, a.KindName(dme.Kind(k))))
		}
	}
	return all
}

// unmade says that requests were asked for that the run has not made: their nodes were taken out of
// it. If no node is left to make them, the run stands still by its faults, however quiet it is.
// Else it is a warning, since the others have made their share. Requests that a duration cuts off
// were not asked for.
func (o *Observation) unmade(r *runs.Result) {
	asked, duration := uint64(o.Job.Plan.Requests()), int64(o.Job.Plan.Duration())
	if r.Status != runs.OK && r.Status != runs.Violated || o.Partial || len(o.Strikes) == 0 || asked > 0 && r.Requests >= asked {
		return
	}
	made := fmt.Sprintf("%d requests were asked for and %d were made: ", asked, r.Requests)
	if asked == 0 {
		made = fmt.Sprintf("%d requests were made: ", r.Requests)
	}
	up := func(n noderun.Counts) bool { return noderun.Activity(n.Activity) != noderun.Down }
	nobody := !slices.ContainsFunc(o.Nodes, up)
	switch last := o.Strikes[len(o.Strikes)-1].At - o.Start; {
	case duration > 0 && !(nobody && last < duration):
	case nobody && r.Status == runs.OK:
		r.Status, r.Liveness.Stalled, r.Error = runs.Stalled, true, made+"no node is left that could make more"
	default:
		r.Warnings = append(r.Warnings, made+"a node that is down, or has left, makes none")
	}
}
