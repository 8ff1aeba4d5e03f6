package coordinator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/internal/entrylog"
	"dmebench/internal/host"
	"dmebench/internal/measure"
	"dmebench/internal/noderun"
)

// What is here tells what was done to a run, and to whom.

// recount says what was done to the run, as the end of a sentence.
func (i *injector) recount() string {
	if i == nil {
		return ""
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	var all []string
	for _, s := range i.strikes {
		at := time.Duration(s.At - i.c.start).Round(time.Millisecond)
		all = append(all, fmt.Sprintf("%s %s at %v", s.Fault.What, dme.FormatNodes(s.Nodes), at))
	}
	if all == nil {
		return ""
	}
	return "; before that: " + strings.Join(all, ", ")
}

// observeFaults says what was done to the run, and what ended with the nodes that
// were hit. What every node has recorded outlives it.
func (c *coordinator) observeFaults(ctx context.Context, o *measure.Observation) error {
	i := c.faults
	if i == nil {
		return nil
	}
	i.telling.Wait() // for who hands over what a host leaves that is lost by now
	i.mu.Lock()
	defer i.mu.Unlock()
	o.Strikes = slices.Clone(i.strikes)
	o.Abandoned = slices.Clone(i.abandoned)
	i.bequeath(o)
	o.Warnings, o.Missed = append(o.Warnings, i.director.Warnings()...), i.director.Missed(c.stop)
	for k := range o.Nodes {
		id := dme.NodeID(k + 1)
		if c.lost[c.places[c.workerOf(id)].host].Load() {
			continue
		}
		at := c.hostOf(c.workerOf(id))
		log, err := at.Log(ctx, id)
		if err != nil {
			return c.lostHost(err)
		}
		o.Entries = append(o.Entries, log...)
		r := host.Remains{Activity: noderun.Activity(o.Nodes[k].Activity), Requests: o.Nodes[k].Requests}
		if r.Activity == noderun.Inside {
			if r.Entered, err = at.LastEntered(ctx, id); err != nil {
				return c.lostHost(err)
			}
		}
		if r.Activity == noderun.Requesting || r.Activity == noderun.Inside {
			o.Abandoned = append(o.Abandoned, i.pending(id, r))
		}
	}
	return nil
}

// asked is when a node was first seen to wait for a request.
type asked struct {
	requests uint64 // the node's, with this one
	at       int64
}

// pending describes the request of a node that waits, or is inside. When it was
// made is not known; it matters only at which faults it had been made already. It
// is called with mu held.
func (i *injector) pending(id dme.NodeID, r host.Remains) entrylog.Abandoned {
	x := entrylog.Abandoned{Node: id, Made: true, Requested: i.c.clock.Now(), Entered: entrylog.Never, Ended: entrylog.Never}
	if seen, ok := i.asked[id]; ok && seen.requests == r.Requests {
		x.Requested = seen.at
	}
	if r.Activity == noderun.Inside {
		x.Entered, _ = i.c.hostOf(i.c.workerOf(id)).Clock().Here(r.Entered)
	}
	return x
}
