package measure

import (
	"fmt"
	"slices"
	"strings"

	"dmebench/dme"
	"dmebench/internal/record"
	"dmebench/runs"
)

// distrust finds what cannot be true in a run that seems to have gone well: a worker that counts or
// records wrongly must not pass for one that does well. It returns the nodes concerned, nil if none
// in particular.
func (t *timeline) distrust(o *Observation, sum *totals) (nodes []int, why string) {
	if len(o.Job.Faults) > 0 || len(o.Nodes) == 0 {
		return nil, "" // nodes may end between the two sides of an account
	}
	logged := make([]uint64, len(o.Nodes))
	for i := range t.e {
		if id := int(t.e[i].Node); id < 1 || id > len(logged) {
			return nil, fmt.Sprintf("there is a record of node %d of %d", id, len(logged))
		} else {
			logged[id-1]++
		}
	}
	ended := make([]uint64, len(o.Nodes)) // requests, with nodes of a host that was lost
	for _, a := range o.Abandoned {
		if a.Made && a.Ended < record.Never {
			ended[a.Node-1]++
		}
	}
	for i := range o.Nodes {
		n := &o.Nodes[i]
		switch {
		case n.Requests != n.Entries+ended[i]:
			why = fmt.Sprintf("node %d has made %d requests and %d entries", i+1, n.Requests, n.Entries)
		case o.Dropped == 0 && logged[i] != n.Entries:
			why = fmt.Sprintf("node %d has made %d entries and recorded %d", i+1, n.Entries, logged[i])
		default:
			continue
		}
		nodes = append(nodes, i+1)
	}
	if nodes != nil {
		return nodes, why
	}
	for k := 1; k < t.len() && t.fenced; k++ {
		if a, b := t.entered(k-1), t.entered(k); a.Order > 0 && a.Order == b.Order && !(o.fenced() && a.Shared) {
			return []int{int(a.Node), int(b.Node)}, fmt.Sprintf("nodes %d and %d both claim entry %d of all", a.Node, b.Node, a.Order)
		}
	}
	if nodes, why := t.claimedTwice(); why != "" {
		return nodes, why
	}
	if why := t.distrustResource(o.Resource); why != "" && o.Dropped == 0 {
		return nil, why
	}
	if o.Job.Guarantees().Reliable && len(o.Strikes) == 0 { // what was sent to a node that was struck may be lost
		if faults := sum.uncounted(o.Job.Algorithm); faults != "" {
			return nil, "senders and receivers disagree: " + faults
		}
	}
	return nil, ""
}

// claimedTwice finds two nodes of one host that claim the same place in the order that
// their witness saw, if each host has one of its own.
func (t *timeline) claimedTwice() (nodes []int, why string) {
	if t.fenced {
		return nil, ""
	}
	type place struct {
		host  int
		order uint64
	}
	first := make(map[place]dme.NodeID)
	for i := range t.local {
		e := &t.local[i]
		at := place{t.clocks.host(e.Node), e.Order}
		if id, ok := first[at]; ok && e.Order > 0 {
			return []int{int(min(id, e.Node)), int(max(id, e.Node))},
				fmt.Sprintf("nodes %d and %d both claim entry %d of their host", min(id, e.Node), max(id, e.Node), e.Order)
		}
		first[at] = e.Node
	}
	return nil, ""
}

// lostHost says why it is unknown what the workers of a lost host did.
func lostHost(o *Observation) string {
	return "host " + o.Doubts[0].Host + " was lost, and its nodes may have been inside until its workers had ended"
}

func (t *timeline) judge(r *runs.Result, o *Observation, sum *totals) {
	if r.Safety.Violations > 0 {
		r.Status = runs.Violated
	}
	if n := t.doubtful(o); r.Status == runs.OK && n > 0 {
		r.Status = runs.Failed
		r.Error = fmt.Sprintf("measure: %d of %d entries are undecided: %s; run again", n, t.len(), lostHost(o))
	}
	if r.Status == runs.OK && len(o.Missed) > 0 && !o.Job.Spec.AllowMismatch {
		r.Status = runs.Failed
		r.Error = "measure: " + strings.Join(o.Missed, "; ") + "; let the run last longer (--requests, --duration) or the fault come earlier, " +
			"or allow it with --allow-mismatch (allow_mismatch: true in a file)"
		return
	}
	o.Warnings = slices.Concat(o.Warnings, o.Missed)
	if r.Status != runs.OK {
		return
	}
	if nodes, why := t.distrust(o, sum); why != "" {
		r.Status, r.FailedNodes = runs.Failed, nodes
		r.Error = "measure: the run seemed quiet, but " + why + "; no count of this run can be trusted"
	}
}
