package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"dmebench/dme"
	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/control"
	standstill "dmebench/internal/runtime/stall"
	"dmebench/units"
)

// place is where some nodes live: a worker process or, one after the other, several.
type place struct {
	nodes []dme.NodeID
	host  int // among the run's

	// The fields below are guarded by the coordinator's lock.

	process     launch.Process  // the latest; nil if there was none
	alive       context.Context // until the process is killed on purpose
	kill        func()          // kills it, and waits for nothing
	incarnation uint32          // of the process; 0 if there was none
	state       presence
	joined      chan struct{}     // closed once the process has said that it is there
	addr        string            // of its transport
	changed     time.Time         // since when it is in its state
	disturbed   bool              // something was done to it on purpose
	missed      []control.Command // while it stood still
	granted     time.Time         // when it was last allowed to go on
}

type presence uint8

const (
	absent presence = iota // its process was not started yet
	coming                 // its process does not take part yet
	present
	paused // stopped on purpose
	leaving
	gone // killed on purpose, or has left
	lost // with its host; it may still be at work
)

// expected reports whether the end of the process would be a failure.
func (p presence) expected() bool { return p != absent && p != gone && p != lost }

func divide(nodes, per int) []*place {
	var all []*place
	for first := 1; first <= nodes; first += per {
		p := new(place)
		for id := first; id < first+per && id <= nodes; id++ {
			p.nodes = append(p.nodes, dme.NodeID(id))
		}
		all = append(all, p)
	}
	return all
}

func (c *coordinator) workerOf(id dme.NodeID) int {
	return int(id-1) / c.job.Spec.NodesPerWorker
}

// workers returns the workers that can be asked something, in ascending order.
func (c *coordinator) workers() []int {
	return c.those(func(p presence) bool { return p == present || p == leaving })
}

func (c *coordinator) those(are func(presence) bool) []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []int
	for w, p := range c.places {
		if are(p.state) {
			all = append(all, w)
		}
	}
	return all
}

// at returns how a worker stands.
func (c *coordinator) at(worker int) place {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *c.places[worker]
}

func (c *coordinator) setState(worker int, s presence) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.places[worker].become(s)
}

// become is called with the coordinator's lock held.
func (p *place) become(s presence) {
	p.state, p.changed = s, time.Now()
	p.disturbed = p.disturbed || s == paused || s == gone || s == lost
}

var whyAbsent = map[presence]string{
	absent: "has not joined", coming: "is about to begin", paused: "stands still, paused",
	gone: "is down, killed or gone", lost: "is down, killed or gone",
}

// absentees says which nodes are not there, and why, for a report on a stalled run. Those
// in gone are no part of the system.
func (c *coordinator) absentees() (lines []string, gone []standstill.Absent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.places {
		for _, id := range p.nodes {
			if why := whyAbsent[p.state]; why != "" {
				lines = append(lines, fmt.Sprintf("node %d %s for %v", id, why, time.Since(p.changed).Round(time.Millisecond)))
			}
			if !p.state.expected() {
				gone = append(gone, standstill.Absent{Node: id, Since: -1})
			}
		}
	}
	return lines, gone
}

// exceptStruck forgives a silence of workers that a fault has hit since begin.
func (c *coordinator) exceptStruck(begin time.Time, err error) error {
	var silence *control.Silence
	if c.faults == nil || !errors.As(err, &silence) {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	silence.Workers = slices.DeleteFunc(silence.Workers, func(w int) bool {
		p := c.places[w]
		return p.state == gone || p.state == paused || p.changed.After(begin)
	})
	if len(silence.Workers) == 0 {
		return nil
	}
	return err
}

func (c *coordinator) names(workers []int) string { return some(units.Texts(workers, c.name), ", ") }

func (c *coordinator) name(worker int) string {
	ids := c.places[worker].nodes
	nodes := fmt.Sprintf("node %d", ids[0])
	if len(ids) > 1 {
		nodes = fmt.Sprintf("nodes %d to %d", ids[0], ids[len(ids)-1])
	}
	at := ""
	if c.several() {
		at = ", host " + c.aboutHostOf(worker).Name
	}
	if p := c.at(worker).process; p != nil {
		return fmt.Sprintf("%s (worker %d, pid %d%s)", nodes, worker, p.PID(), at)
	}
	return fmt.Sprintf("%s (worker %d%s)", nodes, worker, at)
}

const (
	rollEvery = 500 * time.Millisecond // between looks at which have done something
	unseen    = 2 * time.Second        // a worker that has done nothing for this long is asked whether it is there

	answerPerWorker = 10 * time.Millisecond // how much longer an answer may take for each worker of the run
)

// roll calls the workers that show no activity, so that one that hangs is found even if the others
// go on, and long before its links are given up. A worker that does something is not disturbed.
type roll struct {
	c      *coordinator
	next   time.Time
	seen   []uint64 // by worker: what its nodes had done
	since  []time.Time
	asking atomic.Bool
}

// skip leaves a time out of account in which nothing could be observed.
func (r *roll) skip(d time.Duration) {
	for w := range r.since {
		r.since[w] = r.since[w].Add(d)
	}
}

// call looks at what the workers do, and asks those that do nothing. It does not
// wait for their answers.
func (r *roll) call(ctx context.Context) {
	now := time.Now()
	if now.Before(r.next) {
		return
	}
	r.next = now.Add(rollEvery)
	var quiet []int
	for _, w := range r.c.workers() {
		done := uint64(0)
		for _, id := range r.c.places[w].nodes {
			n := &r.c.looked[id-1]
			done += n.Sent + n.Handled + n.Requests + n.Entries
		}
		if done != r.seen[w] {
			r.seen[w], r.since[w] = done, now
		} else if now.Sub(r.since[w]) >= unseen {
			quiet = append(quiet, w)
		}
	}
	if quiet == nil || !r.asking.CompareAndSwap(false, true) {
		return
	}
	for _, w := range quiet {
		r.since[w] = now // a worker that answers is not asked again at once
	}
	go func() {
		defer r.asking.Store(false)
		r.c.ask(ctx, quiet)
	}()
}

// ask fails the run if a worker does not answer. Any other error comes from a worker, which
// reports it itself.
func (c *coordinator) ask(ctx context.Context, workers []int) {
	patience := answerTime + time.Duration(len(c.places))*answerPerWorker
	for over := false; !over; {
		begin := time.Now()
		_, err := c.within(ctx, patience, workers, control.Same(control.Command{Op: control.OpAlive}))
		if ctx.Err() != nil || c.ending.Load() {
			return
		}
		var f *failure
		over = time.Since(begin) <= patience+unnoticed // else the coordinator itself did not run
		if over && errors.As(c.blame(ctx, c.exceptStruck(begin, err)), &f) {
			c.fail(f)
		}
	}
}

func (c *coordinator) silent(workers []int) *failure {
	f := new(failure)
	for _, w := range workers {
		f.nodes = append(f.nodes, c.places[w].nodes...)
		f.stderr = append(f.stderr, c.at(w).process.Stderr()...)
	}
	return f
}

func (c *coordinator) why(workers []int) string {
	for _, w := range workers {
		if !c.at(w).process.Stopped() {
			return "hanging, or the machine is too busy to run it"
		}
	}
	return "stopped by a signal (SIGSTOP or SIGTSTP); continue with SIGCONT"
}

// order gives a command to all workers that are there; to one that stands still it
// is given once that goes on.
func (c *coordinator) order(ctx context.Context, command control.Command) error {
	c.mu.Lock()
	for _, p := range c.places {
		if p.state == paused {
			p.missed = append(p.missed, command)
		}
	}
	c.mu.Unlock()
	_, err := c.all(ctx, command)
	return err
}

// catchUp tells a worker that goes on what it has missed. It takes part as before.
func (c *coordinator) catchUp(ctx context.Context, w int, as presence) error {
	c.mu.Lock()
	missed := c.places[w].missed
	c.places[w].missed = nil
	c.places[w].become(as)
	c.mu.Unlock()
	return c.commands(ctx, w, missed...)
}
