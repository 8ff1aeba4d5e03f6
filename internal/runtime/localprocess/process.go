// Package localprocess is the local process of a node in a measured run: it
// asks for the critical section, stays in it and leaves it, as a workload says.
package localprocess

import (
	"math"

	"dmebench/dme"
	"dmebench/internal/record"
	"dmebench/internal/runtime/noderun"
	"dmebench/workload"
)

// Env is what a local process needs from its runtime. Times are nanoseconds on
// the runtime's clock.
type Env interface {
	Now() int64
	// ArriveAt calls the process's Arrive(at) at the time at, or soon after.
	ArriveAt(id dme.NodeID, at int64)
	// ExitAt calls the process's Exit at the time at, or soon after; never
	// before the current call into the process has returned.
	ExitAt(id dme.NodeID, at int64)
	// Enter tells the witness that the node is in its critical section, and
	// returns the entry's position in the order of all entries, from 1.
	Enter(id dme.NodeID, shared bool) (order uint64)
	// Exit tells the witness that the node leaves its critical section.
	Exit(id dme.NodeID, shared bool)
}

// Process is the local process of one node: it asks for the critical section
// when its workload says so, stays inside for as long as the workload says,
// leaves, and records what happened. It embeds what runs the node; the runtime's
// World passes Enter on to [Process.Entered].
type Process struct {
	noderun.Runner
	env     Env
	client  *workload.Client
	log     *record.Log
	Fences  bool // the stamps of entries are fencing tokens
	more    bool // the client has more requests to make
	departs departure

	start    int64 // when the measured run began
	deadline int64 // no request after this time

	scheduled int     // arrivals that the runtime has still to call
	waiting   []int64 // intended and arrived times of requests behind the current one, in pairs
	unserved  int     // requests given up at the deadline
	current   record.Entry
	waits     *noderun.Waits // nil if not counted
}

// New returns the local process of h's node. client says when it asks; log
// receives an entry for each critical section.
func New(h noderun.Runner, env Env, client *workload.Client, log *record.Log) Process {
	return Process{Runner: h, env: env, client: client, log: log}
}

// Watch has the process count in w how long it waits for each entry; nil for nowhere.
func (p *Process) Watch(w *noderun.Waits) { p.waits = w }

// Begin starts the workload at the time start: the process's own schedule,
// if it has one, counts from there.
func (p *Process) Begin(start int64) {
	p.span(start)
	if p.Activity() == noderun.Down {
		return // not part of the system yet
	}
	p.more = true
	p.schedule(start)
	p.publish()
}

// span notes when the run began, and until when requests are made.
func (p *Process) span(start int64) {
	p.start, p.deadline = start, math.MaxInt64
	if d := p.client.Duration(); d > 0 {
		p.deadline = start + int64(d)
	}
}

// schedule asks the client for the next request that is not before from, and arranges its
// arrival. In a closed loop the pause counts from then; in an open one the client's times
// count from the start.
func (p *Process) schedule(from int64) {
	for p.more {
		after, ok := p.client.Next()
		at := from + int64(after)
		if p.client.Drive() == workload.Open {
			at = p.start + int64(after)
		}
		if !ok || at >= p.deadline {
			p.more = false
		} else if at >= from {
			p.Expect(at)
			return
		}
	}
}

// Expect arranges one more arrival at the time at: a step of a stepped
// workload, or the process's own.
func (p *Process) Expect(at int64) {
	p.scheduled++
	p.publish()
	p.env.ArriveAt(p.ID(), at)
}

// Arrive makes a request that was intended for the time intended. It waits in
// line while an earlier request of this node is pending.
func (p *Process) Arrive(intended int64) {
	if p.departs != stays {
		return
	}
	p.scheduled--
	now := p.env.Now()
	if p.Activity() == noderun.Idle {
		p.ask(now, intended, now)
	} else {
		p.waiting = append(p.waiting, intended, now)
	}
	if p.client.Drive() == workload.Open {
		p.schedule(p.start)
	}
	p.publish()
}

func (p *Process) ask(now, intended, arrived int64) {
	p.current = record.Entry{Node: p.ID(), Intended: intended, Arrived: arrived, Requested: now}
	if p.client.Reads() {
		p.RequestShared()
	} else {
		p.Request()
	}
}

// Entered is what the runtime's World calls for Enter.
func (p *Process) Entered(stamp dme.Stamp) {
	e := &p.current
	e.Clock = stamp.Clock
	e.Shared = p.Shared()
	e.Order = p.env.Enter(p.ID(), e.Shared)
	e.Entered = p.env.Now()
	if p.waits != nil {
		p.waits.Add(e.Entered - e.Intended)
	}
	p.env.ExitAt(p.ID(), e.Entered+int64(p.client.Hold()))
}

// Exit ends the critical section and makes the next request, if one is due.
func (p *Process) Exit() {
	now := p.env.Now()
	p.env.Exit(p.ID(), p.current.Shared)
	p.current.Exited = now
	p.current.Sent = p.Counters().Sent.Load()
	p.log.Add(p.current)

	// Requests still to come are published before Release makes the node idle:
	// an idle node with nothing to come is what quiescence looks for.
	next, ask := now, false
	var intended, arrived int64
	switch {
	case len(p.waiting) > 0 && now < p.deadline:
		intended, arrived = p.waiting[0], p.waiting[1]
		p.waiting = p.waiting[2:]
		ask = true
	case len(p.waiting) > 0:
		p.unserved += len(p.waiting) / 2
		p.waiting = nil
	case p.client.Drive() == workload.Closed && p.more:
		pause, ok := p.client.Next()
		next = now + int64(pause)
		if !ok || next >= p.deadline {
			p.more = false
		} else if pause > 0 {
			p.Expect(next)
		} else {
			intended, arrived = now, now
			ask = true
		}
	}
	if ask {
		p.Counters().Pending.Store(1)
	} else {
		p.publish()
	}
	p.Release()
	if ask {
		// Asked in the same step as the release, so that no message of another
		// node comes between the two.
		p.ask(p.env.Now(), intended, arrived)
		p.publish()
	}
	if p.departs == departs {
		p.depart()
	}
}

// publish shows readers of the counters how much is still to come.
func (p *Process) publish() {
	n := uint64(p.scheduled + len(p.waiting)/2)
	if p.more {
		n++
	}
	p.Counters().Pending.Store(n)
}

// Unserved returns the number of requests that wait in line, or were given up when the run's
// duration ended.
func (p *Process) Unserved() int { return p.unserved + len(p.waiting)/2 }

// Update is what the node's critical section, left at that time, writes into a resource that
// the sections have in common; shared says that it is a reader's.
func (p *Process) Update(left int64) (u record.Update, shared bool) {
	return record.Update{
		Node: p.ID(), Entry: p.Counters().Entries.Load() + 1, Entered: p.current.Entered, Left: left, Fencing: p.Fencing(),
	}, p.current.Shared
}

// Fencing returns the token with which the node has entered; 0 if it has none.
func (p *Process) Fencing() uint64 {
	if p.Fences {
		return p.current.Clock
	}
	return 0
}

// Place gives the current entry its place in the order of all entries, if not the witness knows it
// but a resource that the entries have in common.
func (p *Process) Place(order uint64) { p.current.Order = order }

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

// Resume goes on with the workload of a node that has come back, or in. due is the time of the
// arrival that was dropped when it went, -1 if none was. In a closed loop the node makes the
// requests that it had not made; in an open one, arrivals that were due while it was down are not
// made up for.
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
// time start: back after a crash, having made that many requests, or for the first
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
	departed           // as it was asked to
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
