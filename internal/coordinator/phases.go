package coordinator

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"dmebench/internal/control"
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
	return context.WithTimeout(ctx, phaseBase+time.Duration(c.workers)*phasePerWorker)
}

// all calls all workers within the bound of a phase. Where the run has failed
// meanwhile, that is the error.
func (c *coordinator) all(ctx context.Context, command func(worker int) control.Command) ([]control.Reply, error) {
	limited, cancel := c.bounded(ctx)
	defer cancel()
	replies, err := c.leader.CallAll(limited, c.workers, command)
	return replies, c.blame(ctx, err)
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
		f := &failure{what: string(silence.Op) + ": no answer from " + c.names(silence.Workers)}
		for _, w := range silence.Workers {
			f.nodes = append(f.nodes, c.local[w]...)
			f.stderr = append(f.stderr, c.procs[w].Stderr()...)
		}
		c.failed.Store(true)
		return f
	}
	return err
}

// launch starts the processes, and whoever watches over them.
func (c *coordinator) launch(ctx context.Context) error {
	name := secret(6)
	var err error
	if c.leader, err = control.Lead(c.broker.URL(), c.broker.Token(), name); err != nil {
		return err
	}
	// Watched even where one of them cannot be started: all that run are reaped.
	defer func() {
		for i, p := range c.procs {
			go c.watch(i, p)
		}
	}()
	procs, _ := strconv.Atoi(c.job.NetOptions.Get("gomaxprocs"))
	for i := range c.workers {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		boot := control.Boot{URL: c.broker.URL(), Token: c.broker.Token(), Run: name, Worker: i}
		p, err := c.opt.Launcher.Launch(boot, c.page, procs)
		if err != nil {
			return err
		}
		c.procs = append(c.procs, p)
		c.exited = append(c.exited, make(chan struct{}))
	}
	return nil
}

// join waits until every worker has said that it is there.
func (c *coordinator) join(ctx context.Context) error {
	limited, cancel := c.bounded(ctx)
	defer cancel()
	joined := make([]bool, c.workers)
	for left := c.workers; left > 0; {
		select {
		case e := <-c.leader.Events():
			if e.Fatal != "" {
				c.suspect(e)
			}
			if e.Joined && e.Worker >= 0 && e.Worker < c.workers && !joined[e.Worker] {
				joined[e.Worker] = true
				left--
			}
		case <-limited.Done():
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			var absent []int
			for i, there := range joined {
				if !there {
					absent = append(absent, i)
				}
			}
			return fmt.Errorf("not there in time: %s", c.names(absent))
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
	replies, err := c.all(ctx, func(i int) control.Command {
		return control.Command{Op: control.OpAssign, Assign: &control.Assignment{
			Spec: c.job.Spec, Files: c.opt.Files, Local: c.local[i], Listen: c.opt.Launcher.Listen(), Key: c.key, Broker: c.data.broker,
			LogLimit:  max(maxRecords/c.job.Spec.Nodes, minRecords),
			SpinShare: spinBudget / float64(c.workers),
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
	_, err := c.all(ctx, func(int) control.Command {
		return control.Command{Op: control.OpConnect, Book: c.book}
	})
	return err
}

const (
	pingPairs = 32 // ordered pairs that are measured, spread over all edges
	pingCount = 12 // pings along each
)

// ping measures one-way delays, one pair at a time, so that pings do not meet.
func (c *coordinator) ping(ctx context.Context) error {
	byWorker := make(map[int][][2]uint32)
	n := min(pingPairs, len(c.edges))
	for k := range n {
		edge := c.edges[k*len(c.edges)/n]
		w := int(edge[0]-1) / c.job.Spec.NodesPerWorker
		byWorker[w] = append(byWorker[w], edge)
	}
	for w := range c.workers {
		if len(byWorker[w]) == 0 {
			continue
		}
		limited, cancel := c.bounded(ctx)
		r, err := c.leader.Call(limited, w, control.Command{Op: control.OpPing, Pairs: byWorker[w], Count: pingCount})
		cancel()
		if err != nil {
			return c.blame(ctx, err)
		}
		c.delays = append(c.delays, r.Delays...)
	}
	return nil
}
