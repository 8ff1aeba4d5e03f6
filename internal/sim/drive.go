package sim

import (
	"fmt"
	"runtime"
	"time"

	"dmebench/dme"
	"dmebench/internal/platform/environment"
	"dmebench/internal/record/measure"
	"dmebench/internal/runtime/localprocess"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/runtime/stall"
	"dmebench/runs"
	"dmebench/units"
	"dmebench/workload"
)

// run carries the job out until the system is quiet. An error: there is nothing to report.
func (s *simulation) run() (err error) {
	// A node panics if an invariant of its algorithm is violated: an outcome like others.
	defer func() {
		if fault := recover(); fault != nil {
			s.fail(fmt.Sprintf("sim: at %v, node %d: %v", time.Duration(s.now), s.current, fault))
			s.failed = []int{int(s.current)}
		}
	}()
	s.build()
	s.each(func(p *localprocess.Process) {
		if p.Activity() != noderun.Down {
			p.Start()
		}
	})
	stepped := s.job.Plan.Drive() == workload.Stepped
	if stepped || !s.stoppers {
		if err := s.settle(); err != nil {
			return err
		}
	}
	if s.status != runs.OK {
		return nil
	}
	if stepped && s.flight.n > 0 {
		// Steps begin when nothing moves, and a perpetual token always does. To stop it first would
		// be no way out, since no node could then get it. An algorithm that declares itself
		// perpetual has been refused, or put into another mode, before it came here.
		return fmt.Errorf("sim: %s needs a system that falls silent between its steps, but %v after the start of %s %d messages are in flight; "+
			"choose a workload without steps, such as saturate or poisson",
			s.job.Spec.Workload, time.Duration(s.now), s.job.Algorithm.Name, s.flight.n)
	}
	s.start, s.begun = s.now, true
	s.looks.show()
	s.faults.begin()
	s.each(func(p *localprocess.Process) { p.Begin(s.start) })
	if stepped {
		return s.steps()
	}
	return s.untilQuiet()
}

func (s *simulation) each(event func(*localprocess.Process)) {
	for i := range s.procs {
		p := &s.procs[i]
		s.current = p.ID()
		event(p)
		s.moved(p.ID())
	}
}

// settle lets the messages of the nodes' Start pass through all nodes before the workload begins.
func (s *simulation) settle() error {
	end := s.now + int64(min(10*float64(len(s.procs)+1)*float64(s.delays.mean+s.links.typical()), float64(1<<62)))
	for s.flight.n > 0 && s.now < end && s.status == runs.OK {
		if _, err := s.step(); err != nil {
			return err
		}
	}
	return nil
}

// untilQuiet carries out events until there are none. Once all are served it stops a perpetual
// token.
func (s *simulation) untilQuiet() error {
	stopped := !s.stoppers
	for s.status == runs.OK {
		if !stopped && s.watch.busy == 0 {
			stopped = true
			s.each(func(p *localprocess.Process) {
				if p.Activity() != noderun.Down {
					p.Stop()
				}
			})
		}
		more, err := s.step()
		if err != nil {
			return err
		}
		switch {
		case s.status != runs.OK:
		case !more && s.watch.busy == 0:
			return nil
		case !more:
			s.stall("nothing moves")
		case s.watch.stuck(s.now, s.faults.leaving()) && !s.faults.more():
			s.stall(fmt.Sprintf("messages or timers go on, but no node has entered for %v", time.Duration(s.now-s.watch.progressed)))
		case s.watch.restless(s.now):
			s.fail(fmt.Sprintf("sim: every request was served, but %v later the system has not fallen silent: "+
				"%d messages are in flight and %d timers set",
				time.Duration(s.now-s.watch.restful), s.flight.n, len(s.timers.armed)))
		}
	}
	return nil
}

// steps carries out a stepped plan: each step begins when the system is quiet.
func (s *simulation) steps() error {
	plan := s.job.Plan
	if s.job.Spec.Workload == "serial" {
		s.perEntry = make(map[int]uint64)
	}
	for k := 0; (plan.Steps() < 0 || k < plan.Steps()) && s.status == runs.OK; k++ {
		base := s.now
		if plan.Duration() > 0 && base-s.start >= int64(plan.Duration()) {
			break
		}
		before := s.messages
		for _, a := range plan.Step(k) {
			if !s.faults.asks(a.Node) {
				continue
			}
			s.current = a.Node
			s.process(a.Node).Expect(base + int64(a.After))
			s.moved(a.Node)
		}
		if err := s.untilQuiet(); err != nil {
			return err
		}
		if s.perEntry != nil && s.status == runs.OK {
			s.perEntry[int(s.messages-before)]++
		}
	}
	return nil
}

func (s *simulation) stall(why string) {
	s.status = runs.Stalled
	s.err = fmt.Sprintf("sim: stalled at %v with %s pending: %s", time.Duration(s.now), units.Counted(s.watch.requesting, "request"), why)
}

func (s *simulation) fail(why string) {
	s.status, s.err = runs.Failed, why
}

// maxExitsAtOnce bounds the exits at one instant in a run that only its duration ends.
const maxExitsAtOnce = 1 << 18

// countExit notices that virtual time stands still: critical sections of no length for ever.
func (s *simulation) countExit() {
	if s.now != s.exitInstant {
		s.exitInstant, s.exitsAtOnce = s.now, 0
	}
	s.exitsAtOnce++
	if s.exitsAtOnce > maxExitsAtOnce && s.job.Plan.Requests() == 0 {
		s.fail(fmt.Sprintf("sim: %d critical sections began and ended at the instant %v, so that the run's duration would never pass; "+
			"let a critical section last (--cs) or limit the requests (--requests)", s.exitsAtOnce, time.Duration(s.now)))
	}
}

func (s *simulation) observation() measure.Observation {
	o := measure.Observation{
		Job: s.job, Status: s.status, Error: s.err, Partial: s.partial, FailedNodes: s.failed,
		Dropped:   s.log.Dropped(),
		MeanDelay: s.meanDelay(),
		Start:     s.start, Stop: s.now, PerEntry: s.perEntry,
		WitnessViolations: s.witness.violations, Method: "virtual-time",
		Environment: environment.Virtual(),
		Figures:     s.meters.Figures(),
	}
	if s.marks != nil {
		o.Marks = s.marks.taken
	}
	if s.resource != nil {
		r := s.resource.State()
		o.Resource = &r
	}
	s.faults.observe(&o)
	if d := s.job.Plan.Duration(); d > 0 && s.status == runs.OK {
		o.Stop = s.start + int64(d)
	}
	for i := range s.counters {
		s.counters[i].LastMove.Store(s.lastMove[i])
	}
	o.Nodes, o.Traffic = noderun.Final(s.counters), []noderun.TrafficCounts{noderun.ReadTraffic(s.traffic)}
	for i := range o.Nodes {
		o.Wire.Frames += o.Nodes[i].Sent
		o.Wire.Bytes += o.Nodes[i].Bytes
		o.Unserved += uint64(s.procs[i].Unserved())
	}
	if s.status == runs.Stalled {
		losses := s.losses
		if losses == nil {
			losses = stall.NewLosses(s.job.Algorithm, len(s.procs), s)
		}
		o.States, o.Standstill = s.states(), losses.Standstill()
	}
	log := s.log
	*s = simulation{} // what looks may still hold
	if len(o.Nodes) >= manyNodes {
		runtime.GC() // what is measured takes the place of nodes and messages
	}
	o.Entries = log.Entries()
	return o
}

type timer struct {
	node dme.NodeID
	id   dme.TimerID
	live bool // neither cancelled nor set again
}

// timers holds what is set. One that is cancelled stays on the agenda, and is passed over.
type timers struct {
	slots[timer]
	armed map[timer]uint32 // the slot of each that is live
}

func (t *timers) set(node dme.NodeID, id dme.TimerID) (slot uint32) {
	t.cancel(node, id)
	slot, x := t.take()
	*x = timer{node: node, id: id, live: true}
	if t.armed == nil {
		t.armed = make(map[timer]uint32)
	}
	t.armed[*x] = slot
	return slot
}

func (t *timers) cancel(node dme.NodeID, id dme.TimerID) {
	key := timer{node: node, id: id, live: true}
	if slot, ok := t.armed[key]; ok {
		t.at(slot).live = false
		delete(t.armed, key)
	}
}

// fire takes the timer out; ok is false if it must not fire.
func (t *timers) fire(slot uint32) (fired timer, ok bool) {
	fired = *t.at(slot)
	t.release(slot)
	if fired.live {
		delete(t.armed, fired)
	}
	return fired, fired.live
}

func (s *simulation) SetTimer(id dme.NodeID, t dme.TimerID, delay time.Duration) {
	s.schedule(timeout, s.now+max(0, int64(delay)), s.timers.set(id, t))
}

func (s *simulation) CancelTimer(id dme.NodeID, t dme.TimerID) {
	s.timers.cancel(id, t)
}
