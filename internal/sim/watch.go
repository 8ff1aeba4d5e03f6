package sim

import (
	"fmt"
	"time"

	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/runtime/run"
)

// watch knows which nodes have something left to do, and since when nothing has come of it.
type watch struct {
	patience int64 // ns

	standing   []standing // of node i+1
	busy       int        // nodes that are not idle, or have requests to come
	requesting int
	inside     int

	progressed int64 // the last entry or exit, or when the first request began to wait
	restful    int64 // when the last node had nothing left to do
}

type standing struct {
	activity noderun.Activity
	busy     bool
}

func (w *watch) moved(id dme.NodeID, now int64, a noderun.Activity, pending bool) {
	seen := standing{activity: a, busy: pending || a == noderun.Requesting || a == noderun.Inside}
	was := w.standing[id-1]
	if seen == was {
		return
	}
	w.standing[id-1] = seen
	if was.activity != a {
		*w.counter(was.activity)--
		*w.counter(a)++
		if a == noderun.Requesting && w.requesting == 1 {
			w.progressed = now
		}
	}
	if was.busy && !seen.busy {
		w.busy--
		w.restful = now
	} else if !was.busy && seen.busy {
		w.busy++
	}
}

func (w *watch) counter(a noderun.Activity) *int {
	switch a {
	case noderun.Requesting:
		return &w.requesting
	case noderun.Inside:
		return &w.inside
	}
	return new(int)
}

func (w *watch) progress(now int64) { w.progressed = now }

// stuck reports whether a node has waited too long with none inside: sections may be long.
func (w *watch) stuck(now int64, leaving bool) bool {
	return (w.requesting > 0 || leaving) && w.inside == 0 && now-w.progressed > w.patience
}

// restless reports whether the system has gone on for too long after everything was served.
func (w *watch) restless(now int64) bool { return w.busy == 0 && now-w.restful > w.patience }

const maxStates = 64

// states describes the nodes of a stalled run: those that wait first.
func (s *simulation) states() []string {
	var states []string
	describe := func(waiting bool) {
		for i := range s.procs {
			p := &s.procs[i]
			if len(states) < maxStates && (p.Activity() == noderun.Requesting) == waiting {
				states = append(states, fmt.Sprintf("node %d, %v: %s", p.ID(), p.Activity(), dme.DescribeState(p.Node())))
			}
		}
	}
	describe(true)
	describe(false)
	if rest := len(s.procs) - len(states); rest > 0 {
		states = append(states, fmt.Sprintf("and %d more nodes", rest))
	}
	return states
}

// looks shows a run while it goes on, and changes nothing in it.
type looks struct {
	s        *simulation
	progress func(look func() run.State)
	waits    noderun.Waits // of all nodes: one goroutine runs them
}

func (l *looks) show() {
	if l != nil {
		l.progress(l.look)
	}
}

func (l *looks) look() run.State {
	plan := l.s.job.Plan
	state := run.State{
		Elapsed: time.Duration(l.s.now - l.s.start), Duration: plan.Duration(),
		Of: uint64(plan.Requests()), Waiting: l.s.watch.requesting,
	}
	for i := range l.s.counters {
		state.Entries += l.s.counters[i].Entries.Load()
	}
	state.Waits.Take(&l.waits)
	return state
}
