package coordinator

import (
	"context"
	"fmt"
	"time"

	"dmebench/internal/host"
	"dmebench/internal/live"
	"dmebench/internal/noderun"
)

const (
	progressEvery = 100 * time.Millisecond

	idleAfter = 500 * time.Millisecond // nothing has moved: see [Options.Idle]

	// unnoticed is for how long the coordinator may not have looked before that
	// time is left out of account: it knows nothing of it.
	unnoticed = 100 * time.Millisecond
)

// until looks at the counters until two successive sums satisfy the condition, or
// the run moves no more.
func (c *coordinator) until(ctx context.Context, pause time.Duration, done func(before, now sums) bool) error {
	watch := newProgress(c.job.Spec.StallAfter.Std(), c.job.Plan.LongestHold())
	watch.lossy = c.faults != nil
	roll := newRoll(c)
	silence := time.Now() // since when all has been served
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
			watch.forgive(gap)
			roll.forgive(gap)
			silence = silence.Add(gap)
		}
		looked = time.Now()
		if c.faults.relieves() {
			watch.restart()
		}
		err := watch.observe(now)
		if err == nil {
			err = c.dead(before, now, watch.moved)
		}
		if err == nil && now.served() && time.Since(silence) > patience*watch.limit {
			err = &stall{unquiet: true, what: fmt.Sprintf("the system does not fall silent: no request is pending, "+
				"and after %v messages still flow", patience*watch.limit)}
		}
		if !now.served() {
			silence = looked
		}
		if err != nil {
			if stalled, err := c.confirm(ctx, err, now); err != nil || stalled {
				return err
			}
			watch.restart()
			silence = time.Now()
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

// show says where the run stands, if it is time for that.
func (c *coordinator) show(ctx context.Context, now sums) {
	if c.opt.Progress == nil || time.Since(c.shown) < progressEvery {
		return
	}
	c.shown = time.Now()
	s := live.State{
		Elapsed: time.Duration(max(0, c.clock.Now()-c.start)), Duration: c.job.Plan.Duration(),
		Entries: now.entries, Of: uint64(c.job.Plan.Requests()), Waiting: now.requesting,
	}
	each := make([]noderun.WaitCounts, len(c.hosts))
	_ = c.onHosts(func(k int, h host.Host) (err error) { // of a host that is lost, the next reading tells
		each[k], err = h.Waits(ctx)
		return err
	})
	for k := range each {
		s.Waits.Add(&each[k])
	}
	c.opt.Progress(&s)
}
