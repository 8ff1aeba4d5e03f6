package coordinator

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"dmebench/internal/control"
	"dmebench/internal/launch"
	"dmebench/internal/worker"
	"dmebench/transport"
)

// Bounds on the phases in which all workers take part: a base, and what each
// process may add.
const (
	phaseBase      = 20 * time.Second
	phasePerWorker = 100 * time.Millisecond

	maxRecords = 8 << 20 // records of one run, all nodes together
	minRecords = 1024    // records of one node
	spinBudget = 0.2     // of one core, all workers together, spent on punctual arrivals
)

func (c *coordinator) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, phaseBase+time.Duration(len(c.workers))*phasePerWorker)
}

// each calls some workers, each with its own command, within the bound of a
// phase. Where the run has failed meanwhile, that is the error.
func (c *coordinator) each(ctx context.Context, workers []int, command func(worker int) control.Command) ([]control.Reply, error) {
	limited, cancel := c.bounded(ctx)
	defer cancel()
	replies, err := c.leader.Call(limited, workers, command)
	return replies, c.blame(ctx, err)
}

// all gives all workers one command.
func (c *coordinator) all(ctx context.Context, command control.Command) ([]control.Reply, error) {
	return c.each(ctx, c.workers, control.Same(command))
}

// call gives one worker a command.
func (c *coordinator) call(ctx context.Context, worker int, command control.Command) (control.Reply, error) {
	replies, err := c.each(ctx, []int{worker}, control.Same(command))
	return replies[0], err
}

// blame turns the error of a call into what the run failed of: what ended it
// meanwhile, or the workers that are alive and do not answer.
func (c *coordinator) blame(ctx context.Context, err error) error {
	var silence *control.Silence
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &silence):
		f := c.silent(silence.Workers)
		f.what = fmt.Sprintf("%s: no answer from %s: %s", silence.Op, c.names(silence.Workers), c.why(silence.Workers))
		c.failed.Store(true)
		return f
	}
	return err
}

// launch starts the processes, and whoever watches over them.
func (c *coordinator) launch(ctx context.Context) error {
	name := rand.Text()
	broker := c.broker.Broker()
	var err error
	if c.leader, err = control.Lead(broker.URL, broker.Token, name); err != nil {
		return err
	}
	procs, _ := strconv.Atoi(c.job.NetOptions.Get("gomaxprocs"))
	for i := range c.workers {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p, err := c.opt.Launcher.Launch(launch.Command{
			Word: worker.Command, Name: fmt.Sprintf("worker %d", i), GOMAXPROCS: procs,
			Config: control.Boot{URL: broker.URL, Token: broker.Token, Run: name, Worker: i},
		})
		if err != nil {
			return err
		}
		c.procs = append(c.procs, p)
		if c.opt.Started != nil {
			c.opt.Started(p)
		}
	}
	for i, p := range c.procs {
		go c.watch(i, p)
	}
	return nil
}

// join waits until every worker has said that it is there.
func (c *coordinator) join(ctx context.Context) error {
	limited, cancel := c.bounded(ctx)
	defer cancel()
	absent := maps.Collect(slices.All(c.workers))
	for len(absent) > 0 {
		select {
		case e := <-c.leader.Events():
			if e.Fatal != "" {
				c.reported(e)
			}
			if e.Joined {
				delete(absent, e.Worker)
			}
		case <-limited.Done():
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("not there in time: %s", c.names(slices.Sorted(maps.Keys(absent))))
		}
	}
	go c.listen(ctx)
	return nil
}

// assign gives every worker its nodes, and hears where they listen.
func (c *coordinator) assign(ctx context.Context) error {
	if err := c.sequence(); err != nil {
		return err
	}
	replies, err := c.each(ctx, c.workers, func(i int) control.Command {
		return control.Command{Op: control.OpAssign, Assign: &control.Assignment{
			Spec: c.job.Spec, Files: c.opt.Files, Local: c.local[i], Listen: c.opt.Launcher.Listen(),
			Key: c.key, Broker: c.data.broker,
			LogLimit:  max(maxRecords/c.job.Spec.Nodes, minRecords),
			SpinShare: spinBudget / float64(len(c.workers)),
		}}
	})
	if err != nil {
		return err
	}
	c.book = make(transport.AddressBook, c.job.Spec.Nodes)
	for i, r := range replies {
		for _, id := range c.local[i] {
			c.book[id-1] = r.Addr
		}
		c.edges = append(c.edges, r.Edges...)
	}
	return nil
}

// connect is the barrier: every worker answers once it is connected to those
// whom it is going to talk to.
func (c *coordinator) connect(ctx context.Context) error {
	_, err := c.all(ctx, control.Command{Op: control.OpConnect, Book: c.book})
	return err
}
