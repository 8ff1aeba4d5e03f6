package sim

import (
	"math/rand/v2"
	"slices"

	"dmebench/dme"
	"dmebench/internal/record"
	"dmebench/internal/record/measure"
	"dmebench/internal/runtime/noderun"
	"dmebench/transport/link"
	"dmebench/workload/fault"
)

// faultStream separates the random numbers of faults from those of the delays and of the workload.
const faultStream = 0xfa << 56

// faults carries faults out: each after all else at its instant, or right after its event.
type faults struct {
	*simulation
	director *fault.Director
	rng      *rand.Rand
	bound    int64 // ns within which the others hear that a node is down or up

	requests, entries uint64 // of all nodes so far

	strikes   []measure.Strike
	struck    []int // by fault: as which it was carried out
	abandoned []record.Abandoned

	due    []int64                 // of node i+1, when it went: the arrival that was to come; -1 for none
	paused map[dme.NodeID]*[]event // what waits for a node that stands still
	late   map[dme.NodeID]int64    // what comes after its time because the node stood still: when it was to arrive
	cuts   []int                   // the partitions in force, by fault

	news  map[link.Link]int   // on their way
	until map[link.Link]int64 // what is sent now arrives no earlier
}

const never = record.Never

// newFaults returns nil if there are no faults, which costs a run nothing.
func newFaults(s *simulation) *faults {
	schedule, n := s.job.Faults, s.job.Spec.Nodes
	if len(schedule) == 0 {
		return nil
	}
	f := &faults{
		simulation: s, rng: rand.New(rand.NewPCG(s.job.Spec.Seed, faultStream)), bound: max(1, int64(s.job.Bound())),
		struck: make([]int, len(schedule)),
		due:    make([]int64, n), paused: make(map[dme.NodeID]*[]event), late: make(map[dme.NodeID]int64),
		news: make(map[link.Link]int), until: make(map[link.Link]int64),
	}
	f.director = fault.NewDirector(schedule, s.job.Algorithm.Root, n, 0, f.rng, f)
	return f
}

func (f *faults) begin() {
	if f == nil {
		return
	}
	deadline := int64(never)
	if d := f.job.Plan.Duration(); d > 0 {
		deadline = f.start + int64(d)
	}
	f.director.Begin(f.start, deadline)
}

// more reports whether a fault is due at some time yet, or over.
func (f *faults) more() bool { return f != nil && f.director.Next() < never }

func (f *faults) leaving() bool { return f != nil && f.director.AnyLeaves() }

func (f *faults) entry(id dme.NodeID) {
	f.entries++
	f.director.Happened(fault.Entry, f.entries, id)
}

// strike carries out the next fault if it comes before the next event; it reports whether it has.
func (f *faults) strike() bool {
	if f.director.Waits() && f.progressed(f.director.StrikeDue()) {
		return true
	}
	next := f.director.Next()
	// With faults everything is in the heap.
	if next == never || len(f.agenda.heap) > 0 && f.agenda.heap[0].at <= next {
		return false
	}
	if f.watch.busy == 0 && !f.holding() {
		return false // the run is over
	}
	f.now = max(f.now, next)
	f.progressed(f.director.Step(f.now))
	return true
}

// progressed looks at the nodes after a fault, which counts as progress: what it changed takes time.
func (f *faults) progressed(did bool, _ error) bool {
	if did {
		f.watch.progress(f.now)
		f.watch.restful = f.now
		for i := range f.procs {
			if id := dme.NodeID(i + 1); f.procs[i].Activity() == noderun.Down {
				f.simulation.moved(id) // perhaps it will never come back
			}
		}
	}
	return did
}

func (f *faults) Down(id dme.NodeID) bool { return f.process(id).Activity() == noderun.Down }

func (f *faults) Players(k int, nodes []dme.NodeID) ([]dme.NodeID, error) {
	role := f.job.Faults[k].Role
	return slices.DeleteFunc(nodes, func(id dme.NodeID) bool { return !f.plays(role, id) }), nil
}

// plays reports whether a node has a role that the simulation knows of.
func (f *faults) plays(role fault.Role, id dme.NodeID) bool {
	node := f.process(id)
	switch role {
	case fault.Holder:
		return node.Activity() == noderun.Inside
	case fault.Idle:
		return node.Activity() == noderun.Idle
	case fault.Waiting:
		return node.Activity() == noderun.Requesting
	}
	has := f.job.Algorithm.HasToken
	return has != nil && node.Activity() != noderun.Down && has(node.Node())
}

func (f *faults) Strike(k int, nodes []dme.NodeID) (at int64, err error) {
	x := f.job.Faults[k]
	f.struck[k] = len(f.strikes)
	f.strikes = append(f.strikes, measure.Strike{Fault: x, Nodes: nodes, At: f.now})
	if x.Kind == fault.Partition {
		f.cuts = append(f.cuts, k)
		return f.now, nil
	}
	for _, id := range nodes {
		f.current = id
		switch x.Kind {
		case fault.Kill:
			f.kill(id)
		case fault.Restart:
			f.restart(id)
		case fault.Pause:
			if f.paused[id] == nil {
				f.paused[id] = new([]event)
			}
		case fault.Leave:
			f.leave(id)
		case fault.Join:
			f.join(id)
		}
		f.simulation.moved(id)
	}
	return f.now, nil
}

func (f *faults) End(k int, nodes []dme.NodeID) error {
	f.strikes[f.struck[k]].Ended = f.now
	f.cuts = slices.DeleteFunc(f.cuts, func(cut int) bool { return cut == k })
	for _, id := range nodes {
		f.resume(id)
	}
	return nil
}

func (f *faults) observe(o *measure.Observation) {
	if f == nil {
		return
	}
	o.Strikes, o.Abandoned = f.strikes, slices.Clone(f.abandoned)
	for i := range f.procs {
		o.Abandoned = append(o.Abandoned, f.procs[i].Unfinished()...)
	}
	o.Warnings, o.Missed = append(o.Warnings, f.director.Warnings()...), f.director.Missed(f.now)
}
