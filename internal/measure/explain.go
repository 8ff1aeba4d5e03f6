package measure

import (
	"fmt"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/internal/stall"
	"dmebench/result"
	"dmebench/workload/fault"
)

// explain says why a stalled run has stalled.
func explain(l *result.Liveness, o *Observation, sum *totals) {
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
		l.Waits = append(l.Waits, result.Wait{Node: int(e.Node), For: int(e.For), What: e.What})
	}
	l.Waiting = numbers(s.Waiting, func(id dme.NodeID) dme.NodeID { return id })
	l.Down = numbers(s.Absent, func(a stall.Absent) dme.NodeID { return a.Node })
}

// describe says when a node was last taken out of the run, and whether the fault
// sought the token with it.
func (o *Observation) describe(a *stall.Absent) {
	for _, s := range slices.Backward(o.Strikes) {
		if (s.Fault.What == fault.Kill || s.Fault.What == fault.Leave) && slices.Contains(s.Nodes, a.Node) {
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
	for k := range t.Sent {
		if t.Sent[k] > t.Handled[k] && k > 0 {
			all = append(all, fmt.Sprintf("%d %s", t.Sent[k]-t.Handled[k], a.KindName(dme.Kind(k))))
		}
	}
	return all
}
