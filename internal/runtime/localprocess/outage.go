package localprocess

import (
	"dmebench/internal/record"
	"dmebench/internal/runtime/noderun"
	"dmebench/workload"
)

// Unserved requests end with a node that goes; what its workload has still to
// make, the process of its next incarnation makes.

// Unfinished lists the requests that are pending: the one that the node was asked
// for, or is inside with, and those that wait in line behind it.
func (p *Process) Unfinished() []record.Abandoned {
	var all []record.Abandoned
	if a := p.Activity(); a == noderun.Requesting || a == noderun.Inside {
		x := record.Abandoned{
			Node: p.ID(), Made: true, Requested: p.current.Requested, Entered: record.Never, Ended: record.Never,
		}
		if a == noderun.Inside {
			x.Entered = p.current.Entered
		}
		all = append(all, x)
	}
	for i := 0; i < len(p.waiting); i += 2 {
		all = append(all, record.Abandoned{
			Node: p.ID(), Requested: p.waiting[i+1], Entered: record.Never, Ended: record.Never,
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
		p.schedule(now)
	}
	p.publish()
}

// Continue is Begin for a process whose node comes into a run that began at the
// time start: back after a crash, having made so many requests, or for the first
// time. It goes on where it stopped: what it had asked for is lost with it, and
// what an open schedule wanted meanwhile is not made up for.
func (p *Process) Continue(start int64, made int) {
	p.span(start)
	if p.client.Drive() == workload.Closed {
		for range made {
			p.client.Next()
			p.client.Hold()
			p.client.Reads()
		}
	}
	p.more = true
	p.schedule(p.env.Now())
	p.publish()
}

type departure uint8

const (
	stays    departure = iota
	departs            // as soon as the process is idle
	departed           // it was told to
)

// Depart has the node leave the system as soon as the process is idle, which makes
// no further request: not even those that wait in line.
func (p *Process) Depart() {
	p.departs, p.more = departs, false
	p.scheduled, p.waiting = 0, nil // what arrives from now on comes to nothing
	p.publish()
	p.depart()
}

func (p *Process) depart() {
	if p.Activity() == noderun.Idle {
		p.departs = departed
		p.Runner.Depart()
	}
}
