package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"dmebench/dme"
	"dmebench/internal/runtime/control"
	"dmebench/workload/fault"
)

const (
	rollEvery = 500 * time.Millisecond // between looks at who has done something
	unseen    = 2 * time.Second        // a worker that has done nothing for so long is asked whether it is there

	answerPerWorker = 10 * time.Millisecond // how much longer an answer may take for each worker of the run
)

// roll calls the workers of which nothing is seen, so that one that hangs is
// found even where the others go on, and long before its links are given up. A
// worker that does something is not disturbed.
type roll struct {
	c      *coordinator
	next   time.Time
	seen   []uint64 // by worker: what its nodes had done
	since  []time.Time
	asking atomic.Bool
}

func newRoll(c *coordinator) *roll {
	r := &roll{c: c, seen: make([]uint64, len(c.places)), since: make([]time.Time, len(c.places))}
	now := time.Now()
	r.next = now.Add(rollEvery)
	for w := range r.since {
		r.since[w] = now
	}
	return r
}

// forgive leaves a time out of account in which nobody could look.
func (r *roll) forgive(d time.Duration) {
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
		r.since[w] = now // those who answer are not asked again at once
	}
	go func() {
		defer r.asking.Store(false)
		r.c.ask(ctx, quiet)
	}()
}

// ask fails the run where a worker does not answer.
func (c *coordinator) ask(ctx context.Context, workers []int) {
	for {
		begin := time.Now()
		patience := answerTime + time.Duration(len(c.places))*answerPerWorker
		limited, cancel := context.WithTimeout(ctx, patience)
		_, err := c.leader.Call(limited, workers, control.Same(control.Command{Op: control.OpAlive}))
		cancel()
		err = c.excuse(begin, err)
		var silence *control.Silence
		if ctx.Err() != nil || c.ending.Load() || !errors.As(err, &silence) {
			return // another error is a worker's, which reports it itself
		}
		if time.Since(begin) > patience+unnoticed {
			continue // the coordinator itself did not run
		}
		if silence.Workers = slices.DeleteFunc(silence.Workers, c.lostWith); len(silence.Workers) == 0 {
			return
		}
		f := c.silent(silence.Workers)
		f.what = fmt.Sprintf("%s did not answer for %v: %s", c.names(silence.Workers), patience, c.why(silence.Workers))
		c.fail(f)
		return
	}
}

// silent is the failure of workers that do not answer.
func (c *coordinator) silent(workers []int) *failure {
	f := new(failure)
	for _, w := range workers {
		f.nodes = append(f.nodes, c.places[w].nodes...)
		f.stderr = append(f.stderr, c.process(w).Stderr()...)
	}
	return f
}

// why says what is known of workers that do not answer.
func (c *coordinator) why(workers []int) string {
	for _, w := range workers {
		if !c.process(w).Stopped() {
			return "hanging, or the machine has no time for it"
		}
	}
	return "stopped by a signal (SIGSTOP or SIGTSTP); continue with SIGCONT"
}

// tell gives a command to all workers that are there; to one that stands still it
// is given once that goes on.
func (c *coordinator) tell(ctx context.Context, command control.Command) error {
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
	for _, command := range missed {
		if _, err := c.call(ctx, w, command); err != nil {
			return err
		}
	}
	return nil
}

// revive brings nodes into the running system, by processes of their own: for the
// first time, or again.
func (i *injector) revive(k int, nodes []dme.NodeID) (at int64, err error) {
	if at, err = i.record(k, nodes); err != nil {
		return at, err
	}
	for _, id := range nodes {
		if err := i.admit(i.ctx, i.c.workerOf(id), i.c.job.Faults[k].What == fault.Join); err != nil {
			return at, err
		}
	}
	return at, nil
}

// admit starts a worker and has the others take it in. Its nodes begin once all
// know that it is there: what it says first reaches them.
func (i *injector) admit(ctx context.Context, w int, joins bool) error {
	c := i.c
	if c.isLost(w) {
		c.warn("%s cannot be started: its host is lost", c.name(w))
		return nil
	}
	if err := c.startWorker(ctx, w); err != nil {
		return err
	}
	limited, cancel := c.bounded(ctx)
	defer cancel()
	if err := c.awaitWorker(limited, w); err != nil {
		return err
	}
	a := c.assignment(w)
	a.Joins = joins
	r, err := c.call(ctx, w, control.Command{Op: control.OpAssign, Assign: a})
	if err != nil {
		return err
	}
	c.listens(w, r.Addr)
	for _, k := range i.cuts {
		if _, err := c.call(ctx, w, control.Command{Op: control.OpCut, Cut: k, Sides: c.job.Faults[k].Sides}); err != nil {
			return err
		}
	}
	if _, err := c.call(ctx, w, control.Command{Op: control.OpConnect, Book: c.book()}); err != nil {
		return err
	}
	if err := c.tell(ctx, control.Command{Op: control.OpUp, Nodes: a.Local, Addr: r.Addr, Life: a.Incarnation}); err != nil {
		return err
	}
	if _, err := c.call(ctx, w, control.Command{Op: control.OpBegin, At: c.there(w, c.start)}); err != nil {
		return err
	}
	c.setState(w, present)
	return nil
}
