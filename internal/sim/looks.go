package sim

import (
	"time"

	"dmebench/internal/live"
	"dmebench/internal/noderun"
)

// looks lets somebody look at a run while it goes on. It changes nothing in it.
type looks struct {
	s        *simulation
	progress func(look func() live.State)
	waits    noderun.Waits // of all nodes: one goroutine runs them
}

func (s *simulation) watchedBy(progress func(look func() live.State)) {
	if progress != nil {
		s.looks = &looks{s: s, progress: progress}
	}
}

// histogram is where the nodes count how long they wait.
func (l *looks) histogram() *noderun.Waits {
	if l == nil {
		return nil
	}
	return &l.waits
}

func (l *looks) show() {
	if l != nil {
		l.progress(l.look)
	}
}

// look says where the run stands.
func (l *looks) look() live.State {
	plan := l.s.job.Plan
	state := live.State{
		Elapsed: time.Duration(l.s.now - l.s.start), Duration: plan.Duration(),
		Of: uint64(plan.Requests()), Waiting: l.s.watch.requesting,
	}
	for i := range l.s.counters {
		state.Entries += l.s.counters[i].Entries.Load()
	}
	state.Waits.Take(&l.waits)
	return state
}
