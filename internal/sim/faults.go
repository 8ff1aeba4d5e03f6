package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/internal/entrylog"
	"dmebench/internal/measure"
	"dmebench/internal/noderun"
	"dmebench/transport/link"
	"dmebench/workload/fault"
)

// faultStream separates the random numbers of faults from those of the delays and
// of the workload.
const faultStream = 0xfa << 56

// faults carries out the job's schedule of faults. A fault comes after everything
// else that happens at its instant, and right after the event that it waits for.
// A role that nobody has is waited for.
type faults struct {
	*simulation
	rng     *rand.Rand
	bound   int64 // ns within which the others hear that a node is down or up
	planned []planned
	ripe    int   // faults that are due, and wait for somebody to hit
	next    int64 // when the next fault is due, or over; never where none is to come
	ends    []ending

	requests, entries uint64   // of all nodes so far
	asked             []uint64 // requests of node i+1 so far

	strikes   []measure.Strike
	abandoned []entrylog.Abandoned

	joining []dme.NodeID // nodes that are no part of the system at the start
	absent  dme.NodeSet  // nodes that have not joined, or have left
	leaving dme.NodeSet  // nodes that have been told to leave, and have not left
	due     []int64      // of node i+1, when it went: the arrival that was to come; -1 for none
	paused  map[dme.NodeID]*standstill
	late    map[dme.NodeID]int64 // what comes after its time because the node stood still: when it was to arrive
	cuts    []int                // strikes: the partitions in force

	news  map[link.Link]int   // on their way
	until map[link.Link]int64 // what is sent now arrives no earlier
}

const never = entrylog.Never

// planned is a fault of the schedule.
type planned struct {
	fault.Fault
	at     int64 // when it is due; never where it waits for an event, or has been carried out
	ripe   bool
	by     dme.NodeID // who caused the event that it waited for
	strike int        // as which it was carried out; -1 where it was not
	missed bool       // there was nobody left to hit
}

// ending is when a fault that lasts is over.
type ending struct {
	at     int64
	strike int
}

// newFaults returns nil where there are no faults, which costs a run nothing.
func newFaults(s *simulation) *faults {
	schedule, n := s.job.Faults, s.job.Spec.Nodes
	if len(schedule) == 0 {
		return nil
	}
	f := &faults{
		simulation: s, rng: rand.New(rand.NewPCG(s.job.Spec.Seed, faultStream)), bound: max(1, int64(s.job.Bound())),
		next: never, joining: schedule.Absent(),
		asked: make([]uint64, n), due: make([]int64, n), paused: make(map[dme.NodeID]*standstill), late: make(map[dme.NodeID]int64),
		absent: dme.MakeNodeSet(n), leaving: dme.MakeNodeSet(n),
		news: make(map[link.Link]int), until: make(map[link.Link]int64),
	}
	for _, id := range f.joining {
		f.absent.Add(id)
	}
	for _, x := range schedule {
		f.planned = append(f.planned, planned{Fault: x, at: never, strike: -1})
	}
	return f
}

// begin starts the clock of the schedule.
func (f *faults) begin() {
	if f == nil {
		return
	}
	for i := range f.planned {
		if p := &f.planned[i]; p.Event == "" && !p.AfterKill {
			p.at = later(f.start, p.At)
		}
	}
	f.lookAhead()
}

// later returns the time after a duration; never where that is beyond 64 bits.
func later(from int64, d time.Duration) int64 {
	if at := from + int64(d); at >= from {
		return at
	}
	return never
}

// lookAhead finds out when the next fault is due, or over.
func (f *faults) lookAhead() {
	f.next = never
	for i := range f.planned {
		f.next = min(f.next, f.planned[i].at)
	}
	for _, e := range f.ends {
		f.next = min(f.next, e.at)
	}
}

// more reports whether a fault is due at some time yet, or over.
func (f *faults) more() bool { return f != nil && f.next < never }

// entry notes an entry.
func (f *faults) entry(id dme.NodeID) {
	f.entries++
	f.happened(fault.Entry, f.entries, id)
}

// happened notes that an event has happened that a fault may wait for.
func (f *faults) happened(what fault.Event, count uint64, by dme.NodeID) {
	for i := range f.planned {
		if p := &f.planned[i]; p.Event == what && p.Count == count {
			p.ripe, p.by = true, by
			f.ripe++
		}
	}
}

// strike carries out the next fault if it comes before the next event; it reports
// whether it has.
func (f *faults) strike() bool {
	if f.ripe > 0 && f.strikeRipe() {
		return true
	}
	if f.next == never || !f.agenda.empty() && f.agenda.first() <= f.next {
		return false
	}
	if f.watch.busy == 0 && !f.holding() {
		return false // the run is over
	}
	f.now = max(f.now, f.next)
	for i, e := range f.ends {
		if e.at <= f.now {
			f.ends = slices.Delete(f.ends, i, i+1)
			f.end(e.strike)
			f.settled()
			return true
		}
	}
	for i := range f.planned {
		if p := &f.planned[i]; p.at <= f.now {
			p.at, p.ripe = never, true
			f.ripe++
		}
	}
	f.lookAhead()
	f.strikeRipe()
	return true
}

// strikeRipe carries out the first fault that is due and finds somebody to hit.
func (f *faults) strikeRipe() bool {
	for i := range f.planned {
		p := &f.planned[i]
		if !p.ripe {
			continue
		}
		nodes, wait := f.whom(i)
		if wait {
			continue
		}
		p.ripe = false
		f.ripe--
		if p.missed = nodes == nil; !p.missed {
			f.carryOut(i, nodes)
		}
		f.settled()
		return true
	}
	return false
}

// settled looks ahead after a fault. It is as if the run had got on: what it
// changed takes time to show.
func (f *faults) settled() {
	f.lookAhead()
	f.watch.progress(f.now)
	f.watch.restful = f.now
	for i, p := range f.procs {
		if id := dme.NodeID(i + 1); p.Activity() == noderun.Down {
			f.simulation.moved(id) // perhaps nobody will bring it back any more
		}
	}
}

// whom returns the nodes that a fault hits, nil where there can be none any more.
// Where nobody has its role at the moment, it waits.
func (f *faults) whom(i int) (nodes []dme.NodeID, wait bool) {
	p := &f.planned[i]
	switch {
	case p.What == fault.Partition:
		return p.Sides[0], false
	case p.What == fault.Restart && (p.AfterKill || p.Role != ""):
		if k := f.job.Faults.Kill(i); k >= 0 && f.planned[k].strike >= 0 {
			return f.able(p.What, f.strikes[f.planned[k].strike].Nodes), false
		}
	}
	if p.Role == "" {
		asleep := func(id dme.NodeID) bool { return f.paused[id] != nil }
		return f.able(p.What, p.Nodes), p.What == fault.Leave && slices.ContainsFunc(p.Nodes, asleep)
	}
	var all []dme.NodeID
	for id := dme.NodeID(1); int(id) <= len(f.procs); id++ {
		if f.can(p.What, id) && f.plays(p, id) && (p.What != fault.Leave || f.paused[id] == nil) {
			all = append(all, id)
		}
	}
	switch {
	case all == nil:
		return nil, true
	case slices.Contains(all, p.by):
		return []dme.NodeID{p.by}, false
	}
	return []dme.NodeID{all[f.rng.IntN(len(all))]}, false
}

// plays reports whether a node has the role of a fault.
func (f *faults) plays(p *planned, id dme.NodeID) bool {
	node := f.process(id)
	switch p.Role {
	case fault.Holder:
		return node.Activity() == noderun.Inside
	case fault.Idle:
		return node.Activity() == noderun.Idle
	case fault.Waiting:
		return node.Activity() == noderun.Requesting
	case fault.Root:
		root, ok := f.job.System.(dme.Rooted)
		return ok && root.Root() == id
	case fault.Token:
		holder, ok := node.Node().(dme.TokenHolder)
		return ok && node.Activity() != noderun.Down && holder.HasToken()
	}
	return true
}

// able returns those of the nodes to whom it can be done.
func (f *faults) able(what fault.Kind, nodes []dme.NodeID) []dme.NodeID {
	var able []dme.NodeID
	for _, id := range nodes {
		if f.can(what, id) {
			able = append(able, id)
		}
	}
	return able
}

func (f *faults) can(what fault.Kind, id dme.NodeID) bool {
	down := f.process(id).Activity() == noderun.Down
	switch what {
	case fault.Restart:
		return down && !f.absent.Has(id)
	case fault.Join:
		return down && f.absent.Has(id)
	case fault.Leave:
		return !down && !f.leaving.Has(id)
	}
	return !down
}

// carryOut has a fault hit these nodes.
func (f *faults) carryOut(i int, nodes []dme.NodeID) {
	p := &f.planned[i]
	p.strike = len(f.strikes)
	f.strikes = append(f.strikes, measure.Strike{Fault: p.Fault, Nodes: nodes, At: f.now})
	if p.Lasts > 0 {
		f.ends = append(f.ends, ending{later(f.now, p.Lasts), p.strike})
	}
	if p.What == fault.Partition {
		f.cuts = append(f.cuts, p.strike)
		return
	}
	for _, id := range nodes {
		f.current = id
		switch p.What {
		case fault.Kill:
			f.kill(id)
		case fault.Restart:
			f.restart(id)
		case fault.Pause:
			f.pause(id, p.strike)
		case fault.Leave:
			f.leave(id)
		case fault.Join:
			f.join(id)
		}
		f.simulation.moved(id)
	}
	for k := range f.planned {
		if q := &f.planned[k]; q.AfterKill && q.strike < 0 && f.job.Faults.Kill(k) == i {
			q.at = later(f.now, q.At)
		}
	}
}

// end ends a fault that lasted.
func (f *faults) end(strike int) {
	x := &f.strikes[strike]
	if x.Ended == 0 {
		x.Ended = f.now
	}
	if x.Fault.What == fault.Partition {
		f.cuts = slices.DeleteFunc(f.cuts, func(cut int) bool { return cut == strike })
		return
	}
	for _, id := range x.Nodes {
		f.resume(id, strike)
	}
}

// comesBack reports whether the schedule brings a node back at some time.
func (f *faults) comesBack(id dme.NodeID) bool {
	for i := range f.planned {
		p := &f.planned[i]
		if p.at == never || p.What != fault.Restart && p.What != fault.Join || !f.can(p.What, id) {
			continue
		}
		hit := p.Nodes
		if k := f.job.Faults.Kill(i); hit == nil && k >= 0 && f.planned[k].strike >= 0 {
			hit = f.strikes[f.planned[k].strike].Nodes
		}
		if hit == nil || slices.Contains(hit, id) {
			return true
		}
	}
	return false
}

// observe tells what was done, and what could not be.
func (f *faults) observe(o *measure.Observation) {
	if f == nil {
		return
	}
	o.Strikes, o.Abandoned = f.strikes, slices.Clone(f.abandoned)
	for _, p := range f.procs {
		o.Abandoned = append(o.Abandoned, p.Unfinished()...)
	}
	for i := range f.planned {
		switch p := &f.planned[i]; {
		case p.missed:
			o.Warnings = append(o.Warnings, fmt.Sprintf("fault %q hit nobody: %s", p.Fault, impossible[p.What]))
		case p.strike < 0 && p.ripe && p.Role == "":
			o.Warnings = append(o.Warnings, fmt.Sprintf("fault %q hit nobody: the node stood still until the run was over", p.Fault))
		case p.strike < 0 && p.ripe:
			o.Warnings = append(o.Warnings, fmt.Sprintf("fault %q hit nobody: no node had the role %q until the run was over", p.Fault, p.Role))
		case p.strike < 0:
			o.Warnings = append(o.Warnings, fmt.Sprintf("fault %q was not carried out: the run was over before", p.Fault))
		}
	}
}

// impossible says why something could not be done to any of the nodes named.
var impossible = map[fault.Kind]string{
	fault.Kill: "the node was down", fault.Pause: "the node was down", fault.Leave: "the node was down or leaving",
	fault.Restart: "the node was not down", fault.Join: "the node was part of the system",
}
