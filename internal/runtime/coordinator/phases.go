package coordinator

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"dmebench/dme"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/host"
	"dmebench/transport"
	"dmebench/transport/nats"
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

func (c *coordinator) bound() time.Duration {
	return phaseBase + time.Duration(len(c.places))*phasePerWorker
}

// within calls some workers, each with its own command, for at most the given time.
func (c *coordinator) within(ctx context.Context, d time.Duration, workers []int, command func(worker int) control.Command) (
	[]control.Reply, error,
) {
	limited, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return c.leader.Call(limited, workers, command)
}

// each calls some workers, each with its own command, within the bound of a phase. If the run has
// failed meanwhile, that is the error.
func (c *coordinator) each(ctx context.Context, workers []int, command func(worker int) control.Command) ([]control.Reply, error) {
	begin := time.Now()
	replies, err := c.within(ctx, c.bound(), workers, command)
	return replies, c.blame(ctx, c.exceptStruck(begin, err))
}

func (c *coordinator) all(ctx context.Context, command control.Command) ([]control.Reply, error) {
	return c.each(ctx, c.workers(), control.Same(command))
}

func (c *coordinator) call(ctx context.Context, worker int, command control.Command) (control.Reply, error) {
	replies, err := c.each(ctx, []int{worker}, control.Same(command))
	return replies[0], err
}

// commands gives one worker some, one after the other.
func (c *coordinator) commands(ctx context.Context, worker int, all ...control.Command) error {
	for _, command := range all {
		if _, err := c.call(ctx, worker, command); err != nil {
			return err
		}
	}
	return nil
}

// instruct asks a node's worker for something that concerns that node alone.
func (c *coordinator) instruct(ctx context.Context, op control.Op, id dme.NodeID) error {
	return c.commands(ctx, c.workerOf(id), control.Command{Op: op, Nodes: []dme.NodeID{id}})
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
		if silence.Workers = slices.DeleteFunc(silence.Workers, c.lostWith); len(silence.Workers) == 0 {
			return context.Cause(ctx)
		}
		if silence.Absent != nil { // they have ended, and watch says how
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(causeTimeout):
			}
		}
		f := c.silent(silence.Workers)
		f.what = fmt.Sprintf("%s: no answer from %s: %s", silence.Op, c.names(silence.Workers), c.why(silence.Workers))
		c.failed.Store(true)
		return f
	}
	return err
}

// launch starts the processes, and the goroutines that watch over them.
func (c *coordinator) launch(ctx context.Context) error {
	c.run = rand.Text()
	var err error
	if c.leader, err = control.Lead(c.control(), c.run); err != nil {
		return err
	}
	c.leader.Alive = func(worker int) context.Context { return c.at(worker).alive }
	go c.listen(ctx)
	if c.servers != nil {
		c.servers.Watch(func(err error) { c.fail(&failure{what: err.Error()}) })
	}
	if c.several() {
		if err := c.leader.Grant(c.grant); err != nil {
			return err
		}
	}
	late := c.job.Faults.Absent()
	for w, p := range c.places {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if slices.Contains(late, p.nodes[0]) {
			if _, err := c.remove(ctx, p.nodes[0]); err != nil {
				return err
			}
			continue
		}
		if err := c.startWorker(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// startWorker starts a worker's process, the next one if there was one.
func (c *coordinator) startWorker(ctx context.Context, w int) error {
	procs, _ := strconv.Atoi(c.job.NetOptions.Get("gomaxprocs"))
	at := c.places[w]
	c.mu.Lock()
	at.joined = make(chan struct{})
	c.mu.Unlock()
	boot := control.Boot{Run: c.run, Worker: w, Exec: true}
	if c.broker != nil {
		boot.Broker = c.broker.Broker()
	}
	p, err := c.hostOf(w).Start(ctx, host.Worker{Boot: boot, Name: fmt.Sprintf("worker %d", w), GOMAXPROCS: procs})
	if err != nil {
		return c.lostHost(err)
	}
	c.mu.Lock()
	at.process = p
	alive, end := context.WithCancel(context.Background())
	at.alive, at.kill = alive, func() { p.Kill(); end() }
	at.become(coming)
	at.incarnation++
	if c.start != 0 {
		at.incarnation = max(at.incarnation, 2) // what 1 stands for is over
	}
	c.mu.Unlock()
	if c.opt.Started != nil {
		c.opt.Started(p)
	}
	go c.watch(w, p)
	return nil
}

func (c *coordinator) join(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, c.bound())
	defer cancel()
	newcomers := c.those(func(p presence) bool { return p == coming })
	var missing []int
	for _, w := range newcomers {
		if c.awaitWorker(limited, w) != nil {
			missing = append(missing, w)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if missing != nil {
		return fmt.Errorf("not there in time: %s", c.names(missing))
	}
	for _, w := range newcomers {
		c.setState(w, present)
	}
	return nil
}

func (c *coordinator) awaitWorker(ctx context.Context, w int) error {
	joined := c.at(w).joined
	if joined == nil {
		return nil
	}
	select {
	case <-joined:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *coordinator) logLimit() int { return max(maxRecords/c.job.Spec.Nodes, minRecords) }

func (c *coordinator) assignment(w int) *control.Assignment {
	a := &control.Assignment{
		Spec: c.job.Spec, Files: c.opt.Files, Local: c.places[w].nodes, Listen: c.aboutHostOf(w).Listen,
		Key: c.key, Broker: c.data.forWorkers,
		LogLimit:  c.logLimit(),
		Record:    c.opt.Record,
		SpinShare: spinBudget / float64(len(c.places)),
	}
	if c.servers != nil {
		a.Servers = c.servers.Addresses()
	}
	if b := c.shared.bucket; b != nil {
		a.Resource = &control.Resource{Bucket: b.Name(), Broker: c.shared.broker}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a.Incarnation, a.Tolerant, a.Lease = c.places[w].incarnation, c.tolerant, c.lease()
	for other, p := range c.places {
		if other == w {
			continue
		}
		if p.state == absent || p.state == gone {
			a.Absent = append(a.Absent, p.nodes...)
		}
		if p.incarnation != 1 {
			if a.Incarnations == nil {
				a.Incarnations = make(map[dme.NodeID]uint32)
			}
			a.Incarnations[p.nodes[0]] = p.incarnation
		}
	}
	return a
}

// assign gives every worker its nodes, and hears where they listen.
func (c *coordinator) assign(ctx context.Context) error {
	if b := c.data.broker; b != nil && b.Sequenced {
		var err error
		c.data.sequencer, err = nats.StartSequencer(c.key, *b, func(err error) { c.fail(&failure{what: err.Error()}) })
		if err != nil {
			return err
		}
	}
	replies, err := c.each(ctx, c.workers(), func(w int) control.Command {
		return control.Command{Op: control.OpAssign, Assign: c.assignment(w)}
	})
	if err != nil {
		return err
	}
	there := make(map[dme.NodeID]bool)
	for _, r := range replies {
		c.listens(r.Worker, r.Addr)
		for _, id := range c.places[r.Worker].nodes {
			there[id] = true
		}
	}
	for _, r := range replies {
		for _, e := range r.Edges {
			if there[dme.NodeID(e[1])] {
				c.edges = append(c.edges, e)
			}
		}
	}
	return nil
}

func (c *coordinator) listens(w int, addr string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.places[w].addr = addr
}

func (c *coordinator) book() transport.AddressBook {
	c.mu.Lock()
	defer c.mu.Unlock()
	book := make(transport.AddressBook, c.job.Spec.Nodes)
	for _, p := range c.places {
		if p.state == absent || p.state == gone {
			continue
		}
		for _, id := range p.nodes {
			book[id-1] = p.addr
		}
	}
	return book
}

// connect is the barrier: every worker answers once it is connected to the processes it is going to
// talk to.
func (c *coordinator) connect(ctx context.Context) error {
	_, err := c.all(ctx, control.Command{Op: control.OpConnect, Book: c.book()})
	return err
}
