package localprocess

import (
	"math"

	"dmebench/internal/noderun"
	"dmebench/workload"
)

// Continue is Begin for a process whose node comes into a run that began at the
// time start: back after a crash, having made so many requests, or for the first
// time. It goes on where it stopped: what it had asked for is lost with it, and
// what an open schedule wanted meanwhile is not made up for.
func (p *Process) Continue(start int64, made int) {
	now := p.env.Now()
	p.start, p.deadline = start, math.MaxInt64
	if d := p.client.Duration(); d > 0 {
		p.deadline = start + int64(d)
	}
	after, ok := p.client.Next()
	base := now
	if p.client.Drive() == workload.Open {
		base = start
		for ok && base+int64(after) < now {
			after, ok = p.client.Next()
		}
	} else {
		for range made {
			p.client.Hold()
			p.client.Reads()
			after, ok = p.client.Next()
		}
	}
	if p.more = ok && base+int64(after) < p.deadline; p.more {
		p.Expect(base + int64(after))
	}
	p.publish()
}

// departure says whether a node is to leave the system.
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
		p.Runner.Leave()
	}
}
