package localprocess

import (
	"dmebench/internal/entrylog"
	"dmebench/internal/noderun"
	"dmebench/workload"
)

// Unserved requests end with a node that goes; what its workload has still to
// make, the process of its next incarnation makes.

// Unfinished lists the requests that are pending: the one that the node was asked
// for, or is inside with, and those that wait in line behind it.
func (p *Process) Unfinished() []entrylog.Abandoned {
	var all []entrylog.Abandoned
	if a := p.Activity(); a == noderun.Requesting || a == noderun.Inside {
		x := entrylog.Abandoned{
			Node: p.ID(), Made: true, Requested: p.current.Requested, Entered: entrylog.Never, Ended: entrylog.Never,
		}
		if a == noderun.Inside {
			x.Entered = p.current.Entered
		}
		all = append(all, x)
	}
	for i := 0; i < len(p.waiting); i += 2 {
		all = append(all, entrylog.Abandoned{
			Node: p.ID(), Requested: p.waiting[i+1], Entered: entrylog.Never, Ended: entrylog.Never,
		})
	}
	return all
}

// Crash ends the process with its node. The runtime forgets the arrivals and the
// exit that it was to call.
func (p *Process) Crash() {
	p.Runner.Crash()
	p.waiting, p.scheduled, p.more, p.departs = nil, 0, false, stays
	p.publish()
}

// Resume goes on with the workload of a node that has come back, or in. due is the
// time of the arrival that was forgotten when it went, -1 where none was. In a
// closed loop the node asks for what it had not asked for; in an open one, nobody
// asked for what was due while it was down.
func (p *Process) Resume(due int64) {
	now := p.env.Now()
	p.more = p.client.Drive() != workload.Stepped
	switch {
	case !p.more:
	case due >= now, due >= 0 && p.client.Drive() == workload.Closed:
		p.Expect(max(due, now))
	default:
		p.scheduleFrom(now)
	}
	p.publish()
}

// scheduleFrom arranges the next arrival that is not before now.
func (p *Process) scheduleFrom(now int64) {
	for p.more {
		after, ok := p.client.Next()
		at := now + int64(after)
		if p.client.Drive() == workload.Open {
			at = p.start + int64(after)
		}
		if !ok || at >= p.deadline {
			p.more = false
		} else if at >= now {
			p.Expect(at)
			return
		}
	}
}
