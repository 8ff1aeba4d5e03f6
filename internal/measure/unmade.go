package measure

import (
	"fmt"
	"time"

	"dmebench/dme"
	"dmebench/internal/noderun"
	"dmebench/result"
)

// unmade says that a run was asked for requests that it has not made: their nodes were
// taken out of it. Where nobody is left who could make them, the run has not come to its
// end, however quiet it is: it stands still by its faults. Else it is a warning, since the
// others have made their share. What a duration cuts off was not asked for.
func (o *Observation) unmade(r *result.Result) {
	if r.Status != result.OK && r.Status != result.Violated || o.Partial || len(o.Strikes) == 0 {
		return
	}
	var down []dme.NodeID
	for i := range o.Nodes {
		if noderun.Activity(o.Nodes[i].Activity) == noderun.Down {
			down = append(down, dme.NodeID(i+1))
		}
	}
	asked, duration := uint64(o.Job.Plan.Requests()), o.Job.Plan.Duration()
	told := fmt.Sprintf("%d requests were asked for and %d were made", asked, r.Requests)
	if asked == 0 {
		told = fmt.Sprintf("requests were asked for during %v and %d were made", duration, r.Requests)
	}
	nobody := len(down) == r.Nodes
	last := time.Duration(o.Strikes[len(o.Strikes)-1].At - o.Start)
	switch {
	case asked > 0 && r.Requests >= asked, duration > 0 && !(nobody && last < duration):
		return
	case nobody && r.Status == result.OK:
		r.Status, r.Error = result.Stalled, told+": no node is left that could make the others"
		r.Liveness.Stalled, r.Liveness.Down = true, numbers(down, func(id dme.NodeID) dme.NodeID { return id })
	case down == nil:
		r.Warnings = append(r.Warnings, told+": nodes make none while they are down")
	default:
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s: nodes that are down, or have left, make no more (%s)", told, dme.FormatNodes(down)))
	}
}
