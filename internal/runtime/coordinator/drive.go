package coordinator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"dmebench/dme"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/foreign"
	"dmebench/internal/runtime/run"
	"dmebench/workload"
)

const (
	pollRun   = 2 * time.Millisecond   // between looks at a run that goes by itself
	pollFar   = 20 * time.Millisecond  // the same if the hosts have to be asked
	pollEnd   = 200 * time.Microsecond // shortly before a perpetual token is to stop, which moves on until then
	pollStep  = 30 * time.Microsecond  // between looks while a step is awaited
	leadBase  = 5 * time.Millisecond   // from the command to begin to the beginning, so that all have heard it
	leadExtra = 100 * time.Microsecond // for each worker
	leadFar   = 50 * time.Millisecond  // more, if workers are on other hosts
)

func (c *coordinator) drive(ctx context.Context) error {
	// All have marked before any begins: the first messages may reach a node
	// that has not heard yet that it should begin, and it answers.
	if _, err := c.all(ctx, control.Command{Op: control.OpMark}); err != nil {
		return err
	}
	c.start = c.clock.Now() + c.lead()
	faults, err := c.injector(ctx)
	if err != nil {
		return err
	}
	if _, err := c.each(ctx, c.workers(), func(w int) control.Command {
		return control.Command{Op: control.OpBegin, At: c.there(w, c.start)}
	}); err != nil {
		return err
	}
	faults.begin()
	defer faults.stop()
	if c.job.Plan.Drive() == workload.Stepped {
		wait(time.Duration(max(0, c.start-c.clock.Now()))) // the workers begin then, and no step may come before
		err = c.steps(ctx)
	}
	if err == nil {
		pause := pollRun
		if c.several() {
			pause = pollFar
		}
		served := func(_, now sums) bool { return now.served() && !c.faults.expects().keeps }
		if c.stops() {
			requests := uint64(c.job.Plan.Requests())
			err = c.until(ctx, pause, func(before, now sums) bool {
				return served(before, now) || now.entries+2*(now.entries-before.entries) >= requests && requests > 0
			})
			pause = min(pause, pollEnd)
		}
		if err == nil {
			err = c.until(ctx, pause, served)
		}
	}
	c.stop = c.clock.Now()
	if d := c.job.Plan.Duration(); d > 0 {
		c.stop = min(c.stop, c.start+int64(d))
	}
	return err
}

// steps leads a workload whose requests come in steps, each to quiescence.
func (c *coordinator) steps(ctx context.Context) error {
	plan := c.job.Plan
	if c.job.Spec.Workload == "serial" {
		c.perEntry = make(map[int]uint64)
	}
	if err := c.until(ctx, pollStep, c.quiet()); err != nil {
		return err
	}
	quiet, err := c.sums(ctx)
	if err != nil {
		return c.blame(ctx, err)
	}
	before := quiet.sent
	for k := 0; plan.Steps() < 0 || k < plan.Steps(); k++ {
		now := c.clock.Now()
		if d := plan.Duration(); d > 0 && now >= c.start+int64(d) {
			return nil
		}
		if err := c.step(ctx, plan.Step(k), now); err != nil {
			return err
		}
		if err := c.until(ctx, pollStep, c.quiet()); err != nil {
			return fmt.Errorf("step %d: %w", k+1, err)
		}
		if c.perEntry != nil {
			sent := sumUp(c.looked).sent
			c.perEntry[int(sent-before)]++
			before = sent
		}
	}
	return nil
}

// step has the requests made, and returns once the workers know of them.
func (c *coordinator) step(ctx context.Context, arrivals []workload.Arrival, now int64) error {
	if len(arrivals) > 1 {
		now += c.lead() // so that the spread is the plan's
	}
	byWorker := make(map[int][]control.Arrival)
	for _, a := range arrivals {
		w := c.workerOf(a.Node)
		if c.at(w).state != present {
			continue // its node is not there to ask
		}
		byWorker[w] = append(byWorker[w], control.Arrival{Node: a.Node, At: c.there(w, now+int64(a.After))})
	}
	workers := slices.Collect(maps.Keys(byWorker))
	_, err := c.each(ctx, workers, func(w int) control.Command {
		return control.Command{Op: control.OpStep, Arrives: byWorker[w]}
	})
	return err
}

// lead is how far ahead, in nanoseconds, an event is scheduled that all workers have to hear of
// first.
func (c *coordinator) lead() int64 {
	lead := leadBase + time.Duration(len(c.places))*leadExtra
	if c.several() {
		lead += leadFar
	}
	return int64(lead)
}

// stops reports whether the nodes fall silent only once they are told that no more requests come.
func (c *coordinator) stops() bool {
	_, ok := c.job.System.Node(1).(dme.Stopper)
	return ok
}

// drain waits for quiescence. A system with a perpetual token falls silent only once its nodes hear
// that no more requests will come.
func (c *coordinator) drain(ctx context.Context) error {
	if c.stops() {
		if _, err := c.all(ctx, control.Command{Op: control.OpStop}); err != nil {
			return err
		}
	}
	return c.until(ctx, pollStep, c.quiet())
}

const (
	progressEvery = 100 * time.Millisecond

	idleAfter = 100 * time.Millisecond // nothing has moved: see [Options.Idle]

	// unnoticed is the longest time between two looks that counts. Of a longer one
	// the coordinator, which was held up, knows nothing.
	unnoticed = 100 * time.Millisecond
)

// until looks at the counters until two successive sums satisfy the condition, or
// the run moves no more.
func (c *coordinator) until(ctx context.Context, pause time.Duration, done func(before, now sums) bool) error {
	watch := newProgress(c.job.Spec.StallAfter.Std(), c.job.Plan.LongestHold())
	watch.lossy = c.faults != nil
	roll := &roll{c: c, seen: make([]uint64, len(c.places)), since: make([]time.Time, len(c.places)), next: time.Now().Add(rollEvery)}
	before, err := c.sums(ctx)
	looked := time.Now()
	for err == nil {
		var now sums
		if now, err = c.sums(ctx); err != nil {
			break
		}
		if done(before, now) {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if gap := time.Since(looked) - max(pause, pollFar); gap > unnoticed {
			watch.skip(gap)
			roll.skip(gap)
		}
		looked = time.Now()
		if c.faults.expects().relieves {
			watch.restart()
		}
		err := watch.observe(now)
		if err == nil {
			err = c.dead(ctx, before, now, watch.moved)
		}
		if err != nil {
			if stalled, err := c.confirm(ctx, err, now); err != nil || stalled {
				return err
			}
			watch.restart()
		}
		roll.call(ctx)
		c.show(ctx, now)
		before = now
		if time.Since(watch.moved) < idleAfter {
			wait(pause)
			continue
		}
		if c.opt.Idle != nil {
			c.opt.Idle()
		}
		wait(max(pause, pollFar))
	}
	return c.blame(ctx, err)
}

func (c *coordinator) show(ctx context.Context, now sums) {
	if c.opt.Progress == nil || time.Since(c.shown) < progressEvery {
		return
	}
	c.shown = time.Now()
	s := run.State{
		Elapsed: time.Duration(max(0, c.clock.Now()-c.start)), Duration: c.job.Plan.Duration(),
		Entries: now.entries, Of: uint64(c.job.Plan.Requests()), Waiting: now.requesting,
	}
	all, _ := c.witness(ctx, true) // the next reading reports a lost host
	for _, w := range all {
		if w.Waits != nil {
			s.Waits.Add(w.Waits)
		}
	}
	c.opt.Progress(&s)
}

// endTimeout bounds how long healthy workers may take to close in order.
const endTimeout = 3 * time.Second

func (c *coordinator) end() {
	c.ending.Store(true)
	if c.leader != nil {
		if !c.failed.Load() {
			c.dismiss()
		}
		c.leader.Close()
	}
	_ = atOnce(len(c.hosts), func(k int) error { return c.hosts[k].Close() }) // what a host that is lost leaves, it ends by itself
	if foreign.Is(c.job.Algorithm.Name) {
		foreign.EndStrays(c.run)
	}
	if c.servers != nil {
		c.servers.Close()
	}
	_ = c.shared.remove() // if the server does not answer, this is all that can be done
	c.survey.close()
	c.data.close()
	if c.broker != nil {
		c.broker.Close()
	}
	c.lapses.Close()
}

// dismiss lets the workers close their transports and exit, each in its own
// time: no one takes another's end for a failure.
func (c *coordinator) dismiss() {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	workers := c.workers()
	_, err := c.leader.Call(ctx, workers, control.Same(control.Command{Op: control.OpQuit}))
	if err != nil {
		return // killed instead
	}
	for _, w := range workers {
		select {
		case <-c.at(w).process.Ended():
		case <-ctx.Done():
			return
		}
	}
}

// wait can sleep for well under a millisecond, which the Go runtime's own timers cannot while the
// process is idle.
func wait(d time.Duration) {
	t := unix.NsecToTimeval(int64(d))
	_, _ = unix.Select(0, nil, nil, nil, &t) // woken early by a signal, the caller just looks sooner
}
