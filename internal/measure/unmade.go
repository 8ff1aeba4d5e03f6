package measure

import (
	"fmt"
	"slices"

	"dmebench/internal/noderun"
	"dmebench/result"
)

// unmade says that a run was asked for requests that it has not made: their nodes were
// taken out of it. Where nobody is left who could make them, the run stands still by its
// faults, however quiet it is. Else it is a warning, since the others have made their
// share. What a duration cuts off was not asked for.
func (o *Observation) unmade(r *result.Result) {
	asked, duration := uint64(o.Job.Plan.Requests()), int64(o.Job.Plan.Duration())
	if r.Status != result.OK && r.Status != result.Violated || o.Partial || len(o.Strikes) == 0 || asked > 0 && r.Requests >= asked {
		return
	}
	told := fmt.Sprintf("%d requests were asked for and %d were made: ", asked, r.Requests)
	if asked == 0 {
		told = fmt.Sprintf("%d requests were made: ", r.Requests)
	}
	up := func(n noderun.Counts) bool { return noderun.Activity(n.Activity) != noderun.Down }
	nobody := !slices.ContainsFunc(o.Nodes, up)
	switch last := o.Strikes[len(o.Strikes)-1].At - o.Start; {
	case duration > 0 && !(nobody && last < duration):
	case nobody && r.Status == result.OK:
		r.Status, r.Liveness.Stalled, r.Error = result.Stalled, true, told+"no node is left that could make more"
	default:
		r.Warnings = append(r.Warnings, told+"a node that is down, or has left, makes none")
	}
}
